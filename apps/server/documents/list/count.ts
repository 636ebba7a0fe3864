import { type RawBuilder, sql } from 'kysely'
import { all, type FilterQuery, kindConditions, placeConditions, type Range, withinRange } from './filter.ts'

// How many documents a filter finds. Whole months come from the counters; parts of a month, and what was searched for, are counted in the documents.

interface Counted {
  total: number
  /** Decimal text. */
  amount: string
  /** The question as it is asked from here on: few documents that were searched for are known by their ids. */
  query: FilterQuery
  /** The newest of the documents that were searched for, where they are few. */
  newest: bigint[]
}

export async function countAll(query: FilterQuery): Promise<Counted> {
  if (query.found.length > 0) return countFound(query)
  const { months, rest } = partsOf(query.range)
  const parts = [...(months ? [inCounters(query, months)] : []), ...rest.map((range) => inDocuments(query, range))]
  const { rows } = await sql<Pick<Counted, 'total' | 'amount'>>`
    select coalesce(sum(p.n), 0)::float8 as total, coalesce(sum(p.amount), 0.00)::text as amount
      from (${sql.join(parts, sql` union all `)}) p`.execute(query.db)
  return { ...rows[0]!, query, newest: [] }
}

// Up to this many ids, a page is read faster by them than by the search that found them.
const fewMax = 1_000

async function countFound(query: FilterQuery): Promise<Counted> {
  const { rows } = await sql<Pick<Counted, 'total' | 'amount'> & { ids: string[] | null }>`
    select count(*)::float8 as total, coalesce(sum(d.amount), 0.00)::text as amount,
           (array_agg(d.id::text order by d.issued_at desc, d.id desc))[1:${sql.lit(fewMax)}] as ids
      from document d where ${withinRange(query, query.range)}`.execute(query.db)
  const { total, amount, ids } = rows[0]!
  const newest = (ids ?? []).map(BigInt)
  const found = newest.length === total ? [sql`d.id = any (${newest}::bigint[])`] : query.found
  return { total, amount, query: { ...query, found }, newest }
}

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
