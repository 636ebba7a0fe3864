import { type ReportGroup, type ReportSubject, type ReportTax, reportTaxes } from '@vigia/contract/reports'
import { formatInteger } from '@vigia/contract/text'
import { type RawBuilder, sql } from 'kysely'
import { sumKinds } from '../../documents/contents/sums.ts'
import { kindsOfGroups, sides } from '../../documents/list/counted.ts'
import type { WithDatabase } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { bareTerm, likeLiteral, searchable } from '../../platform/text.ts'

// Reports from `content_sum` and `product_sum`, which apps/server/documents/contents keeps. All amounts are cents, which numbers hold exactly up to R$ 90 trillion.

/** Subject and filters of a report. `from` and `to` are months (`aaaa-MM`), both included. */
export interface Question {
  subject: ReportSubject
  group: ReportGroup
  from: string
  to: string
  /** Undefined: all that the person sees. */
  companyId: number | undefined
  /** Search text for keys and names; empty: all. */
  text: string
}

/** Sums of the period, and what they were in the one of the same length before it and in the same months of the year before. */
export interface Figures {
  documents: number | null
  value: number
  before: number
  yearBefore: number
  taxes: Record<ReportTax, number> | null
}

export interface Line extends Figures {
  /** As it is stored; of a product its id. */
  key: string
  quantity: string | null
}

export interface Sums {
  lines: Line[]
  total: Figures
  /** Lines of all pages. */
  lineCount: number
}

// An NF-e stands in one UF and a CT-e in one lane: few rows say what all of them sum up to.
const oneRowEach = [sumKinds.uf, sumKinds.lane]

type Period = 'now' | 'before' | 'yearBefore'
type Range = readonly [from: string, to: string]

export function moveMonth(month: string, by: number): string {
  return new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)) - 1 + by)).toISOString().slice(0, 7)
}

function monthsOf([from, to]: Range): string[] {
  const months = [from]
  while (months.at(-1)! < to) months.push(moveMonth(months.at(-1)!, 1))
  return months
}

function periodsOf({ from, to }: Pick<Question, 'from' | 'to'>): Record<Period, Range> {
  const length = monthsOf([from, to]).length
  return {
    now: [from, to],
    before: [moveMonth(from, -length), moveMonth(from, -1)],
    yearBefore: [moveMonth(from, -12), moveMonth(to, -12)],
  }
}

const dateOf = (month: string) => `${month}-01`
const within = ([from, to]: Range) => sql`s.month between ${dateOf(from)}::date and ${dateOf(to)}::date`
const allMonths = (periods: Record<Period, Range>) => [
  ...new Set(Object.values(periods).flatMap((range) => monthsOf(range))),
]

const having = (months: readonly string[]) => sql`s.month = any (${months.map(dateOf)}::date[])`

// The columns of `Row`, and the quantity of a product, which has no taxes.
function figuresOf({ now, before, yearBefore }: Record<Period, Range>, isProduct: boolean): RawBuilder<unknown> {
  const sum = (column: string, range: Range) =>
    sql`coalesce(sum(case when ${within(range)} then s.${sql.ref(column)} end), 0)::float8`
  const taxes = sql.join(reportTaxes.map((tax) => sql`${sum(tax, now)} as ${sql.ref(tax)}`))
  const quantity = sql`trim_scale(coalesce(sum(case when ${within(now)} then s.quantity end), 0) / 10000.0)::text as quantity`
  return sql`${sum('documents', now)} as documents, ${sum('value', now)} as value, ${sum('value', before)} as before,
             ${sum('value', yearBefore)} as "yearBefore", ${isProduct ? quantity : sql`null as quantity, ${taxes}`}`
}

type Row = { documents: number; value: number; before: number; yearBefore: number } & Record<ReportTax, number>

function toFigures(row: Row, taxed = true): Figures {
  const { documents, value, before, yearBefore } = row
  const taxes = Object.fromEntries(reportTaxes.map((tax) => [tax, row[tax]])) as Record<ReportTax, number>
  return { documents, value, before, yearBefore, taxes: taxed ? taxes : null }
}

/**
 * Lines of a question from `skip` on, `take` at most, largest first (months in order), and their total: with a text that of what it finds,
 * without that of the documents. Inside the workspace.
 */
