import { type RawBuilder, sql } from 'kysely'
import { dueAt, dueUntil } from '../due.ts'
import { type FilterQuery, type Order, withinRange } from './filter.ts'

interface Part {
  offset: number
  take: number
}

/** The ids of a part of the documents in their order. What is equal stands newest first, but by date, where it goes the same way. */
export async function readPart(query: FilterQuery, order: Order, part: Part): Promise<bigint[]> {
  if (order.by === 'due' && order.ascending) {
    // An index leads to what ends soon, which in a large workspace is more than a page.
    const { workspaceId, filter } = query
    const soon = new Date(Date.now() + soonMs)
    const near = { ...query, found: [...query.found, dueUntil(workspaceId, filter.type, soon)] }
    const ids = await readIds(near, order, part)
    if (ids.length === part.take) return ids
  }
  return readIds(query, order, part)
}

const soonMs = 3 * 86_400_000

async function readIds(query: FilterQuery, order: Order, { offset, take }: Part): Promise<bigint[]> {
  const way = order.ascending ? sql`asc` : sql`desc`
  const newest = order.by === 'issued' ? way : sql`desc`
  // Some documents have no deadline: they come last in both directions.
  const { rows } = await sql<{ id: bigint }>`
    select d.id from document d ${order.by === 'issuer' ? withSupplier : sql``} where ${withinRange(query, query.range)}
     order by ${keyOf(order.by)} ${way} ${order.by === 'due' ? sql`nulls last` : sql``}, d.issued_at ${newest}, d.id ${newest}
     offset ${offset} limit ${take}`.execute(query.db)
  return rows.map(({ id }) => id)
}

const keyOf = (by: Order['by']): RawBuilder<unknown> =>
  ({
    issued: sql`d.issued_at`,
    amount: sql`d.cents`,
    arrived: sql`d.created_at`,
    issuer: sql`s.search`,
    due: dueAt(new Date()),
  })[by]

const withSupplier = sql`join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id`
