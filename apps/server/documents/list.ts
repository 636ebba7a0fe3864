import { type RawBuilder, sql } from 'kysely'
import { readHiding } from '../companies/companies.ts'
import type { Context } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { countAll, locate, type Part, walkedBy } from './count.ts'
import { documentCondition, type Filter, type Query } from './filter.ts'
import { searchCondition } from './search.ts'

export type { Filter } from './filter.ts'

export const pageSize = 50

export interface DocumentListRow {
  id: bigint
  number: number
  issuer_name: string
  chave: string
  amount: string
  issued_at: string
  issued_offset: number | null
  roles: number
  event_code: number
  event_text: string | null
  base_status: number
  complete: boolean
}

export interface Page {
  rows: DocumentListRow[]
  total: number
  /** Decimal text. */
  amount: string
}

/**
 * One page of the workspace's documents, without those that its companies hide, newest first, with the exact count and sum of the filter.
 * Counters say in which month or day the page lies, so that its cost does not grow with its number.
 */
export async function searchDocuments(ctx: Pick<Context, 'db'>, workspaceId: number, filter: Filter): Promise<Page> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const text = filter.text ? await searchCondition(db, workspaceId, filter.text) : null
    const hiding = text ? await readHiding({ db }, workspaceId) : []
    const asked: Query = { db, workspaceId, filter, text, hiding }
    const counted = await countAll(asked)
    const query = { ...asked, hiding: counted.hiding }
    const total = counted.stretches.reduce((sum, { n }) => sum + n, 0)
    const offset = (filter.page - 1) * pageSize
    return {
      total,
      amount: sumDecimals(counted.stretches.map(({ amount }) => amount)),
      rows: offset < total ? await readPage(query, await locate(query, counted.stretches, offset, pageSize)) : [],
    }
  })
}

// Beyond so many entries of the index it is cheaper to walk it alone, and to visit the rows of the page only.
const visitedMax = 200

async function readPage(query: Query, parts: Part[]): Promise<DocumentListRow[]> {
  const [part] = parts
  const near = part && parts.length === 1 && part.stretch.unit !== 'time' && walkedBy(part) <= visitedMax
  const { rows } = await sql<DocumentListRow>`
    select d.id, d.number, (select s.name from supplier s where s.workspace_id = d.workspace_id and s.id = d.supplier_id) as issuer_name,
           d.chave, d.amount, d.issued_at, d.issued_offset, d.roles, d.event_code, d.event_text, d.base_status, d.complete
      from document d
     where ${
       near
         ? within(query, part.stretch.from, part.stretch.until)
         : sql`d.workspace_id = ${query.workspaceId} and d.id = any (array(${idsOf(query, parts)}))`
     }
     order by d.issued_at desc, d.id desc ${near ? sql`offset ${part.skip} limit ${part.take}` : sql``}`.execute(
    query.db,
  )
  return rows
}

function within(query: Query, from: unknown, until: unknown): RawBuilder<unknown> {
  return sql`${documentCondition(query)} and d.issued_at >= ${from}::timestamp and d.issued_at < ${until}::timestamp`
}

function idsOf(query: Query, parts: Part[]): RawBuilder<unknown> {
  const [part, ...more] = parts
  if (part && more.length === 0) {
    const { stretch, skip, take } = part
    // From whichever end is nearer.
    const [order, before] = skip > stretch.n / 2 ? [sql`asc`, stretch.n - skip - take] : [sql`desc`, skip]
    return sql`select d.id from document d where ${within(query, stretch.from, stretch.until)}
                order by d.issued_at ${order}, d.id ${order} offset ${before} limit ${take}`
  }
  const of = <T>(pick: (part: Part) => T) => parts.map(pick)
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