export async function readSums(
  { db }: WithDatabase,
  workspaceId: number,
  question: Question,
  page: Page,
): Promise<Sums> {
  const { group, companyId, subject, text } = question
  const own = sql`s.workspace_id = ${workspaceId} and s.side = ${sides[subject]}${companyId === undefined ? sql`` : sql` and s.company_id = ${companyId}`}`
  const periods = periodsOf(question)
  const documents: Summed = {
    isProduct: false,
    periods,
    table: sql`content_sum s`,
    condition: sql`${own} and s.kind = any (${oneRowEach}::smallint[])`,
  }
  if (group === 'mes') {
    const lines = await readMonths({ db }, documents)
    return { lines, total: await readTotal({ db }, documents), lineCount: lines.length }
  }
  const isProduct = group === 'produto'
  const found = text === '' ? sql`true` : await choose({ db }, workspaceId, question)
  const asked: Asked = {
    workspaceId,
    isProduct,
    periods,
    table: isProduct ? sql`product_sum s` : sql`content_sum s`,
    key: isProduct ? sql`s.product_id` : sql`s.key`,
    condition: sql`${own} and ${isProduct ? sql`true` : sql`s.kind = ${kindsOfGroups[group]}`} and ${found}`,
  }
  const { keys, lineCount } = await findKeys({ db }, asked, page)
  const lines = await readLines({ db }, asked, keys)
  if (text === '') {
    const total = await readTotal({ db }, documents)
    return { lines, total: isProduct ? { ...total, taxes: null } : total, lineCount }
  }
  const total = await readTotal({ db }, asked)
  return { lines, total: isAdditive(group) ? total : { ...total, documents: null }, lineCount }
}

interface Page {
  skip: number
  take: number
}

// A question as its parts of SQL: `condition` says everything but the months.
interface Summed {
  isProduct: boolean
  periods: Record<Period, Range>
  table: RawBuilder<unknown>
  condition: RawBuilder<unknown>
}

interface Asked extends Summed {
  workspaceId: number
  key: RawBuilder<unknown>
}

async function findKeys(
  { db }: WithDatabase,
  { table, key, condition, periods: { now } }: Asked,
  { skip, take }: Page,
): Promise<{ keys: string[]; lineCount: number }> {
  // Read in the order in which they lie: the planner takes rows of one workspace for sorted by all of the index, and visits each by itself.
  await sql`select set_config('enable_indexscan', 'off', true)`.execute(db)
  // Summed columns are taken out of the wide row first. float8 takes half the time and only orders; shown sums are exact.
  const { rows } = await sql<{ key: string; lines: bigint }>`
    select r.key::text as key, count(*) over () as lines
      from (select ${key} as key, s.value::float8 as value, s.documents from ${table} where ${condition} and ${within(now)} offset 0) r
     group by r.key having sum(r.documents) <> 0
     order by sum(r.value) desc, r.key limit ${take} offset ${skip}`.execute(db)
  await sql`select set_config('enable_indexscan', 'on', true)`.execute(db)
  return { keys: rows.map(({ key }) => key), lineCount: Number(rows[0]?.lines ?? 0n) }
}

const companiesOf = (workspaceId: number) =>
  sql`array(select c.id from company c where c.workspace_id = ${workspaceId})`

// Companies and months are named, so that each key is looked up and the period is not read once more.
async function readLines({ db }: WithDatabase, asked: Asked, keys: readonly string[]): Promise<Line[]> {
  const { workspaceId, isProduct, table, key, condition, periods } = asked
  const { rows } = await sql<Row & Pick<Line, 'key' | 'quantity'>>`
    select ${key}::text as key, ${figuresOf(periods, isProduct)} from ${table}
     where ${condition} and ${key} = any (${keys}::${isProduct ? sql`int[]` : sql`text[]`}) and ${having(allMonths(periods))}
       and s.company_id = any (${companiesOf(workspaceId)})
     group by ${key}`.execute(db)
  const byKey = new Map(rows.map((row) => [row.key, row]))
  return keys.map((key) => {
    const row = byKey.get(key)!
    return { key, quantity: row.quantity, ...toFigures(row, !isProduct) }
  })
}

async function readTotal({ db }: WithDatabase, { isProduct, table, condition, periods }: Summed): Promise<Figures> {
  const { rows } = await sql<Row>`
    select ${figuresOf(periods, isProduct)} from ${table} where ${condition} and ${having(allMonths(periods))}`.execute(
    db,
  )
  return toFigures(rows[0]!, !isProduct)
}

/** A text may find so many; who types more of it finds fewer. */
const matchesMax = 20_000

