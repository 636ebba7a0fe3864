import { setTimeout } from 'node:timers/promises'
import type { Connection } from '@vigia/sefaz/connection'
import type { DistributionAnswer } from '@vigia/sefaz/distribution'
import type { SefazError } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import { type Arrival, considerSize } from '../documents/documents.ts'
import { acknowledgePending } from '../manifestation/manifestation.ts'
import { outageSentence } from '../platform/circuit.ts'
import type { Context } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { pause } from '../platform/pause.ts'
import { serviceCodes, serviceOf } from '../platform/service.ts'
import { bringForward, damagedPositions, deliverPage, listSubscribers, readArrivals } from './delivery.ts'
import { findHolder, type Holder, makeWay, proveHolder, setAside, withoutHolder } from './holder.ts'
import { consequences, fromNow, holdLine, LeaseLost, type Line, lockLine, releaseLine, withoutAnswer } from './lease.ts'
import { noteCall, wasAnswerLost } from './ledger.ts'
import { ask, connectAs, reportAnswer, reportFailure } from './query.ts'
import { type Decision, decide, failed, isOfTheHost, isProof, mayBeOfTheCertificate } from './rules.ts'

export type CaptureContext = Pick<Context, 'db' | 'config' | 'log' | 'vault'>

/** Carries out one turn of a claimed conversation: pages until there is no more or the authority says stop, then lets it go. */
export async function converse(ctx: CaptureContext, line: Line, ca: string[], signal: AbortSignal): Promise<void> {
  if (line.hasPaused && !(await bringForward(ctx, line, signal))) {
    // To the end of the queue.
    await inCapture(ctx, (ctx) => holdLine(ctx, line, { next_at: sql<Date>`now()` }))
    return releaseLine(ctx, line, null)
  }
  await takeTurn(ctx, line, ca, signal)
  const subscribers = await inCapture(ctx, (ctx) => listSubscribers(ctx, line))
  for (const { workspaceId, companyId, proved } of subscribers) {
    await considerSize(ctx, workspaceId)
    if (line.service === serviceCodes.nfe && proved) await acknowledgePending(ctx, workspaceId, companyId)
  }
}

// Then the others have their turn, whatever certificates are left.
const certificatesMax = 5

// Each round asks with one certificate; only one that is not accepted makes way for another.
async function takeTurn(ctx: CaptureContext, line: Line, ca: string[], signal: AbortSignal): Promise<void> {
  for (let round = 1; ; round++) {
    const holder = await findHolder(ctx, line, 'consultar documentos (distNSU)')
    if (!holder) return inCapture(ctx, async (ctx) => releaseLine(ctx, line, await withoutHolder(ctx, line)))
    const last = await askWith(ctx, line, holder, ca, signal)
    if (!last?.certificateRefused || round === certificatesMax || signal.aborted) return releaseLine(ctx, line, null)
    await pause(ctx.config.sefaz.pagePauseMs, signal)
  }
}

const farewellMs = 10_000
// Then the others have their turn; who has more goes to the end of the queue.
const pagesMax = 20

async function askWith(
  ctx: CaptureContext,
  line: Line,
  holder: Holder,
  ca: string[],
  signal: AbortSignal,
): Promise<Pick<Decision, 'certificateRefused' | 'nextPage'> | null> {
  const connection = await openConnection(ctx, line, holder, ca)
  if (!connection) return unusable
  // An answer under way is worth waiting for: the authority has counted the query. Not for ever, though.
  const leave = () => void globalThis.setTimeout(() => connection.close(), farewellMs).unref()
  signal.addEventListener('abort', leave)
  try {
    for (let page = 1; ; page++) {
      const decision = await turnPage(ctx, line, connection, holder, signal)
      if (!decision?.nextPage || page === pagesMax || signal.aborted) return decision
      await pause(ctx.config.sefaz.pagePauseMs, signal)
    }
  } finally {
    signal.removeEventListener('abort', leave)
    connection.close()
  }
}

const unusable = { certificateRefused: true, nextPage: false }

// Null: what is kept of the certificate is none, and others are asked with.
async function openConnection(
  ctx: CaptureContext,
  line: Line,
  holder: Holder,
  ca: string[],
): Promise<Connection | null> {
  try {
    return connectAs(ctx, holder, ca)
  } catch (error) {
    const { workspaceId, certificateId } = holder
    ctx.log.error({ err: error, workspaceId, certificateId }, 'a certificate cannot be shown; another is asked with')
    await setAside(ctx, line, holder)
    return null
  }
}

