import { reachMax } from '@vigia/contract/documents'
import { formatInteger } from '@vigia/contract/text'
import { sql } from 'kysely'
import type { Database, WithDatabase } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { resolveCriteria } from '../search/search.ts'
import { countWithFirst } from './count.ts'
import { type Criteria, type Filter, type FilterQuery, type Order, rangeOf, usualOrder, withinRange } from './filter.ts'
import { readPart } from './order.ts'
import { type DocumentListRow, readRows } from './rows.ts'

export const pageSize = 50

export interface ListPage {
  rows: DocumentListRow[]
  total: number
  /** Decimal text. */
  amount: string
  /** Where more documents than a search reaches have the words: since when they were issued, which it lists, counts and sums; null: all. */
  since: string | null
}

/** One page of the workspace's documents, without those that its companies hide, in the order of the filter, with its count and sum. */
export async function searchDocuments(
  ctx: WithDatabase,
  workspaceId: number,
  { page, order = usualOrder, ...criteria }: Filter,
): Promise<ListPage> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { query, total, amount, newest } = await countWithFirst(await resolveCriteria(db, workspaceId, criteria))
    const { since } = query
    const offset = (page - 1) * pageSize
    if (offset >= total) return { total, amount, since, rows: [] }
    const take = Math.min(pageSize, total - offset)
    const isAmongNewest = order.by === 'issued' && !order.ascending && offset + take <= newest.length
    const ids = isAmongNewest
      ? newest.slice(offset, offset + take)
      : await readPart(query, order, { total, offset, take })
    return { total, amount, since, rows: await readRows(db, workspaceId, ids) }
  })
}

/** The ids of all documents that the criteria find, in the order of the list; refuses more than `max` of them. */
export async function selectIds(
  ctx: WithDatabase,
  workspaceId: number,
  criteria: Criteria,
  max: number,
  order: Order = usualOrder,
): Promise<bigint[]> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { query, total } = await countWithFirst(
      await readWhole(db, workspaceId, criteria, 'Nada mudou na sua seleção'),
    )
    if (total > max)
      throw new AppError(
        'conflict',
        `Este filtro tem ${formatInteger(total)} documentos, e uma seleção alcança até ${formatInteger(max)}. Nada mudou na sua seleção: escolha um período menor ou mais um filtro.`,
      )
    return readPart(query, order, { total, offset: 0, take: total })
  })
}

/** How many documents an export of the criteria has. */
export async function countDocuments({ db }: WithDatabase, workspaceId: number, criteria: Criteria): Promise<number> {
  return (await countWithFirst(await readWhole(db, workspaceId, criteria, 'Nada foi exportado'))).total
}

/** The question of criteria that find all documents; refuses words of more documents than a search reaches. */
export async function readWhole(
  db: Database,
  workspaceId: number,
  criteria: Criteria,
  unchanged: string,
): Promise<FilterQuery> {
  const query = await resolveCriteria(db, workspaceId, criteria)
  if (query.since !== null)
    throw new AppError(
      'conflict',
      `Mais de ${formatInteger(reachMax)} documentos têm o que este filtro procura, e a busca alcança só os mais novos. ${unchanged}: escolha um período menor.`,
    )
  return query
}

export async function countOutside(
  { db }: WithDatabase,
  workspaceId: number,
  { DataDe, DataAte, ...criteria }: Criteria,
): Promise<{ total: number; since: string | null; months: { month: string; n: number }[] }> {
  const asked = await resolveCriteria(db, workspaceId, criteria)
  const without = rangeOf({ DataDe, DataAte })
  // A whole chave is found whatever the range is.
  if (asked.anyDate || (DataDe === undefined && DataAte === undefined)) return { total: 0, since: null, months: [] }
  const { rows } = await sql<{ month: string; n: number }>`
    select to_char(date_trunc('month', d.issued_at), 'YYYY-MM') as month, count(*)::int as n from document d
     where ${withinRange(asked, asked.range)}
       and not (d.issued_at >= ${without.from}::timestamp and d.issued_at < ${without.until}::timestamp)
     group by date_trunc('month', d.issued_at) order by date_trunc('month', d.issued_at) desc`.execute(db)
  return { total: rows.reduce((sum, { n }) => sum + n, 0), since: asked.since, months: rows }
}
