import { unnamedRole } from '@vigia/dfe/roles'
import { type RawBuilder, sql } from 'kysely'
import { type Hiding, readHiding, shownConditions } from '../companies/companies.ts'
import type { Context, Database } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { searchCondition } from './search.ts'

export const pageSize = 50

export interface Filter {
  type: 0 | 2
  text?: string
  companyId?: number
  status?: number
  role?: number
  /** Local date and time, both inclusive. */
  from?: string
  to?: string
  page: number
}

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

// A stretch of issue dates with its exact count; from inclusive, until exclusive.
interface Stretch {
  from: string
  until: string
  n: number
  amount: string
}

/**
 * One page of the workspace's documents, without those that its companies hide, newest first, with the exact count and sum of the filter. Counters say in which month (or
 * day, in large workspaces) the page lies, so that its cost does not grow with its number.
 */
export async function searchDocuments(ctx: Pick<Context, 'db'>, workspaceId: number, filter: Filter): Promise<Page> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const text = filter.text ? await searchCondition(db, workspaceId, filter.text) : null
    const hiding = (await readHiding({ db }, workspaceId)).filter(({ type }) => type === filter.type)
    const conditions = rowConditions(workspaceId, filter, hiding, text)
    const query: Query = { db, workspaceId, filter, hiding, conditions }
    const stretches = text ? [await countRows(query, bounds(filter))] : await countByMonths(query)
    const total = stretches.reduce((sum, stretch) => sum + stretch.n, 0)
    const offset = (filter.page - 1) * pageSize
    return {
      total,
      amount: sumDecimals(stretches.map((stretch) => stretch.amount)),
      rows: offset < total ? await readPage(query, await locate(query, stretches, offset)) : [],
    }
  })
}

interface Query {
  db: Database
  workspaceId: number
  filter: Filter
  hiding: Hiding[]
  conditions: RawBuilder<unknown>
}

const earliest = '0001-01-01T00:00:00'
const latest = '9999-12-31T23:59:59'

function bounds(filter: Filter): { from: string; until: string } {
  return { from: filter.from ?? earliest, until: filter.to ? addSecond(filter.to) : latest }
}

function rowConditions(
  workspaceId: number,
  filter: Filter,
  hiding: Hiding[],
  text: RawBuilder<unknown> | null,
): RawBuilder<unknown> {
  const common = commonConditions(filter, hiding, 'd')
  const parts = [sql`d.workspace_id = ${workspaceId}`, sql`d.type = ${filter.type}`, ...common]
  return sql.join(text ? [...parts, text] : parts, sql` and `)
}

function commonConditions(filter: Filter, hiding: Hiding[], alias: string): RawBuilder<unknown>[] {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  return [
    ...(filter.companyId === undefined ? [] : [sql`${column('company_id')} = ${filter.companyId}`]),
    ...(filter.status === undefined ? [] : [sql`${column('status')} = ${filter.status}`]),
    ...(filter.role === undefined ? [] : [roleCondition(column('roles'), filter.role)]),
    ...shownConditions(hiding, alias),
  ]
}

// Who is named nowhere in a document is shown as Terceiro, and must be found there.
function roleCondition(roles: RawBuilder<unknown>, role: number): RawBuilder<unknown> {
  const named = sql`(${roles} & ${1 << role}) <> 0`
  return role === thirdParty ? sql`(${named} or ${roles} = ${1 << unnamedRole})` : named
}

const thirdParty = 3

// Whole months come from the counters; a month that the range cuts is counted row by row.
async function countByMonths(query: Query): Promise<Stretch[]> {
  const { from, until } = bounds(query.filter)
  const firstWhole = from === monthStart(from) ? from : nextMonth(from)
  const endOfWhole = until === latest ? latest : monthStart(until)
  if (firstWhole >= endOfWhole) {
    return from < firstWhole && firstWhole < until
      ? [await countRows(query, { from: firstWhole, until }), await countRows(query, { from, until: firstWhole })]
      : [await countRows(query, { from, until })]
  }
  const months = await readMonths(query, firstWhole, endOfWhole)
  if (until > endOfWhole) months.unshift(await countRows(query, { from: endOfWhole, until }))
  if (from < firstWhole) months.push(await countRows(query, { from, until: firstWhole }))
  return months
}

