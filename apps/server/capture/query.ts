import { type Connection, connect } from '@vigia/sefaz/connection'
import { type DistributionAnswer, queryDistribution } from '@vigia/sefaz/distribution'
import { SefazError } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import { mayCall, noteAnswer, noteFailure, type Outage } from '../platform/circuit.ts'
import type { Context } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { nsuText, type ServiceCode, serviceOf } from '../platform/service.ts'
import type { Holder } from './holder.ts'
import { holdLine, type Line, lockLine } from './lease.ts'
import type { Outcome } from './ledger.ts'
import { closedForHours, isOfTheHost } from './rules.ts'

type QueryContext = Pick<Context, 'db' | 'config'>

/** Where the queries of a service go. */
export function urlOf({ config }: Pick<Context, 'config'>, service: ServiceCode): string {
  return config.sefaz.endpoints.distribution[serviceOf(service)]
}

/** A connection that shows the holder's certificate. */
export function connectAs({ config }: Pick<Context, 'config'>, holder: Pick<Holder, 'certificate'>, ca: string[]) {
  return connect(holder.certificate, { ca, timeoutMs: config.sefaz.answerMs })
}

/** Asks once. Null when `announceAs` does not let the query leave. */
export async function ask(
  ctx: QueryContext,
  line: Line,
  holder: Pick<Holder, 'uf' | 'workspaceId' | 'companyId'>,
  connection: Connection,
  query: { ultNSU: bigint } | { NSU: bigint },
): Promise<Outcome | null> {
  return (await announceAs(ctx, line, holder, query)) ? send(ctx, line, holder, connection, query) : null
}

/**
 * Writes down that a query leaves now, with the certificate of `holder`. That is committed before it does: whoever finds it without an answer
 * knows that the authority may have counted it. Returns false when the holder's workspace was paused meanwhile, or the service serves nobody
 * now (`inOutage`: that is what is to be looked into): then nothing may leave.
 */
export async function announceAs(
  ctx: QueryContext,
  line: Line,
  holder: Pick<Holder, 'workspaceId' | 'companyId'>,
  query: { ultNSU: bigint } | { NSU: bigint },
  { inOutage = false } = {},
): Promise<boolean> {
  return inCapture(ctx, async (ctx) => {
    // The line before the row of its service, as everybody who locks both does.
    await lockLine(ctx, line)
    if (await isPaused(ctx, line, holder)) return false
    if (!inOutage && !(await mayCall(ctx, urlOf(ctx, line.service)))) return false
    await announce(ctx, line, query)
    return true
  })
}

async function isPaused(
  { db }: Pick<Context, 'db'>,
  line: Pick<Line, 'id'>,
  { workspaceId, companyId }: Pick<Holder, 'workspaceId' | 'companyId'>,
): Promise<boolean> {
  const { paused } = await db
    .selectFrom('capture_subscription')
    .select('paused')
    .where('line_id', '=', line.id)
    .where('workspace_id', '=', workspaceId)
    .where('company_id', '=', companyId)
    .executeTakeFirstOrThrow()
  return paused
}

/** Writes down that a query leaves now; `ctx.db` is a transaction of the capture. */
export async function announce(
  ctx: Pick<Context, 'db'>,
  line: Line,
  query: { ultNSU: bigint } | { NSU: bigint },
): Promise<void> {
  const now = sql<Date>`now()`
  // The same time in both columns says that the query is for a missing position.
  line.askedForGap = 'NSU' in query
  await holdLine(ctx, line, { asked_at: now, ...(line.askedForGap && { gap_at: now }) })
  line.asking = true
}

/** Sends a query that was announced, or that no line knows of. */
export async function send(
  ctx: Pick<Context, 'config'>,
  line: Pick<Line, 'service' | 'cnpj'>,
  holder: Pick<Holder, 'uf'>,
  connection: Connection,
  query: { ultNSU: bigint } | { NSU: bigint },
): Promise<Outcome> {
  const { sefaz } = ctx.config
  const startedAt = performance.now()
  try {
    const answer = await queryDistribution(connection, {
      service: serviceOf(line.service),
      url: urlOf(ctx, line.service),
      tpAmb: sefaz.tpAmb,
      cUFAutor: holder.uf,
      cnpj: line.cnpj,
      query: 'NSU' in query ? { NSU: nsuText(query.NSU) } : { ultNSU: nsuText(query.ultNSU) },
    })
    return { answer, durationMs: answer.durationMs }
  } catch (error) {
    if (!(error instanceof SefazError)) throw error
    return { error, durationMs: performance.now() - startedAt }
  }
}

/** Tells everybody what an answer says about its service. */
export async function reportAnswer(
  ctx: QueryContext,
  service: ServiceCode,
  { cStat, xMotivo }: Pick<DistributionAnswer, 'cStat' | 'xMotivo'>,
): Promise<void> {
  const url = urlOf(ctx, service)
  const closedHours = closedForHours[cStat]
  if (closedHours === undefined) await noteAnswer(ctx, url)
  else await noteFailure(ctx, url, xMotivo, closedHours * ctx.config.sefaz.hourMs)
}

/** Tells everybody what a failure says about its service. Returns the outage that it is part of. */
export async function reportFailure(
  ctx: QueryContext,
  service: ServiceCode,
  error: SefazError,
): Promise<Outage | null> {
  const url = urlOf(ctx, service)
  if (isOfTheHost(error)) return noteFailure(ctx, url, error.kind)
  // Somebody was there, and did not want this certificate.
  await noteAnswer(ctx, url)
  return null
}
