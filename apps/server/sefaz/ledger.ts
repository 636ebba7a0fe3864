import { type Insertable, type RawBuilder, sql } from 'kysely'
import type { WithConfig, WithDatabase } from '../platform/context.ts'
import type { Tables } from '../platform/tables.ts'

export type QueryKind = Tables['capture_call']['query']

/** A query to the authority and what came of it, as the ledger keeps it. */
export type Call = Omit<Insertable<Tables['capture_call']>, 'line_id' | 'id' | 'at'>

/** Records a call, with or without a response. `ctx.db` is a transaction of the capture. */
export async function noteCall({ db }: WithDatabase, line: { id: number }, call: Call): Promise<void> {
  await db
    .insertInto('capture_call')
    .values({ line_id: line.id, ...call })
    .execute()
}

// The answers that tell where the authority stands.
const withCursor = sql`query = 'page' and answer in ('page', 'end', 'blocked')`

/**
 * Whether a response was lost that the authority may have counted, since the last response with its cursor. `ctx.db` is a transaction that
 * sees the line.
 */
export async function wasResponseLost({ db }: WithDatabase, line: { id: number }): Promise<boolean> {
  const { rows } = await sql`
    select from capture_call
     where line_id = ${line.id} and query = 'page' and answer = 'lost'
       and id > coalesce((select max(id) from capture_call where line_id = ${line.id} and ${withCursor}), 0) limit 1`.execute(
    db,
  )
  return rows.length > 0
}

/**
 * Whether the database may be a copy, and the line has had no response with the authority's cursor since. `ctx.db` is a transaction that
 * sees the line.
 */
export async function isFirstSinceRestore({ db }: WithDatabase, line: { id: number }): Promise<boolean> {
  const { rows } = await sql`
    select from installation i
     where i.restored_at <= now()
       and not exists (select from capture_call where line_id = ${line.id} and ${withCursor} and at >= i.restored_at)`.execute(
    db,
  )
  return rows.length > 0
}

/** How often a position was fetched. `ctx.db` is a transaction that sees the line. */
export async function countFetched({ db }: WithDatabase, line: { id: number }, position: bigint): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from capture_call
     where line_id = ${line.id} and query = 'position' and nsu_before = ${position} and answer = 'page'`.execute(db)
  return rows[0]!.n
}

/** Whether the last query for something that is missing was for a note. `ctx.db` is a transaction that sees the line. */
export async function wasNoteLast({ db }: WithDatabase, line: { id: number }): Promise<boolean> {
  const { rows } = await sql<{ query: QueryKind }>`
    select query from capture_call where line_id = ${line.id} and query <> 'page' order by id desc
     limit 1`.execute(db)
  return rows[0]?.query === 'note'
}

/** The authority allows twenty single queries an hour to all programs of a CNPJ together; two are left to the others. */
export const queriesAnHour = 18
// More calls than fit into an hour, even with pages two seconds apart.
const callsAnHourMax = 2_000

/**
 * How long to wait before a query for one position or one note fits into the quota of the hour; 0: now. The hour after a restore is
 * left alone: when queries left before cannot be told. `ctx.db` is a transaction that sees the line.
 */
export async function quotaWait({ db, config }: WithConfig, line: { id: number }): Promise<number> {
  const { hourMs, marginMs } = config.sefaz
  const hour = sql`${hourMs} * interval '1 ms'`
  const remaining = (at: RawBuilder<unknown>) => sql`extract(epoch from ${at} - now()) * 1000 + ${hourMs}`
  const { rows } = await sql<{ n: number; waitMs: number; unknownMs: number }>`
    select count(*)::int as n, coalesce(${remaining(sql`min(at)`)}, 0)::float8 as "waitMs",
           coalesce((select ${remaining(sql`max(at)`)}
                       from (select restored_at as at from installation) unknown
                      where at > now() - ${hour} and at <= now()), 0)::float8 as "unknownMs"
      from (select at from (select at, query from capture_call where line_id = ${line.id} order by id desc limit ${callsAnHourMax}) r
             where query <> 'page' and at > now() - ${hour} and at < now() + ${hour}
             order by at desc limit ${queriesAnHour}) c`.execute(db)
  const { n, waitMs, unknownMs } = rows[0]!
  const fullMs = n < queriesAnHour ? 0 : Math.min(Math.max(waitMs, 1), hourMs)
  const restMs = Math.max(fullMs, unknownMs)
  return restMs === 0 ? 0 : restMs + marginMs / 5
}
