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
import { catchUp, damagedPositions, deliverPage, listSubscribers, readArrivals } from './delivery.ts'
import { findHolder, type Holder, proveHolder, refuseHolder } from './holder.ts'
import { consequences, fromNow, holdLine, LeaseLost, type Line, releaseLine } from './lease.ts'
import { noteCall, wasAnswerLost } from './ledger.ts'
import { ask, connectAs, reportAnswer, reportFailure } from './query.ts'
import { type Decision, decide, failed, noCertificate } from './rules.ts'

export type CaptureContext = Pick<Context, 'db' | 'config' | 'log' | 'vault'>

/** Carries out one turn of a claimed conversation: pages until there is no more or the authority says stop, then lets it go. */
export async function converse(ctx: CaptureContext, line: Line, ca: string[], signal: AbortSignal): Promise<void> {
  await catchUp(ctx, line)
  if (!line.due) return releaseLine(ctx, line, null)
  const hadCertificate = await takeTurn(ctx, line, ca, signal)
  await releaseLine(ctx, line, hadCertificate ? null : noCertificate)
  const subscribers = await inCapture(ctx, (ctx) => listSubscribers(ctx, line))
  for (const { workspaceId, companyId, proved } of subscribers) {
    await considerSize(ctx, workspaceId)
    if (line.service === serviceCodes.nfe && proved) await acknowledgePending(ctx, workspaceId, companyId)
  }
}

// Returns false when nobody holds a certificate to ask with.
async function takeTurn(ctx: CaptureContext, line: Line, ca: string[], signal: AbortSignal): Promise<boolean> {
  const find = () => findHolder(ctx, line, 'consultar documentos (distNSU)')
  let tried = false
  // Each round asks with one certificate; only one that is not accepted makes way for another.
  for (let holder = await find(); holder; holder = await find()) {
    tried = true
    const last = await askWith(ctx, line, holder, ca, signal)
    if (!last?.certificateRefused || holder.proved || signal.aborted) break
    await refuseHolder(ctx, line, holder, last.message)
    await pause(ctx.config.sefaz.pagePauseMs, signal)
  }
  return tried
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
): Promise<Decision | null> {
  const connection = connectAs(ctx, holder, ca)
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
    decision = await insist(ctx, () => store(ctx, line, holder, answer, arrivals))
    const { cStat, ultNSU, maxNSU, documents } = answer
    ctx.log.info({ cnpj: line.cnpj, service, cStat, ultNSU, maxNSU, documents: documents.length }, 'page')
  } else {
    if (error === 'interrupted') throw new Error('a query of this process cannot have been interrupted')
    const { kind, status, detail } = error
    ctx.log.warn({ kind, status, detail, cnpj: line.cnpj, service }, 'the authority did not answer')
    decision = await insist(ctx, () => noteLoss(ctx, line, error, durationMs, signal))
  }
  line.lastNsu = decision.lastNsu ?? before
  line.maxNsu = decision.maxNsu ?? line.maxNsu
  line.failures = decision.failures
  line.recent ||= decision.succeeded === true
  line.asking = false
  return decision
}

// Bytes, projection, cursor, pause and ledger in one transaction: after a crash either all of a page is here or none of it.
async function store(
  ctx: CaptureContext,
  line: Line,
  holder: Holder,
  answer: DistributionAnswer,
  arrivals: Arrival[],
): Promise<Decision> {
  return inCapture(ctx, async (ctx) => {
    const answerLost = answer.cStat === 656 && (await wasAnswerLost(ctx, line))
    const decision = decide(answer, { ...line, answerLost }, ctx.config.sefaz)
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
    if (!decision.certificateRefused) await proveHolder(ctx, line, holder)
    await deliverPage(ctx, line, arrivals, before, after)
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
  error: SefazError,
  durationMs: number,
  signal: AbortSignal,
): Promise<Decision> {
  return inCapture(ctx, async (ctx) => {
    const standing = { ...line, answerLost: await wasAnswerLost(ctx, line) }
    const decision = failed(error, standing, ctx.config.sefaz)
    // Who closes the connection because this process ends says nothing about the service.
    const outage = signal.aborted ? null : await reportFailure(ctx, line.service, error)
    if (outage) decision.message = outageSentence(outage)
    await holdLine(ctx, line, { asked_at: null, ...consequences(decision) })
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
