import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { changedSince } from '../changes/changes.ts'
import type { Context, Database } from '../platform/context.ts'
import { beyondLimit, companiesShown } from '../platform/database.ts'
import { pendingAnswers, turnedBetween } from './deadlines.ts'
import { type FilterQuery, type Order, withinRange } from './filter.ts'
import { type Bounds, comparedBy, inBounds, type KeyPlace, orderBy } from './order.ts'

// Deep pages of a list in another order than that by date: docs/decisions/0049-anchors-of-orders.md. The first such page puts the whole list in order
// once, and every so many-th place of it, an anchor, is kept in this process; the pages after it begin at an anchor. What changed since is counted
// into the stretches between anchors. Each count is exact or too high, so the total, which each page counts anew, proves all of them.

/** A list in its order, as one picture of the data had it. */
interface Anchored {
  version: number
  at: Date
  /** The first place of each stretch. */
  starts: readonly KeyPlace[]
  /** How many documents each stretch has. */
  counts: readonly number[]
}

const stretchSize = 500
// A stretch that has grown beyond this is dear to walk.
const stretchMax = 4 * stretchSize
// Anchors of all lists of a process, about 200 bytes each.
const anchorsMax = 50_000
// So many changes are looked up one by one, and so many stretches counted again; beyond that the list is put in order anew.
const changesMax = 2_000
const recountedMax = 40

/** Lists by what was asked, the one used last at the end. */
type Lists = Map<string, Anchored>

const listsOf = new WeakMap<Database, Lists>()

/** The lists that were put in order through the pool of `ctx.db`. */
export function anchoredLists(ctx: Pick<Context, 'db'>): Lists {
  const { db } = beyondLimit(ctx)
  const lists = listsOf.get(db) ?? new Map()
  listsOf.set(db, lists)
  return lists
}

/** Whether what changes a list is told (changes/changes.ts), or can be asked for. */
export const canBeAnchored = ({ filter }: FilterQuery, { by }: Order): boolean =>
  !filter.activeOnly &&
  filter.due === undefined &&
  filter.mark === undefined &&
  filter.alert === undefined &&
  filter.reform === undefined &&
  !(by === 'due' && filter.type === 2)

/** The ids of a part of `total` documents in their order, as a query. `query.db` is one picture of the data, like `total`. */
export async function inAnchored(
  lists: Lists,
  query: FilterQuery,
  order: Order,
  { total, offset, take }: { total: number; offset: number; take: number },
): Promise<RawBuilder<unknown>> {
  const key = keyOfList(query, order)
  const [known, now] = [lists.get(key), new Date()]
  // A clock may be set back.
  let list = known && known.at <= now ? await broughtUpToDate(known, query, order, total, now) : undefined
  let parts = list && pick(list.counts, offset, take)
  if (!list || !parts || parts.some(({ stretch }) => list!.counts[stretch]! > stretchMax)) {
    list = await putInOrder(query, order, total, now)
    parts = pick(list.counts, offset, take)
  }
  keep(lists, key, list)
  const { starts } = list
  const ids = parts.map(
    ({ stretch, skip, take }) =>
      sql`array(select d.id from ${inBounds(query, order, now, boundsOf(starts, stretch))}
                 order by ${orderBy(query, order, now)} offset ${skip} limit ${take})`,
  )
  return sql`select unnest(${sql.join(ids, sql` || `)}) as id`
}

// All that decides which documents the list has, for whom, and their order.
function keyOfList(query: FilterQuery, order: Order): string {
  const { sql: text, parameters } = sql`${withinRange(query, query.range)}`.compile(query.db)
  // Bits of thousands of ids would be as many numbers.
  const given = parameters.map((one) => (Buffer.isBuffer(one) ? one.toString('base64') : one))
  const asked = [query.workspaceId, companiesShown(query), order.by, order.ascending, text, given]
  return createHash('sha256').update(JSON.stringify(asked)).digest('base64')
}

function keep(lists: Lists, key: string, list: Anchored): void {
  // A page that began earlier knows less.
  const known = lists.get(key)
  lists.delete(key)
  lists.set(key, known && known.version > list.version ? known : list)
  let anchors = 0
  for (const { starts } of lists.values()) anchors += starts.length
  for (const [oldest, { starts }] of lists) {
    if (anchors <= anchorsMax) break
    lists.delete(oldest)
    anchors -= starts.length
  }
}

async function putInOrder(query: FilterQuery, order: Order, total: number, at: Date): Promise<Anchored> {
  const { version } = await changedSince(query, query.workspaceId, null, 0)
  const { rows } = await sql<KeyPlace & { place: number }>`
    select value::text as value, issued_at, id, place::int
      from (select ${comparedBy(query, order, at)} as value, d.issued_at, d.id, row_number() over w as place,
                   lag(${comparedBy(query, order, at)} is null) over w as was_missing
              from ${inBounds(query, order, at, {})} window w as (order by ${orderBy(query, order, at, { fast: true })})) d
     where (place - 1) % ${stretchSize} = 0 or (value is null) <> was_missing order by place`.execute(query.db)
  return {
    version,
    at,
    starts: rows.map(({ value, issued_at, id }) => ({ value, issued_at, id })),
    counts: rows.map(({ place }, index) => (rows[index + 1]?.place ?? total + 1) - place),
  }
}

