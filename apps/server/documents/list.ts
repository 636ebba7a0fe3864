import { formatInteger } from '@vigia/contract/text'
import { type RawBuilder, sql } from 'kysely'
import { readHiding } from '../companies/companies.ts'
import type { Context, Database } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { type CountPart, countAll, locate, type Stretch, walkedBy } from './count.ts'
import { type Criteria, documentCondition, type Filter, type FilterQuery } from './filter.ts'
import { type DocumentListRow, readRows } from './rows.ts'
import { searchCondition } from './search.ts'

export type { Criteria, Filter } from './filter.ts'

export const pageSize = 50

export interface ListPage {
  rows: DocumentListRow[]
  total: number
  /** Decimal text. */
  amount: string
}

/**
 * One page of the workspace's documents, without those that its companies hide, newest first, with the exact count and sum of the filter.
 * Counters say in which month or day the page lies, so that its cost does not grow with its number.
 */
export async function searchDocuments(
  ctx: Pick<Context, 'db'>,
  workspaceId: number,
  filter: Filter,
): Promise<ListPage> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { query, stretches, total } = await ask(db, workspaceId, filter)
    const offset = (filter.page - 1) * pageSize
    return {
      total,
      amount: sumDecimals(stretches.map(({ amount }) => amount)),
      rows: offset < total ? await readPage(query, await locate(query, stretches, offset, pageSize)) : [],
    }
  })
}

/** The ids of all documents that the criteria find, in the order of the list; refuses more than `max` of them. */
export async function selectIds(
  ctx: Pick<Context, 'db'>,
  workspaceId: number,
  criteria: Criteria,
  max: number,
): Promise<bigint[]> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { query, stretches, total } = await ask(db, workspaceId, criteria)
    if (total > max)
      throw new AppError(
        'conflict',
        `Este filtro tem ${formatInteger(total)} documentos, e uma seleção alcança até ${formatInteger(max)}. Nada mudou na sua seleção: escolha um período menor ou mais um filtro.`,
      )
    if (total === 0) return []
    const { rows } = await sql<{ id: bigint }>`
      select d.id from document d
       where d.workspace_id = ${workspaceId} and d.id = any (array(${idsOf(query, await locate(query, stretches, 0, total))}))
       order by d.issued_at desc, d.id desc`.execute(db)
    return rows.map(({ id }) => id)
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

async function ask(
  db: Database,
  workspaceId: number,
  filter: Criteria,
): Promise<{ query: FilterQuery; stretches: Stretch[]; total: number }> {
  const text = filter.text ? await searchCondition(db, workspaceId, filter.text) : null
  const hiding = text ? await readHiding({ db }, workspaceId) : []
  const asked: FilterQuery = { db, workspaceId, filter, text, hiding }
  const counted = await countAll(asked)
  return {
    query: { ...asked, hiding: counted.hiding },
    stretches: counted.stretches,
    total: counted.stretches.reduce((sum, { n }) => sum + n, 0),
  }
}

// Beyond this many index entries it is cheaper to read only the index first, and then the rows of the page.
const visitedMax = 200

async function readPage(query: FilterQuery, parts: CountPart[]): Promise<DocumentListRow[]> {
  const [part] = parts
  const near = part && parts.length === 1 && part.stretch.unit !== 'time' && walkedBy(part) <= visitedMax
  return readRows(
    query.db,
    query.workspaceId,
    near
      ? sql`where ${within(query, part.stretch.from, part.stretch.until)}
             order by d.issued_at desc, d.id desc offset ${part.skip} limit ${part.take}`
      : sql`where d.workspace_id = ${query.workspaceId} and d.id = any (array(${idsOf(query, parts)}))
             order by d.issued_at desc, d.id desc`,
  )
}

function within(query: FilterQuery, from: unknown, until: unknown): RawBuilder<unknown> {
  return sql`${documentCondition(query)} and d.issued_at >= ${from}::timestamp and d.issued_at < ${until}::timestamp`
}

function idsOf(query: FilterQuery, parts: CountPart[]): RawBuilder<unknown> {
  const [part, ...more] = parts
  if (part && more.length === 0) {
    const { stretch, skip, take } = part
    // From the nearer end of the stretch.
    const [order, before] = skip > stretch.n / 2 ? [sql`asc`, stretch.n - skip - take] : [sql`desc`, skip]
    return sql`select d.id from document d where ${within(query, stretch.from, stretch.until)}
                order by d.issued_at ${order}, d.id ${order} offset ${before} limit ${take}`
  }
  const of = <T>(pick: (part: CountPart) => T) => parts.map(pick)
  return sql`
    select k.id
      from unnest(${of(({ stretch }) => stretch.from)}::timestamp[], ${of(({ stretch }) => stretch.until)}::timestamp[],
                  ${of(({ skip }) => skip)}::int[], ${of(({ take }) => take)}::int[]) p (since, until, skip, take),
           lateral (select d.id from document d where ${within(query, sql.ref('p.since'), sql.ref('p.until'))}
                     order by d.issued_at desc, d.id desc offset p.skip limit p.take) k`
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