/** Whether a document stands in one line only: not in that of each CFOP, NCM and product that it has. */
export const isAdditive = (group: ReportGroup) => group !== 'cfop' && group !== 'ncm' && group !== 'produto'

// Each month of a period, against the one before it and that of a year before.
async function readMonths(
  { db }: WithDatabase,
  { table, condition, periods: { now, yearBefore } }: Summed,
): Promise<Line[]> {
  const columns = ['documents', 'value', ...reportTaxes].map(
    (name) => sql`sum(s.${sql.ref(name)})::float8 as ${sql.ref(name)}`,
  )
  const { rows } = await sql<Row & { month: string }>`
    select to_char(s.month, 'YYYY-MM') as month, ${sql.join(columns)} from ${table}
     where ${condition} and ${within([yearBefore[0], now[1]])} group by s.month`.execute(db)
  const months = new Map(rows.map((row) => [row.month, row]))
  const valueIn = (month: string) => months.get(month)?.value ?? 0
  return monthsOf(now).map((month) => {
    const compared = { before: valueIn(moveMonth(month, -1)), yearBefore: valueIn(moveMonth(month, -12)) }
    return { key: month, quantity: null, ...toFigures({ ...nothing, ...months.get(month), ...compared }) }
  })
}

const nothing: Row = Object.fromEntries(
  ['documents', 'value', 'before', 'yearBefore', ...reportTaxes].map((name) => [name, 0]),
) as Row

/** Remainder of `whole` without the lines. */
export const restOf = (whole: Figures, lines: readonly Figures[]): Figures => lines.reduce(minus, whole)

function minus(one: Figures, other: Figures): Figures {
  const { taxes } = one
  return {
    documents: one.documents === null || other.documents === null ? null : one.documents - other.documents,
    value: one.value - other.value,
    before: one.before - other.before,
    yearBefore: one.yearBefore - other.yearBefore,
    taxes:
      taxes &&
      other.taxes &&
      (Object.fromEntries(reportTaxes.map((tax) => [tax, taxes[tax] - other.taxes![tax]])) as typeof taxes),
  }
}

const wordsMax = 5

// Lines whose key begins with a text, or whose name has all of its words.
async function choose(
  { db }: WithDatabase,
  workspaceId: number,
  { group, text }: Question,
): Promise<RawBuilder<unknown>> {
  const bare = text.replace(/[^0-9a-z]/gi, '').toUpperCase()
  const code = bareTerm(text)
  const begins = (column: RawBuilder<unknown>) => (bare === '' ? sql`false` : sql`${column} like ${`${bare}%`}`)
  if (group !== 'participante' && group !== 'produto')
    return begins(group === 'trecho' ? sql`replace(s.key, '-', '')` : sql`s.key`)
  const words = searchable(text).split(' ').slice(0, wordsMax)
  const hasAll = (column: RawBuilder<unknown>) =>
    sql.join(
      words.map((word) => sql`${column} like ${`%${likeLiteral(word)}%`}`),
      sql` and `,
    )
  // As `searchable` makes them, of the letters that names of products have.
  const name = sql`translate(lower(p.name), 'áàâãäéèêëíìîïóòôõöúùûüç', 'aaaaaeeeeiiiiooooouuuuc')`
  const matches =
    group === 'participante'
      ? sql`select distinct p.tax_id as key from supplier p where p.workspace_id = ${workspaceId} and (${hasAll(sql`p.search`)} or ${begins(sql`p.tax_id`)})`
      : sql`select p.id as key from product p
             where p.workspace_id = ${workspaceId}
               and (${hasAll(name)} or ${code === '' ? sql`false` : sql`p.bare = ${code}`} or ${bare === '' ? sql`false` : sql`p.gtin = ${bare}`} or ${begins(sql`p.ncm`)} or ${begins(sql`p.issuer`)})`
  const { rows } = await sql<{ key: string | number }>`${matches} limit ${matchesMax + 1}`.execute(db)
  if (rows.length > matchesMax)
    throw new AppError(
      'invalid-input',
      `Mais de ${formatInteger(matchesMax)} nomes têm isso. Nada se perdeu: escreva mais do nome, ou o código inteiro.`,
    )
  // As values: the database then knows how many there are.
  const keys = rows.map(({ key }) => key)
  return group === 'produto' ? sql`s.product_id = any (${keys}::int[])` : sql`s.key = any (${keys}::text[])`
}
