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
import { findHolder } from './holder.ts'
import { fromNow, holdLine, type Line, releaseLine } from './lease.ts'
import { type Decision, decide, failed, noCertificate } from './rules.ts'

export type CaptureContext = Pick<Context, 'db' | 'config' | 'log' | 'vault'>

/** Carries out one turn of a claimed conversation: pages until there is no more or the authority says stop, then lets it go. */
export async function converse(ctx: CaptureContext, line: Line, ca: string[], signal: AbortSignal): Promise<void> {
  await catchUp(ctx, line)
  if (!line.due) return releaseLine(ctx, line, null)
  const holder = await findHolder(ctx, line)
  if (!holder) return releaseLine(ctx, line, noCertificate)
  const connection = connect(holder.certificate, { ca })
  try {
    for (;;) {
      const decision = await turnPage(ctx, line, connection, holder.uf)
      if (!decision.nextPage || signal.aborted) {
        await releaseLine(ctx, line, decision)
        break
      }
      await pause(ctx.config.sefaz.pagePauseMs, signal)
    }
  } finally {
    connection.close()
  }
  const workspaces = await inCapture(ctx, (ctx) => listSubscribers(ctx, line))
  for (const { workspaceId } of workspaces) await considerSize(ctx, workspaceId)
}

async function turnPage(ctx: CaptureContext, line: Line, connection: Connection, uf: number): Promise<Decision> {
  const { sefaz } = ctx.config
  const service = serviceOf(line.service)
  const query = { ultNSU: nsuText(line.lastNsu) }
  let answer: DistributionAnswer
  try {
    answer = await queryDistribution(connection, {
      service,
      url: sefaz.endpoints.distribution[service],
      tpAmb: sefaz.tpAmb,
      cUFAutor: uf,
      cnpj: line.cnpj,
      query,
    })
  } catch (error) {
    if (!(error instanceof SefazError)) throw error
    const decision = failed(error, line.failures, sefaz)
    ctx.log.warn({ err: error, cnpj: line.cnpj, service }, 'the authority did not answer')
    await note(ctx, line, { before: line.lastNsu, decision, error })
    return decision
  }
  const decision = decide(answer, line.lastNsu, sefaz)
  await store(ctx, line, answer, decision)
  const { cStat, ultNSU, maxNSU, documents } = answer
  ctx.log.info({ cnpj: line.cnpj, service, cStat, ultNSU, maxNSU, documents: documents.length }, 'page')
  return decision
}

// Bytes, projection, cursor, pause and ledger in one transaction: after a crash either all of a page is here or none of it.
async function store(ctx: CaptureContext, line: Line, answer: DistributionAnswer, decision: Decision): Promise<void> {
  const before = line.lastNsu
  const after = decision.lastNsu ?? before
  const maxNsu = decision.maxNsu ?? line.maxNsu
  const arrivals = readArrivals(answer, after)
  await inCapture(ctx, async (ctx) => {
    await holdLine(ctx, line, {
      last_nsu: after,
      max_nsu: maxNsu,
      allowed_at: fromNow(decision.allowedInMs),
      ...(decision.succeeded ? { last_success_at: sql<Date>`now()` } : {}),
    })
    if (decision.gap) {
      await ctx.db
        .insertInto('capture_gap')
        .values({ line_id: line.id, from_nsu: decision.gap.from, to_nsu: decision.gap.to })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    }
    await deliverPage(ctx, line, arrivals, before, after)
    await note(ctx, line, { before, after, answer, decision })
  })
  line.lastNsu = after
  line.maxNsu = maxNsu
}

interface Call {
  before: bigint
  after?: bigint
  answer?: DistributionAnswer
  error?: SefazError
  decision: Decision
}

async function note(
  ctx: Pick<Context, 'db'>,
  line: Line,
  { before, after = before, answer, error, decision }: Call,
): Promise<void> {
  await inCapture(ctx, ({ db }) =>
    db
      .insertInto('capture_call')
      .values({
        line_id: line.id,
        nsu_before: before,
        nsu_after: after,
        c_stat: answer?.cStat ?? null,
        x_motivo: answer?.xMotivo.slice(0, 500) ?? null,
        documents: answer?.documents.length ?? 0,
        bytes: answer?.bytes ?? 0,
        duration_ms: Math.round(answer?.durationMs ?? 0),
        error: error ? `${error.kind}: ${error.detail ?? error.message}`.slice(0, 500) : null,
        next_at: decision.nextInMs === null ? null : fromNow(decision.nextInMs),
      })
      .execute(),
  )
}