async function readMonths({ db, workspaceId, filter, hiding }: Query, from: string, until: string): Promise<Stretch[]> {
  const conditions = sql.join(
    [
      sql`c.workspace_id = ${workspaceId}`,
      sql`c.type = ${filter.type}`,
      sql`c.month >= ${from}::date`,
      sql`c.month < ${until}::date`,
      ...commonConditions(filter, hiding, 'c'),
    ],
    sql` and `,
  )
  const { rows } = await sql<{ month: string; n: number; amount: string }>`
    select c.month, sum(c.n)::int as n, sum(c.amount) as amount from count_month c
     where ${conditions} group by c.month having sum(c.n) > 0 order by c.month desc`.execute(db)
  return rows.map((row) => ({
    from: `${row.month}T00:00:00`,
    until: nextMonth(row.month),
    n: row.n,
    amount: row.amount,
  }))
}

async function countRows({ db, conditions }: Query, range: { from: string; until: string }): Promise<Stretch> {
  const { rows } = await sql<{ n: number; amount: string }>`
    select count(*)::int as n, coalesce(sum(d.amount), 0) as amount from document d
     where ${conditions} and d.issued_at >= ${range.from}::timestamp and d.issued_at < ${range.until}::timestamp`.execute(
    db,
  )
  return { ...range, n: rows[0]!.n, amount: rows[0]!.amount }
}

interface Place {
  stretch: Stretch
  /** Rows of the stretch, from its newest, before the page. */
  offset: number
}

// Below this, walking the index is cheaper than asking the day counters.
const worthDays = 2_000

async function locate(query: Query, stretches: Stretch[], offset: number): Promise<Place> {
  const place = walk(stretches, offset)
  if (place.offset < worthDays || !place.stretch.from.endsWith('-01T00:00:00')) return place
  const { db, workspaceId, filter, hiding } = query
  const conditions = sql.join(
    [
      sql`c.workspace_id = ${workspaceId}`,
      sql`c.type = ${filter.type}`,
      sql`c.day >= ${place.stretch.from}::date`,
      sql`c.day < ${place.stretch.until}::date`,
      ...commonConditions(filter, hiding, 'c'),
    ],
    sql` and `,
  )
  const { rows } = await sql<{ day: string; n: number }>`
    select c.day, sum(c.n)::int as n from count_day c where ${conditions} group by c.day having sum(c.n) > 0 order by c.day desc`.execute(
    db,
  )
  const days = rows.map((row) => ({ from: `${row.day}T00:00:00`, until: nextDay(row.day), n: row.n, amount: '0' }))
  const counted = days.reduce((sum, day) => sum + day.n, 0)
  // Small workspaces keep no day counters.
  return counted === place.stretch.n ? walk(days, place.offset) : place
}

function walk(stretches: Stretch[], offset: number): Place {
  let before = 0
  for (const stretch of stretches) {
    if (offset < before + stretch.n) return { stretch, offset: offset - before }
    before += stretch.n
  }
  throw new Error('the offset lies beyond the counted rows')
}

async function readPage({ db, filter, conditions }: Query, { stretch, offset }: Place): Promise<DocumentListRow[]> {
  const inside = offset + pageSize <= stretch.n
  const fromTheEnd = inside && offset > stretch.n / 2
  // A page that spills over goes on into older stretches.
  const from = inside ? stretch.from : bounds(filter).from
  const order = fromTheEnd ? sql`asc` : sql`desc`
  const skip = fromTheEnd ? stretch.n - offset - pageSize : offset
  const { rows } = await sql<DocumentListRow>`
    select d.id, d.number, s.name as issuer_name, d.chave, d.amount, d.issued_at, d.issued_offset, d.roles, d.event_code, d.event_text,
           d.base_status, d.complete
      from (select d.workspace_id, d.id, d.issued_at from document d
             where ${conditions} and d.issued_at >= ${from}::timestamp and d.issued_at < ${stretch.until}::timestamp
             order by d.issued_at ${order}, d.id ${order} offset ${skip} limit ${pageSize}) k
      join document d on d.workspace_id = k.workspace_id and d.id = k.id
      join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
     order by k.issued_at desc, k.id desc`.execute(db)
  return rows
}

const monthStart = (time: string) => `${time.slice(0, 7)}-01T00:00:00`

function nextMonth(time: string): string {
  const [year, month] = [Number(time.slice(0, 4)), Number(time.slice(5, 7))]
  const next = month === 12 ? [year + 1, 1] : [year, month + 1]
  return `${String(next[0]).padStart(4, '0')}-${String(next[1]).padStart(2, '0')}-01T00:00:00`
}

function addSecond(time: string): string {
  return new Date(Date.parse(`${time}Z`) + 1000).toISOString().slice(0, 19)
}

function nextDay(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 19)
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
