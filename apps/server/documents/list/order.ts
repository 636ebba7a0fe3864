import { type RawBuilder, sql } from 'kysely'
import { dueAt, dueUntil } from '../due.ts'
import { type FilterQuery, type Order, type Range, withinRange } from './filter.ts'

interface Part {
  total: number
  offset: number
  take: number
}

/** The ids of a part of `total` documents in their order. Ties: newest first. By date: ties in the direction of the order. */
export async function readPart(query: FilterQuery, order: Order, { total, offset, take }: Part): Promise<bigint[]> {
  if (order.by === 'due' && order.ascending) {
    // An index leads to what ends soon, which in a large workspace is more than a page.
    const { workspaceId, filter } = query
    const soon = new Date(Date.now() + soonMs)
    const near = { ...query, found: [...query.found, dueUntil(workspaceId, filter.TipoDFe, soon)] }
    const ids = await readIds(near, order, { reversed: false, skipped: offset, take })
    if (ids.length === take) return ids
  }
  return offset > (total - take) / 2
    ? (await readIds(query, order, { reversed: true, skipped: total - offset - take, take })).reverse()
    : readIds(query, order, { reversed: false, skipped: offset, take })
}

const soonMs = 3 * 86_400_000

async function readIds(
  query: FilterQuery,
  order: Order,
  { reversed, skipped, take }: { reversed: boolean; skipped: number; take: number },
): Promise<bigint[]> {
  const { by, from = sql``, missing = false } = keyOf(query, order)
  const way = order.ascending === reversed ? sql`desc` : sql`asc`
  const nulls = missing ? sql`nulls ${reversed ? sql`first` : sql`last`}` : sql``
  const newest = order.by === 'issued' ? way : reversed ? sql`asc` : sql`desc`
  const { rows } = await sql<{ id: bigint }>`
    select d.id from document d ${from} where ${withinRange(query, query.range)}
     order by ${by} ${way} ${nulls}, d.issued_at ${newest}, d.id ${newest} offset ${skipped}
     limit ${take}`.execute(query.db)
  return rows.map(({ id }) => id)
}

interface Key {
  by: RawBuilder<unknown>
  /** Join that `by` needs besides `document d`. */
  from?: RawBuilder<unknown>
  /** Some documents have none: they come last in both directions. */
  missing?: boolean
}

function keyOf({ range }: FilterQuery, { by, ascending }: Order): Key {
  switch (by) {
    case 'issued':
      return { by: sql`d.issued_at` }
    case 'amount':
      return { by: sql`d.cents` }
    case 'arrived':
      return { by: arrival(range, ascending) }
    case 'issuer':
      return {
        by: sql`s.search`,
        from: sql`join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id`,
      }
    case 'due':
      return { by: dueAt(new Date()), missing: true }
  }
}

// The index of arrivals leads to the newest ones of a range that lasts until now; to others it would lead past all that came later.
function arrival({ until }: Range, ascending: boolean): RawBuilder<unknown> {
  const isNewest = !ascending && until > new Date().toISOString()
  return isNewest ? sql`d.created_at` : sql`coalesce(d.created_at, '-infinity')`
}
