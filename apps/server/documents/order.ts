import { type RawBuilder, sql } from 'kysely'
import { answerHours, dueInDatabase, dueUntil } from './deadlines.ts'
import { type FilterQuery, type Order, type Range, withinRange } from './filter.ts'

// The orders of a list besides that by date. At both ends of a list an index leads to the page, or the first documents of the range are kept
// while it is read; in the middle the whole range is put in order, once for many pages (anchors.ts).

/** Which part of `total` documents in their order. */
interface Part {
  total: number
  offset: number
  take: number
}

// So many are cheaper to pick out of the range than to put all of it in order.
const pickedMax = 2_000

/** Whether a part is far from both ends. */
export const isDeep = ({ total, offset, take }: Part): boolean => Math.min(offset + take, total - offset) > pickedMax

/** A query for ids, or (`reversed`) for the last one first. */
interface Ids {
  ids: RawBuilder<unknown>
  reversed: boolean
}

function fromNearerEnd({ total, offset, take }: Part): { reversed: boolean; skipped: number } {
  const reversed = offset > (total - take) / 2
  return { reversed, skipped: reversed ? total - offset - take : offset }
}

/** The ids of a part, from the nearer end. What is equal stands newest first, but by date, where it goes the same way. */
export function inOrder(query: FilterQuery, order: Order, part: Part): Ids {
  const { reversed, skipped } = fromNearerEnd(part)
  const { take } = part
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
 * Where a part by deadline may be found without putting the range in order: the first that finds as many as were asked for has the part, and where none
 * does `inOrder` has it. An index leads to what ends soon, and the last ones are those that wait for nothing.
 */
export function guesses(query: FilterQuery, order: Order, part: Part): Ids[] {
  const { reversed, skipped } = fromNearerEnd(part)
  if (order.by !== 'due' || skipped + part.take > pickedMax) return []
  const { workspaceId, filter, range } = query
  const now = new Date()
  const due = dueInDatabase(workspaceId, filter.type, now)
  if (reversed) {
    const ids = sql`select d.id from document d where ${withinRange(query, range)} and ${due} is null
                     order by d.issued_at, d.id offset ${skipped} limit ${part.take}`
    return [{ ids, reversed }]
  }
  if (!order.ascending) return []
  return horizonsOf(query, now).map((days) => {
    const near = dueUntil(workspaceId, filter.type, now, new Date(now.getTime() + days * dayMs))
    const ids = sql`select d.id from document d where ${withinRange(query, range)} and ${near}
                     order by ${due}, d.issued_at desc, d.id desc offset ${skipped} limit ${part.take}`
    return { ids, reversed }
  })
}

// Most documents are authorised when they are issued: those of a range have no deadline before its first day has one.
function horizonsOf({ filter, range }: FilterQuery, now: Date): number[] {
  const daysLeft = (time: string, hours: number) => (Date.parse(`${time}Z`) + hours * 3_600_000 - now.getTime()) / dayMs
  const spans = answerHours(filter.type).map(
    (hours) => [daysLeft(range.from, hours), daysLeft(range.until, hours)] as const,
  )
  const begins = spans.flatMap(([first]) => (first > 0 ? Math.ceil(first) + 3 : []))
  return [...new Set([...horizons, ...begins])]
    .filter((days) => spans.some(([first, last]) => first < days && last > 0))
    .sort((a, b) => a - b)
    .slice(0, horizons.length)
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
      // From the index of dates, compared much faster than decimals.
      return { by: middle ? sql`(d.amount * 100)::bigint` : sql`d.cents` }
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
const inRange = sql`coalesce(d.created_at, '-infinity')`

// The index of arrivals leads to the newest ones of a range that lasts until now; to others it would lead past all that came later.
function arrival({ until }: Range, ascending: boolean): RawBuilder<unknown> {
  return !ascending && until > new Date().toISOString() ? sql`d.created_at` : inRange
}

/** The place of a document in an order, as text that the database gave: a null value comes last in both directions. */
export interface KeyPlace {
  value: string | null
  issued_at: string
  id: bigint
}

/** A stretch of an order: `from` inclusive, `until` exclusive; each left out where it is open. */
export interface Bounds {
  /** Only of what has no value, or (false) only of what has one. */
  missing?: boolean
  from?: KeyPlace
  until?: KeyPlace
}

/** What an order compares first, as it is written in the indexes. */
export function comparedBy({ workspaceId, filter }: FilterQuery, { by }: Order, now: Date): RawBuilder<unknown> {
  if (by === 'amount') return sql`d.cents`
  if (by === 'arrived') return sql`d.created_at`
  if (by === 'issuer') return sql`s.search`
  return by === 'due' ? dueInDatabase(workspaceId, filter.type, now) : sql`d.issued_at`
}

/** The order itself, for `inBounds`; `fast`: as all of a range is compared, which no index has. */
export function orderBy(query: FilterQuery, order: Order, now: Date, { fast = false } = {}): RawBuilder<unknown> {
  const value = fast && order.by !== 'due' ? keyOf(query, order, true).by : comparedBy(query, order, now)
  return sql`${value} ${order.ascending ? sql`asc` : sql`desc`} nulls last, d.issued_at desc, d.id desc`
}

const types = {
  amount: sql`bigint`,
  arrived: sql`timestamptz`,
  due: sql`timestamptz`,
  issuer: sql`text`,
  issued: sql`timestamp`,
}

/** The documents of the query that stand in a stretch of an order besides that by date, from `document d`, where an index leads to them. */
export function inBounds(query: FilterQuery, order: Order, now: Date, bounds: Bounds): RawBuilder<unknown> {
  const { from, until, missing } = bounds
  const value = comparedBy(query, order, now)
  const older = (place: KeyPlace) => sql`(d.issued_at, d.id) <= (${place.issued_at}::timestamp, ${place.id}::bigint)`
  const newer = (place: KeyPlace) => sql`(d.issued_at, d.id) > (${place.issued_at}::timestamp, ${place.id}::bigint)`
  const isOneValue = missing || (from !== undefined && from.value === until?.value)
  const beyond = (sign: '<' | '>', place: KeyPlace, tied: RawBuilder<unknown>) => {
    const other = sql`${place.value}::${types[order.by]}`
    return isOneValue
      ? sql`${tied}`
      : sql`${value} ${sql.raw(`${sign}=`)} ${other} and (${value} ${sql.raw(sign)} ${other} or ${tied})`
  }
  const [after, before] = order.ascending ? (['>', '<'] as const) : (['<', '>'] as const)
  const conditions = [
    withinRange(query, query.range),
    ...(order.by === 'due' && missing === false ? [dueNear(query, now, bounds, order)] : []),
    ...(order.by === 'due' && missing !== undefined ? [sql`${value} is ${missing ? sql`null` : sql`not null`}`] : []),
    ...(isOneValue && !missing ? [sql`${value} = ${from!.value}::${types[order.by]}`] : []),
    ...(from ? [beyond(after, from, older(from))] : []),
    ...(until ? [beyond(before, until, newer(until))] : []),
  ]
  const supplier =
    order.by === 'issuer' ? sql`join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id` : sql``
  return sql`document d ${supplier} where ${sql.join(conditions, sql` and `)}`
}

// No index has a deadline: it is led to by when documents were authorised whose deadline may be so near.
function dueNear(
  { workspaceId, filter }: FilterQuery,
  now: Date,
  { from, until }: Bounds,
  { ascending }: Order,
): RawBuilder<unknown> {
  const [first, last] = ascending ? [from, until] : [until, from]
  const time = (place: KeyPlace) => new Date(`${place.value!.replace(' ', 'T')}:00`).getTime()
  const farthest = now.getTime() + 366 * dayMs
  return dueUntil(
    workspaceId,
    filter.type,
    now,
    new Date(last ? time(last) + 1_000 : farthest),
    first && new Date(time(first) - 1_000),
  )
}
