import { type RawBuilder, sql } from 'kysely'
import { dueInDatabase, dueUntil } from './deadlines.ts'
import { type FilterQuery, type Order, type Range, withinRange } from './filter.ts'

// The orders of a list besides that by date. At both ends of a list an index leads to the page, or the first documents of the range are kept
// while it is read; in the middle the whole range is put in order.

/** Which part of `total` documents in their order. */
interface Part {
  total: number
  offset: number
  take: number
}

// So many are cheaper to pick out of the range than to put all of it in order.
const pickedMax = 2_000

/** The ids of a part as a query, from the nearer end; `reversed`: the last one first. What is equal stands newest first,
 * but by date, where it goes the same way. */
export function inOrder(
  query: FilterQuery,
  order: Order,
  { total, offset, take }: Part,
): { ids: RawBuilder<unknown>; reversed: boolean } {
  const reversed = offset > (total - take) / 2
  const skipped = reversed ? total - offset - take : offset
  const { by, from = sql``, missing = false } = keyOf(query, order, skipped + take > pickedMax)
  const way = order.ascending === reversed ? sql`desc` : sql`asc`
  const nulls = missing ? sql`nulls ${reversed ? sql`first` : sql`last`}` : sql``
  const newest = order.by === 'issued' ? way : reversed ? sql`asc` : sql`desc`
  const ids = sql`select d.id from document d ${from} where ${withinRange(query, query.range)}
                   order by ${by} ${way} ${nulls}, d.issued_at ${newest}, d.id ${newest} offset ${skipped} limit ${take}`
  return { ids, reversed }
}

const dayMs = 86_400_000
// How far ahead deadlines are looked for, one after the other.
const horizons = [3, 15, 30]

/**
 * Queries for the ids of a part that begins with the deadlines that end first; the first of them that finds as many as were asked for has the part, and
 * where none does `inOrder` has it. An index leads to what ends soon, whatever the range is.
 */
export function soonest(query: FilterQuery, order: Order, { offset, take }: Part): RawBuilder<unknown>[] {
  if (order.by !== 'due' || !order.ascending || offset + take > pickedMax) return []
  const { workspaceId, filter, range } = query
  const now = new Date()
  return horizons.map((days) => {
    const near = dueUntil(workspaceId, filter.type, now, new Date(now.getTime() + days * dayMs))
    return sql`select d.id from document d where ${withinRange(query, range)} and ${near}
                order by ${dueInDatabase(workspaceId, filter.type, now)}, d.issued_at desc, d.id desc offset ${offset} limit ${take}`
  })
}

interface Key {
  by: RawBuilder<unknown>
  /** What `by` needs besides `document d`. */
  from?: RawBuilder<unknown>
  /** Some documents have none: they come last in both directions. */
  missing?: boolean
}

function keyOf({ workspaceId, filter, range }: FilterQuery, { by, ascending }: Order, middle: boolean): Key {
  switch (by) {
    case 'issued':
      return { by: sql`d.issued_at` }
    case 'amount':
      // Compared much faster than decimals.
      return { by: middle ? sql`(d.amount * 100)::bigint` : sql`d.amount` }
    case 'arrived':
      return { by: middle ? inRange : arrival(range, ascending) }
    case 'issuer':
      return {
        by: sql`s.search`,
        from: sql`join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id`,
      }
    case 'due':
      return { by: dueInDatabase(workspaceId, filter.type, new Date()), missing: true }
  }
}

// No expression of an index.
const inRange = sql`(d.created_at + interval '0')`

// The index of arrivals leads to the newest ones of a range that lasts until now; to others it would lead past all that came later.
function arrival({ until }: Range, ascending: boolean): RawBuilder<unknown> {
  return !ascending && until > new Date().toISOString() ? sql`d.created_at` : inRange
}
