import { type Connection, connect } from '@vigia/sefaz/connection'
import { type DistributionAnswer, queryDistribution } from '@vigia/sefaz/distribution'
import { SefazError } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { pause } from '../platform/pause.ts'
import { nsuText, serviceOf } from '../platform/service.ts'
import { type CaptureContext, insist } from './conversation.ts'
import { deliverLate, readArrivals } from './delivery.ts'
import { findHolder, type Holder } from './holder.ts'
import { consequences, fromNow, holdLine, type Line, releaseLine } from './lease.ts'
import { noteCall } from './ledger.ts'
import { decide } from './rules.ts'

// The authority allows twenty single queries an hour to all programs of a CNPJ together; two are left to the others.
const queriesAnHour = 18

/** Fetches what is missing, position by position, as far as the quota of the hour goes; then lets the line go. */
export async function refill(ctx: CaptureContext, line: Line, ca: string[], signal: AbortSignal): Promise<void> {
  const { sefaz } = ctx.config
  const holder = await findHolder(ctx, line)
  let waitMs: number | null = sefaz.hourMs
  if (holder) {
    const connection = connect(holder.certificate, { ca, timeoutMs: sefaz.answerMs })
    try {
      do {
        waitMs = await fetchNext(ctx, line, connection, holder)
        if (waitMs === 0) await pause(sefaz.pagePauseMs, signal)
      } while (waitMs === 0 && !signal.aborted)
    } finally {
      connection.close()
    }
  }
  await inCapture(ctx, (ctx) => holdLine(ctx, line, { gap_at: waitMs === null ? null : fromNow(waitMs) }))
  await releaseLine(ctx, line, null)
}

// Returns how long to wait before the next position; null: none is missing any more.
async function fetchNext(
  ctx: CaptureContext,
  line: Line,
  connection: Connection,
  holder: Holder,
): Promise<number | null> {
  const { sefaz } = ctx.config
  const { missing, waitMs } = await inCapture(ctx, async (ctx) => ({
    missing: await findMissing(ctx, line),
    waitMs: await quotaWait(ctx, line, sefaz.hourMs, sefaz.marginMs),
  }))
  if (missing === null) return null
  if (waitMs > 0) return waitMs
  const service = serviceOf(line.service)
  let answer: DistributionAnswer
  try {
    answer = await queryDistribution(connection, {
      service,
      url: sefaz.endpoints.distribution[service],
      tpAmb: sefaz.tpAmb,
      cUFAutor: holder.uf,
      cnpj: line.cnpj,
      query: { NSU: nsuText(missing) },
    })
  } catch (error) {
    if (!(error instanceof SefazError)) throw error
    await noteCall(ctx, line, { query: 'consNSU', before: missing, after: missing, error, nextInMs: sefaz.hourMs / 6 })
    return sefaz.hourMs / 6
  }
  return insist(ctx, () => inCapture(ctx, (ctx) => settle(ctx, line, missing, answer)))
}

async function settle(
  ctx: CaptureContext,
  line: Line,
  missing: bigint,
  answer: DistributionAnswer,
): Promise<number | null> {
  const { sefaz } = ctx.config
  const note = (nextInMs: number) =>
    noteCall(ctx, line, { query: 'consNSU', before: missing, after: missing, answer, nextInMs })
  if (answer.cStat === 656) {
    const decision = decide({ ...answer, ultNSU: null }, line, sefaz)
    await holdLine(ctx, line, consequences(decision))
    await note(decision.allowedInMs)
    return decision.allowedInMs
  }
  if (answer.cStat !== 138 && answer.cStat !== 137) {
    await note(sefaz.hourMs)
    return sefaz.hourMs
  }
  await holdLine(ctx, line, {})
  const documents = answer.documents.map((document) => ({ ...document, nsu: document.nsu ?? nsuText(missing) }))
  await deliverLate(ctx, line, readArrivals({ documents }))
  await close(ctx, line, missing, answer.cStat === 137)
  await note(sefaz.pagePauseMs)
  return 0
}

async function findMissing({ db }: Pick<Context, 'db'>, line: Line): Promise<bigint | null> {
  const row = await db
    .selectFrom('capture_gap')
    .select('from_nsu')
    .where('line_id', '=', line.id)
    .where('lost', '=', false)
    .orderBy('from_nsu')
    .limit(1)
    .executeTakeFirst()
  return row?.from_nsu ?? null
}

async function quotaWait({ db }: Pick<Context, 'db'>, line: Line, hourMs: number, marginMs: number): Promise<number> {
  const { rows } = await sql<{ n: number; waitMs: number }>`
    select count(*)::int as n, coalesce(extract(epoch from min(at) - now()) * 1000 + ${hourMs}, 0)::float8 as "waitMs"
      from (select at from capture_call where line_id = ${line.id} and query = 'consNSU' and at > now() - ${hourMs} * interval '1 ms'
             order by at desc limit ${queriesAnHour}) c`.execute(db)
  const { n, waitMs } = rows[0]!
  return n < queriesAnHour ? 0 : Math.max(waitMs, 1) + marginMs / 5
}

// Takes one position out of its gap; what the authority has no more is kept on record as lost.
async function close({ db }: Pick<Context, 'db'>, line: Line, nsu: bigint, lost: boolean): Promise<void> {
  const gap = db.selectFrom('capture_gap').select('to_nsu').where('line_id', '=', line.id).where('from_nsu', '=', nsu)
  const { to_nsu } = await gap.executeTakeFirstOrThrow()
  await db.deleteFrom('capture_gap').where('line_id', '=', line.id).where('from_nsu', '=', nsu).execute()
  if (to_nsu > nsu)
    await db
      .insertInto('capture_gap')
      .values({ line_id: line.id, from_nsu: nsu + 1n, to_nsu })
      .execute()
  if (lost) await db.insertInto('capture_gap').values({ line_id: line.id, from_nsu: nsu, to_nsu: nsu, lost }).execute()
}
