import { formatInteger } from '@vigia/contract/text'
import { type RawBuilder, sql } from 'kysely'
import { readHiding } from '../companies/companies.ts'
import type { Context, Database } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { anchoredLists, canBeAnchored, inAnchored } from './anchors.ts'
import { type CountPart, countAll, locate, type Stretch } from './count.ts'
import { type Criteria, type Filter, type FilterQuery, type Order, rangeOf, usualOrder, withinRange } from './filter.ts'
import { guesses, inOrder, isDeep } from './order.ts'
import { type DocumentListRow, readRows } from './rows.ts'
import { readQuery } from './search/search.ts'

export type { Criteria, Filter, Order } from './filter.ts'

export const pageSize = 50

export interface ListPage {
  rows: DocumentListRow[]
  total: number
  /** Decimal text. */
  amount: string
}

/**
 * One page of the workspace's documents, without those that its companies hide, in the order of the filter, with its exact count and sum. By
 * date, counters say in which month or day the page lies, so that its cost does not grow with its number.
 */
export async function searchDocuments(
  ctx: Pick<Context, 'db'>,
  workspaceId: number,
  filter: Filter,
): Promise<ListPage> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const asked = await ask(db, workspaceId, filter)
    const offset = (filter.page - 1) * pageSize
    const take = Math.min(pageSize, asked.total - offset)
    return {
      total: asked.total,
      amount: sumDecimals(asked.stretches.map(({ amount }) => amount)),
      rows:
        take > 0
          ? await readRows(db, workspaceId, await findPage(ctx, asked, filter.order ?? usualOrder, offset, take))
          : [],
    }
  })
}

/** The ids of all documents that the criteria find, in the order of the list; refuses more than `max` of them. */
export async function selectIds(
  ctx: Pick<Context, 'db'>,
  workspaceId: number,
  criteria: Criteria,
  max: number,
  order: Order = usualOrder,
): Promise<bigint[]> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { query, total } = await ask(db, workspaceId, criteria)
    if (total > max)
      throw new AppError(
        'conflict',
        `Este filtro tem ${formatInteger(total)} documentos, e uma seleção alcança até ${formatInteger(max)}. Nada mudou na sua seleção: escolha um período menor ou mais um filtro.`,
      )
    return readIds(query, inOrder(query, order, { total, offset: 0, take: total }).ids)
  })
}

/** How many documents the criteria find; `ctx.db` is a transaction inside the workspace. */
export async function countDocuments(
  { db }: Pick<Context, 'db'>,
  workspaceId: number,
  criteria: Criteria,
): Promise<number> {
  return (await ask(db, workspaceId, criteria)).total
}

/** How many documents the criteria find outside their range, by month of issue, newest first; `ctx.db` is a transaction inside the workspace. */
export async function countOutside(
  { db }: Pick<Context, 'db'>,
  workspaceId: number,
  { from, to, ...criteria }: Criteria,
): Promise<{ total: number; months: { month: string; n: number }[] }> {
  const [hiding, asked] = [await readHiding({ db }, workspaceId), await readQuery(db, workspaceId, criteria)]
  const without = rangeOf({ from, to })
  // A whole chave is found whatever the range is.
  if (asked.anyDate || (from === undefined && to === undefined)) return { total: 0, months: [] }
  const { rows } = await sql<{ month: string; n: number }>`
    select to_char(date_trunc('month', d.issued_at), 'YYYY-MM') as month, count(*)::int as n from document d
     where ${withinRange({ ...asked, hiding }, asked.range)}
       and not (d.issued_at >= ${without.from}::timestamp and d.issued_at < ${without.until}::timestamp)
     group by date_trunc('month', d.issued_at) order by date_trunc('month', d.issued_at) desc`.execute(db)
  return { total: rows.reduce((sum, { n }) => sum + n, 0), months: rows }
}

interface Asked {
  query: FilterQuery
  stretches: Stretch[]
  newest: bigint[]
  total: number
}

async function ask(db: Database, workspaceId: number, filter: Criteria): Promise<Asked> {
  const asked = await readQuery(db, workspaceId, filter)
  const hiding = asked.found.length > 0 ? await readHiding({ db }, workspaceId) : []
  const counted = await countAll({ ...asked, hiding })
  return {
    ...counted,
    total: counted.stretches.reduce((sum, { n }) => sum + n, 0),
  }
}

/** The ids of a part of the list; `offset` and `take` lie within its total. */
async function findPage(
  ctx: Pick<Context, 'db'>,
  { query, stretches, newest, total }: Asked,
  order: Order,
  offset: number,
  take: number,
): Promise<bigint[]> {
  if (order.by === 'issued') {
    if (!order.ascending && offset + take <= newest.length) return newest.slice(offset, offset + take)
    const newer = order.ascending ? total - offset - take : offset
    const ids = await readIds(query, idsOf(query, await locate(query, stretches, newer, take)))
    return order.ascending ? ids.reverse() : ids
  }
  const part = { total, offset, take }
  for (const guess of guesses(query, order, part)) {
    const ids = await readInOrder(query, guess)
    if (ids.length === take) return ids
  }
  if (isDeep(part) && canBeAnchored(query, order))
    return readIds(query, await inAnchored(anchoredLists(ctx), query, order, part))
  return readInOrder(query, inOrder(query, order, part))
}

async function readInOrder(query: FilterQuery, { ids, reversed }: ReturnType<typeof inOrder>): Promise<bigint[]> {
  const found = await readIds(query, ids)
  return reversed ? found.reverse() : found
}

async function readIds({ db }: FilterQuery, ids: RawBuilder<unknown>): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`${ids}`.execute(db)
  return rows.map(({ id }) => id)
}

function idsOf(query: FilterQuery, parts: CountPart[]): RawBuilder<unknown> {
  const [part, ...more] = parts
  const of = <T>(pick: (part: CountPart) => T) => parts.map(pick)
  return sql`select k.id from (${
    part && more.length === 0
      ? fromNearerEnd(query, part)
      : sql`
        select k.*
          from unnest(${of(({ stretch }) => stretch.from)}::timestamp[], ${of(({ stretch }) => stretch.until)}::timestamp[],
                      ${of(({ skip }) => skip)}::int[], ${of(({ take }) => take)}::int[]) p (since, until, skip, take),
               lateral (select d.id, d.issued_at from document d where ${withinRange(query, { from: sql.ref('p.since'), until: sql.ref('p.until') })}
                         order by d.issued_at desc, d.id desc offset p.skip limit p.take) k`
  }) k order by k.issued_at desc, k.id desc`
}

function fromNearerEnd(query: FilterQuery, { stretch, skip, take }: CountPart): RawBuilder<unknown> {
  const [order, before] = skip > stretch.n / 2 ? [sql`asc`, stretch.n - skip - take] : [sql`desc`, skip]
  return sql`select d.id, d.issued_at from document d where ${withinRange(query, stretch)}
              order by d.issued_at ${order}, d.id ${order} offset ${before} limit ${take}`
}

// Amounts have two decimals: sums are exact in cents.
function sumDecimals(amounts: string[]): string {
  const cents = amounts.reduce(
    (sum, amount) => sum + BigInt(amount.includes('.') ? amount.replace('.', '') : `${amount}00`),
    0n,
  )
  const text = String(cents).padStart(3, '0')
  return `${text.slice(0, -2)}.${text.slice(-2)}`
}
