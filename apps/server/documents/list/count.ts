import { type RawBuilder, sql } from 'kysely'
import { executePrepared } from '../../platform/database.ts'
import { all, type FilterQuery, kindConditions, placeConditions, type Range, withinRange } from './filter.ts'

// How many documents a filter finds. Whole months come from the counters; parts of a month, and what was searched for, are counted in the documents.

interface Counted {
  total: number
  /** Decimal text. */
  amount: string
  /** The question as it is asked from here on: few documents that were searched for are known by their ids. */
  query: FilterQuery
  /** The first documents of the list by date, as many as came along. */
  newest: bigint[]
}

interface CountedRow {
  total: number
  amount: string
  /** The first ones of the list, as one text. */
  ids: string | null
}

export async function countWithFirst(query: FilterQuery): Promise<Counted> {
  if (query.found.length > 0) return countFound(query)
  const { months, rest } = partsOf(query.range)
  const parts = [...(months ? [inCounters(query, months)] : []), ...rest.map((range) => inDocuments(query, range))]
  const statement = sql<CountedRow>`
    select coalesce(sum(p.n), 0)::float8 as total, coalesce(sum(p.amount), 0.00)::text as amount, ${newestOf(query)} as ids
      from (${sql.join(parts, sql` union all `)}) p`
  // To plan what one index leads to takes longer than to carry it out.
  const rows =
    rest.length === 0 && query.hiding.length === 0
      ? await executePrepared(query.db, statement)
      : (await statement.execute(query.db)).rows
  const { total, amount, ids } = rows[0]!
  return { total, amount, query, newest: idsIn(ids) }
}

// Up to this many ids, a page is read faster by them than by the search that found them.
const fewMax = 1_000

async function countFound(query: FilterQuery): Promise<Counted> {
  const { rows } = await sql<CountedRow>`
    select count(*)::float8 as total, coalesce(sum(d.amount), 0.00)::text as amount,
           (array_agg(d.id order by d.issued_at desc, d.id desc))[1:${sql.lit(fewMax)}]::text as ids
      from document d where ${withinRange(query, query.range)}`.execute(query.db)
  const { total, amount, ids } = rows[0]!
  const newest = idsIn(ids)
  const found = newest.length === total ? [sql`d.id = any (${newest}::bigint[])`] : query.found
  return { total, amount, query: { ...query, found }, newest }
}

const idsIn = (array: string | null) => (array ? array.slice(1, -1).split(',').map(BigInt) : [])

/** The whole months of a range, and what is left of it at both ends. */
function partsOf({ from, until }: Range): { months: Range | null; rest: Range[] } {
  const first = monthStart(from) === from ? from : nextMonth(from)
  const last = monthStart(until)
  if (first >= last) return { months: null, rest: [{ from, until }] }
  const ends = [
    { from, until: first },
    { from: last, until },
  ]
  return { months: { from: first, until: last }, rest: ends.filter(({ from, until }) => from < until) }
}

const monthStart = (time: string) => `${time.slice(0, 7)}-01T00:00:00`

function nextMonth(time: string): string {
  const date = new Date(`${monthStart(time)}Z`)
  date.setUTCMonth(date.getUTCMonth() + 1)
  return date.toISOString().slice(0, 19)
}

function inCounters(query: FilterQuery, { from, until }: Range): RawBuilder<unknown> {
  return sql`
    select sum(c.n) as n, sum(c.amount) as amount from count_month c
     where ${all([...placeConditions(query, 'c'), ...kindConditions(query, 'c')])} and c.month >= ${from}::date and c.month < ${until}::date`
}

function inDocuments(query: FilterQuery, range: Range): RawBuilder<unknown> {
  return sql`select count(*) as n, sum(d.amount) as amount from document d where ${withinRange(query, range)}`
}

const visitedMax = 200

// Most pages are the first. What it costs has an end: with a rare status it may find too few.
function newestOf(query: FilterQuery): RawBuilder<unknown> {
  const { from, until } = query.range
  return sql`(
    select array_agg(k.id order by k.issued_at desc, k.id desc)::text
      from (select d.id, d.issued_at, d.type, d.company_id, d.roles, d.status from document d
             where ${all(placeConditions(query, 'd'))} and d.issued_at >= ${from}::timestamp and d.issued_at < ${until}::timestamp
             order by d.issued_at desc, d.id desc limit ${visitedMax}) k
     where ${all(kindConditions(query, 'k'))})`
}
