import { setTimeout } from 'node:timers/promises'
import { type Connection, connect } from '@vigia/sefaz/connection'
import { type DistributionAnswer, queryDistribution } from '@vigia/sefaz/distribution'
import { SefazError } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import { considerSize } from '../documents/documents.ts'
import type { Context } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { pause } from '../platform/pause.ts'
import { nsuText, serviceOf } from '../platform/service.ts'
import { catchUp, deliverPage, listSubscribers, readArrivals } from './delivery.ts'
import { findHolder, type Holder, proveHolder, refuseHolder } from './holder.ts'
import { consequences, fromNow, holdLine, LeaseLost, type Line, releaseLine } from './lease.ts'
import { noteCall } from './ledger.ts'
import { type Decision, decide, failed, noCertificate } from './rules.ts'

export type CaptureContext = Pick<Context, 'db' | 'config' | 'log' | 'vault'>

/** Carries out one turn of a claimed conversation: pages until there is no more or the authority says stop, then lets it go. */
export async function converse(ctx: CaptureContext, line: Line, ca: string[], signal: AbortSignal): Promise<void> {
  await catchUp(ctx, line)
  if (!line.due) return releaseLine(ctx, line, null)
  await releaseLine(ctx, line, await ask(ctx, line, ca, signal))
  const workspaces = await inCapture(ctx, (ctx) => listSubscribers(ctx, line))
  for (const { workspaceId } of workspaces) await considerSize(ctx, workspaceId)
}

async function ask(ctx: CaptureContext, line: Line, ca: string[], signal: AbortSignal): Promise<Decision> {
  let last: Decision | null = null
  // Each round asks with one certificate; only one that is not accepted makes way for another.
  for (let holder = await findHolder(ctx, line); holder; holder = await findHolder(ctx, line)) {
    last = await askWith(ctx, line, holder, ca, signal)
    if (!last.certificateRefused || holder.proved || signal.aborted) return last
    await refuseHolder(ctx, line, holder, last.message)
    await pause(ctx.config.sefaz.pagePauseMs, signal)
  }
  return last ?? noCertificate
}

const farewellMs = 10_000

async function askWith(
  ctx: CaptureContext,
  line: Line,
  holder: Holder,
  ca: string[],
  signal: AbortSignal,
): Promise<Decision> {
  const connection = connect(holder.certificate, { ca, timeoutMs: ctx.config.sefaz.answerMs })
  // An answer under way is worth waiting for: the authority has counted the query. Not for ever, though.
  const leave = () => void globalThis.setTimeout(() => connection.close(), farewellMs).unref()
  signal.addEventListener('abort', leave)
  try {
    for (;;) {
      const decision = await turnPage(ctx, line, connection, holder)
      if (!decision.nextPage || signal.aborted) return decision
      await pause(ctx.config.sefaz.pagePauseMs, signal)
    }
  } finally {
    signal.removeEventListener('abort', leave)
    connection.close()
  }
}

async function turnPage(ctx: CaptureContext, line: Line, connection: Connection, holder: Holder): Promise<Decision> {
  const { sefaz } = ctx.config
  const service = serviceOf(line.service)
  const query = { ultNSU: nsuText(line.lastNsu) }
  let answer: DistributionAnswer
  try {
    answer = await queryDistribution(connection, {
      service,
      url: sefaz.endpoints.distribution[service],
      tpAmb: sefaz.tpAmb,
      cUFAutor: holder.uf,
      cnpj: line.cnpj,
      query,
    })
  } catch (error) {
    if (!(error instanceof SefazError)) throw error
    const decision = failed(error, line.failures, sefaz)
    const { kind, status, detail } = error
    ctx.log.warn({ kind, status, detail, cnpj: line.cnpj, service }, 'the authority did not answer')
    await insist(ctx, () =>
      inCapture(ctx, async (ctx) => {
        await holdLine(ctx, line, consequences(decision))
        await noteCall(ctx, line, {
          query: 'distNSU',
          before: line.lastNsu,
          after: line.lastNsu,
          error,
          nextInMs: decision.nextInMs,
        })
      }),
    )
    line.failures = decision.failures
    return decision
  }
  const decision = decide(answer, line, sefaz)
  await insist(ctx, () => store(ctx, line, holder, answer, decision))
  const { cStat, ultNSU, maxNSU, documents } = answer
  ctx.log.info({ cnpj: line.cnpj, service, cStat, ultNSU, maxNSU, documents: documents.length }, 'page')
  return decision
}

// Bytes, projection, cursor, pause and ledger in one transaction: after a crash either all of a page is here or none of it.
async function store(
  ctx: CaptureContext,
  line: Line,
  holder: Holder,
  answer: DistributionAnswer,
  decision: Decision,
): Promise<void> {
  const before = line.lastNsu
  const after = decision.lastNsu ?? before
  const maxNsu = decision.maxNsu ?? line.maxNsu
  const arrivals = readArrivals(answer)
  await inCapture(ctx, async (ctx) => {
    await holdLine(ctx, line, {
      last_nsu: after,
      max_nsu: maxNsu,
      ...consequences(decision),
      ...(decision.succeeded ? { last_success_at: sql<Date>`now()` } : {}),
    })
    if (decision.gap) {
      await ctx.db
        .insertInto('capture_gap')
        .values({ line_id: line.id, from_nsu: decision.gap.from, to_nsu: decision.gap.to })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      await holdLine(ctx, line, { gap_at: fromNow(decision.allowedInMs) })
    }
    if (!decision.certificateRefused) await proveHolder(ctx, line, holder)
    await deliverPage(ctx, line, arrivals, before, after)
    await noteCall(ctx, line, { query: 'distNSU', before, after, answer, nextInMs: decision.nextInMs })
  })
  line.lastNsu = after
  line.maxNsu = maxNsu
  line.failures = decision.failures
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