/** The list with what happened since; undefined: it has to be put in order anew. */
async function broughtUpToDate(
  list: Anchored,
  query: FilterQuery,
  order: Order,
  total: number,
  now: Date,
): Promise<Anchored | undefined> {
  const { version, changed } = await changedSince(query, query.workspaceId, list.version, changesMax)
  if (!changed) return undefined
  const touched = await placesNow(list, query, order, now, changed)
  const counts = [...list.counts]
  const toCount = new Set<number>()
  const added: number[] = []
  for (const { value, valueBefore, issued_at, id } of touched) {
    const stretches = [value, valueBefore].map((value) => stretchOf(list.starts, order, { value, issued_at, id }))
    if (stretches.includes(-1)) return undefined
    if (changed.get(id) === 'new') added.push(stretches[0]!)
    else for (const stretch of stretches) toCount.add(stretch)
  }
  if (toCount.size > recountedMax) return undefined
  for (const stretch of added) counts[stretch]!++
  for (const [stretch, n] of await countAnew(list, query, order, now, [...toCount])) counts[stretch] = n
  // Where a document has left a stretch, too many are left there: nothing else can be wrong.
  return counts.reduce((sum, n) => sum + n, 0) === total ? { ...list, version, at: now, counts } : undefined
}

interface Touched extends KeyPlace {
  /** At the time of the anchors, as far as the document has stayed the same. */
  valueBefore: string | null
}

// Where documents stand that may stand elsewhere now, of those that the list has.
async function placesNow(
  list: Anchored,
  query: FilterQuery,
  order: Order,
  now: Date,
  changed: ReadonlyMap<bigint, unknown>,
): Promise<Touched[]> {
  const { workspaceId, filter } = query
  const byTime =
    order.by === 'due'
      ? sql`|| array(${turnedBetween(workspaceId, filter.type, list.at, now)})
    || array(${pendingAnswers(workspaceId, filter.type)})`
      : sql``
  if (changed.size === 0 && order.by !== 'due') return []
  const { rows } = await sql<Touched>`
    select ${comparedBy(query, order, now)}::text as value, ${comparedBy(query, order, list.at)}::text as "valueBefore", d.issued_at, d.id
      from ${inBounds(query, order, now, {})} and d.id = any (${[...changed.keys()]}::bigint[] ${byTime})`.execute(
    query.db,
  )
  return rows
}

async function countAnew(
  { starts }: Anchored,
  query: FilterQuery,
  order: Order,
  now: Date,
  stretches: number[],
): Promise<[number, number][]> {
  if (stretches.length === 0) return []
  const counts = stretches.map(
    (stretch) =>
      sql`select ${sql.lit(stretch)}::int as stretch, count(*)::int as n from ${inBounds(query, order, now, boundsOf(starts, stretch))}`,
  )
  const { rows } = await sql<{ stretch: number; n: number }>`${sql.join(counts, sql` union all `)}`.execute(query.db)
  return rows.map(({ stretch, n }) => [stretch, n])
}

interface Part {
  stretch: number
  skip: number
  take: number
}

function pick(counts: readonly number[], offset: number, limit: number): Part[] {
  const parts: Part[] = []
  let before = 0
  for (const [stretch, n] of counts.entries()) {
    const skip = Math.max(0, offset - before)
    const take = Math.min(n, offset + limit - before) - skip
    if (take > 0) parts.push({ stretch, skip, take })
    before += n
  }
  return parts
}

// At both ends of what has a value, and of what has none, a stretch is open.
function boundsOf(starts: readonly KeyPlace[], stretch: number): Bounds {
  const [before, first, next] = [starts[stretch - 1], starts[stretch]!, starts[stretch + 1]]
  const isAlike = (other: KeyPlace | undefined) => other !== undefined && isMissing(other) === isMissing(first)
  return {
    missing: isMissing(first),
    ...(isAlike(before) ? { from: first } : {}),
    ...(isAlike(next) ? { until: next! } : {}),
  }
}

const isMissing = ({ value }: KeyPlace) => value === null

// The stretch of a place; -1: no stretch has its like.
function stretchOf(starts: readonly KeyPlace[], order: Order, place: KeyPlace): number {
  let [low, high] = [0, starts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(order, place, starts[middle]!)) high = middle
    else low = middle + 1
  }
  // What stands before the first of its like belongs to it all the same.
  return [low - 1, low].find((stretch) => starts[stretch] && isMissing(starts[stretch]) === isMissing(place)) ?? -1
}

function isBefore({ by, ascending }: Order, one: KeyPlace, other: KeyPlace): boolean {
  if (one.value !== other.value) {
    if (one.value === null || other.value === null) return other.value === null
    const difference =
      by === 'amount'
        ? Number(one.value) - Number(other.value)
        : Buffer.from(one.value).compare(Buffer.from(other.value))
    return difference < 0 === ascending
  }
  return one.issued_at === other.issued_at ? one.id > other.id : one.issued_at > other.issued_at
}