// Null: the service serves nobody now, and nothing was asked.
async function turnPage(
  ctx: CaptureContext,
  line: Line,
  connection: Connection,
  holder: Holder,
  signal: AbortSignal,
): Promise<Decision | null> {
  const outcome = await ask(ctx, line, holder, connection, { ultNSU: line.lastNsu })
  if (!outcome) return null
  const { answer, error, durationMs } = outcome
  const service = serviceOf(line.service)
  const before = line.lastNsu
  let decision: Decision
  if (answer) {
    const arrivals = readArrivals(answer)
    decision = await insist(ctx, () => settlePage(ctx, line, holder, answer, arrivals))
    if (isProof(answer)) Object.assign(holder, { proved: true, doubted: false })
    const { cStat, ultNSU, maxNSU, documents } = answer
    ctx.log.info({ cnpj: line.cnpj, service, cStat, ultNSU, maxNSU, documents: documents.length }, 'page')
  } else {
    if (error === 'interrupted') throw new Error('a query of this process cannot have been interrupted')
    const { kind, status, detail } = error
    ctx.log.warn({ kind, status, detail, cnpj: line.cnpj, service }, 'the authority did not answer')
    decision = await insist(ctx, () => noteLoss(ctx, line, holder, error, durationMs, signal))
  }
  line.lastNsu = decision.lastNsu ?? before
  line.maxNsu = decision.maxNsu ?? line.maxNsu
  line.failures = decision.failures
  line.recent ||= decision.succeeded === true
  line.asking = false
  return decision
}

/** Writes bytes, projection, cursor, pause and ledger in one transaction: after a crash either all of a page is here or none of it. */
export async function settlePage(
  ctx: Omit<CaptureContext, 'vault'>,
  line: Line,
  holder: Holder,
  answer: DistributionAnswer,
  arrivals: Arrival[],
): Promise<Decision> {
  return inCapture(ctx, async (ctx) => {
    const answerLost = answer.cStat === 656 && (await wasAnswerLost(ctx, line))
    const decided = decide(answer, { ...line, answerLost }, ctx.config.sefaz)
    const decision = decided.certificateRefused ? await makeWay(ctx, line, holder, decided) : decided
    if (isProof(answer)) await proveHolder(ctx, line, holder)
    const before = line.lastNsu
    const after = decision.lastNsu ?? before
    await holdLine(ctx, line, {
      last_nsu: after,
      max_nsu: decision.maxNsu ?? line.maxNsu,
      asked_at: null,
      ...consequences(decision),
      ...(decision.succeeded ? { last_success_at: sql<Date>`now()` } : {}),
    })
    if (decision.gap) await noteMissing(ctx, line, [decision.gap], decision.allowedInMs)
    const damaged = damagedPositions(arrivals).map((nsu) => ({ from: nsu, to: nsu }))
    if (damaged.length > 0) await noteMissing(ctx, line, damaged, ctx.config.sefaz.pagePauseMs)
    await deliverPage(ctx, line, arrivals, { before, after, more: decision.nextPage })
    const { nextInMs, allowedInMs } = decision
    const outcome = { answer, durationMs: answer.durationMs }
    await noteCall(ctx, line, { query: 'distNSU', before, after, outcome, nextInMs, allowedInMs })
    await reportAnswer(ctx, line.service, answer)
    return decision
  })
}

// Fetched one by one; `ctx.db` is a transaction of the capture.
async function noteMissing(
  ctx: Pick<Context, 'db'>,
  line: Line,
  gaps: { from: bigint; to: bigint }[],
  waitMs: number,
): Promise<void> {
  await ctx.db
    .insertInto('capture_gap')
    .values(gaps.map(({ from, to }) => ({ line_id: line.id, from_nsu: from, to_nsu: to })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await holdLine(ctx, line, { gap_at: sql<Date>`greatest(gap_at, ${fromNow(waitMs)})` })
}

async function noteLoss(
  ctx: CaptureContext,
  line: Line,
  holder: Holder,
  error: SefazError,
  durationMs: number,
  signal: AbortSignal,
): Promise<Decision> {
  return inCapture(ctx, async (ctx) => {
    const standing = { ...line, answerLost: await wasAnswerLost(ctx, line) }
    let decision = failed(error, standing, ctx.config.sefaz)
    // Who closes the connection because this process ends says nothing about the service, nor about the certificate.
    if (!signal.aborted) {
      // The line before the row of its service, as everybody who locks both does.
      await lockLine(ctx, line)
      if (mayBeOfTheCertificate(error)) decision = await makeWay(ctx, line, holder, decision)
      // What a made-up certificate brings about is not told to everybody.
      const outage =
        isOfTheHost(error) && mayBeOfTheCertificate(error) && !holder.proved
          ? null
          : await reportFailure(ctx, line.service, error)
      if (outage) decision.message = outageSentence(outage)
    }
    await holdLine(ctx, line, { asked_at: null, ...withoutAnswer(decision) })
    const { nextInMs, allowedInMs } = decision
    await noteCall(ctx, line, {
      query: 'distNSU',
      before: line.lastNsu,
      after: line.lastNsu,
      outcome: { error, durationMs },
      nextInMs,
      allowedInMs,
    })
    return decision
  })
}

/** Writes an answer. The authority has counted the query and will not repeat the page: a database that is away for a moment must not cost it. */
export async function insist<T>(ctx: Pick<Context, 'log'>, work: () => Promise<T>): Promise<T> {
  for (const waitMs of [200, 1_000, 5_000, 20_000]) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof LeaseLost) throw error
      ctx.log.error({ err: error }, 'an answer could not be written; trying again')
      await setTimeout(waitMs)
    }
  }
  return work()
}
