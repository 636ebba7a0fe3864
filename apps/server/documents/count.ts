import { type RawBuilder, sql } from 'kysely'
import { hidingOf, type SwitchedOff, switchedOff } from '../companies/companies.ts'
import { executePrepared } from '../platform/database.ts'
import { all, type FilterQuery, kindConditions, placeConditions, withinRange } from './filter.ts'

// How many documents a filter finds, stretch by stretch of their issue dates. Whole years, months and days come from the counters; only
// part of a day, what was searched for, and the days of a workspace that keeps no day counters are counted in the documents.

const units = ['year', 'month', 'day'] as const
type Unit = (typeof units)[number]

/** Issue dates to be counted, unit by unit or as a whole (`time`); from inclusive, until exclusive. */
interface Span {
  unit: Unit | 'time'
  from: string
  until: string
}

/** Issue dates in which the filter finds `n` documents. */
export interface Stretch extends Span {
  n: number
  /** Decimal text. */
  amount: string
  /** Index entries that a query for all of them reads. */
  walked: number
}

/** Every document that the filter finds, newest stretch first. */
interface Counted {
  stretches: Stretch[]
  /** The question as it is asked from here on: by now it is known what the workspace hides, and which few documents were searched for. */
  query: FilterQuery
  /** The first documents of the list, as many as came along. */
  newest: bigint[]
}

export async function countAll(query: FilterQuery): Promise<Counted> {
  const { from, until } = query.range
  if (query.found.length > 0) {
    const { stretches, ids } = await count(query, [{ unit: 'time', from, until }])
    const newest = ids ? idsIn(ids) : []
    const isAll = newest.length === stretches.reduce((sum, { n }) => sum + n, 0)
    return {
      stretches,
      query: isAll ? { ...query, found: [sql`d.id = any (${ids ?? '{}'}::bigint[])`] } : query,
      newest,
    }
  }
  const spans = decompose(from, until)
  // The count, what is hidden and the first documents come from one query: most workspaces hide nothing, and then it is the only one.
  const counted = await count(query, spans, { withSwitches: true })
  const hiding = hidingOf(counted.switched).filter(({ type }) => type === query.filter.type)
  const shown = { ...query, hiding }
  const { stretches } = hiding.length > 0 ? await count(shown, spans) : counted
  return {
    stretches: await withoutDayCounters(shown, spans, stretches),
    query: shown,
    newest: hiding.length === 0 && counted.ids ? idsIn(counted.ids) : [],
  }
}

const idsIn = (array: string) => array.slice(1, -1).split(',').map(BigInt)

// No day found: either the workspace is small and has no day counters, or there are no documents.
async function withoutDayCounters(query: FilterQuery, spans: Span[], stretches: Stretch[]): Promise<Stretch[]> {
  const days = spans.filter(({ unit }) => unit === 'day')
  if (days.length === 0 || stretches.some(({ unit }) => unit === 'day')) return stretches
  const { stretches: counted } = await count(
    query,
    days.map((span) => ({ ...span, unit: 'time' })),
  )
  return newestFirst([...stretches, ...counted])
}

function newestFirst(stretches: Stretch[]): Stretch[] {
  return stretches.sort((a, b) => (a.from < b.from ? 1 : -1))
}

// The largest units inside the range, and smaller ones at both ends.
function decompose(from: string, until: string, [unit, ...smaller]: readonly Unit[] = units): Span[] {
  if (from >= until) return []
  if (!unit) return [{ unit: 'time', from, until }]
  const first = from === startOf(unit, from) ? from : endOf(unit, from)
  const last = startOf(unit, until)
  if (first >= last) return decompose(from, until, smaller)
  return [...decompose(last, until, smaller), { unit, from: first, until: last }, ...decompose(from, first, smaller)]
}

function startOf(unit: Unit, time: string): string {
  return { year: `${time.slice(0, 4)}-01-01`, month: `${time.slice(0, 7)}-01`, day: time.slice(0, 10) }[unit] + midnight
}

const midnight = 'T00:00:00'

function endOf(unit: Unit, time: string): string {
  const date = new Date(`${startOf(unit, time)}Z`)
  if (unit === 'year') date.setUTCFullYear(date.getUTCFullYear() + 1)
  else if (unit === 'month') date.setUTCMonth(date.getUTCMonth() + 1)
  else date.setUTCDate(date.getUTCDate() + 1)
  return date.toISOString().slice(0, 19)
}

interface CountedRow {
  switched: SwitchedOff[] | null
  unit: Unit | 'time'
  start: string
  until: string | null
  n: number | null
  amount: string
  walked: number
  /** The first ones of the list, as one text. */
  ids: string | null
}

// So many ids lead faster to a page than what they were found by.
const fewMax = 1_000

async function count(
  query: FilterQuery,
  spans: Span[],
  { withSwitches = false, withAmounts = true } = {},
): Promise<{ stretches: Stretch[]; switched: SwitchedOff[] | null; ids: string | null }> {
  if (spans.length === 0) return { stretches: [], switched: null, ids: null }
  // To plan a part costs more than to carry it out: those of a unit are one.
  const parts = [...Map.groupBy(spans, ({ unit }) => unit)].flatMap(([unit, ofUnit]) =>
    unit === 'time' ? ofUnit.map((span) => inDocuments(query, span)) : [inCounters(query, unit, ofUnit, withAmounts)],
  )
  // A row of their own.
  const switches = sql`
    select 'time' as unit, null as start, null as until, null::float8 as n, null::numeric as amount, null::float8 as walked, ${newestOf(query)} as ids,
           ${switchedOff(query.workspaceId)} as switched
     union all`
  const statement = sql<CountedRow>`
    ${withSwitches ? switches : sql``} select s.*, null::json as switched from (${sql.join(parts, sql` union all `)}) s`
  // To plan what one index leads to takes longer than to carry it out.
  const isOfCounters = query.hiding.length === 0 && spans.every(({ unit }) => unit !== 'time')
  const rows = isOfCounters ? await executePrepared(query.db, statement) : (await statement.execute(query.db)).rows
  const stretches = rows.flatMap(({ unit, start, until, n, amount, walked }) => {
    if (!n) return []
    const from = unit === 'time' ? start : start + midnight
    return [{ unit, from, until: unit === 'time' ? until! : endOf(unit, from), n, amount, walked }]
  })
  return {
    stretches: newestFirst(stretches),
    switched: rows.find(({ switched }) => switched)?.switched ?? null,
    ids: rows[0]?.ids ?? null,
  }
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

// Other statuses are rare: `document_rare_ix` covers them.
const isRare = (status: number | undefined) => status !== undefined && status !== 2 && status !== 8

function inCounters(query: FilterQuery, unit: Unit, spans: Span[], withAmounts: boolean): RawBuilder<unknown> {
  const start = sql.ref(`c.${unit}`)
  const kind = kindConditions(query, 'c')
  const ofKind = kind.length > 0 ? sql`filter (where ${all(kind)})` : sql``
  const walked = isRare(query.filter.status) ? sql`filter (where c.status = ${query.filter.status})` : sql``
  const [{ from, until } = { from: '', until: '' }, ...others] = spans
  const within =
    others.length === 0
      ? sql`${start} >= ${from}::date and ${start} < ${until}::date`
      : sql`${start} >= p.since and ${start} < p.until`
  const periods =
    others.length === 0
      ? sql``
      : sql`, unnest(${spans.map(({ from }) => from)}::date[], ${spans.map(({ until }) => until)}::date[]) p (since, until)`
  return sql`
    select ${sql.lit(unit)} as unit, ${start}::text as start, null as until, sum(c.n) ${ofKind}::float8 as n,
           ${withAmounts ? sql`sum(c.amount) ${ofKind}` : sql`0::numeric`} as amount,
           sum(c.n) ${walked}::float8 as walked, null as ids
      from ${sql.table(`count_${unit}`)} c ${periods}
     where ${all(placeConditions(query, 'c'))} and ${within}
     group by ${start}`
}

function inDocuments(query: FilterQuery, { from, until }: Span): RawBuilder<unknown> {
  return sql`
    select 'time' as unit, ${from} as start, ${until} as until, count(*)::float8 as n, sum(d.amount) as amount, count(*)::float8 as walked,
           ${query.found.length > 0 ? sql`(array_agg(d.id order by d.issued_at desc, d.id desc))[1:${sql.lit(fewMax)}]::text` : sql`null`} as ids
      from document d
     where ${withinRange(query, { from, until })}`
}

/** A part of a page: `take` documents of a stretch, after skipping `skip` newer ones. */
export interface CountPart {
  stretch: Stretch
  skip: number
  take: number
}

// Walking this many entries of an index costs as much as asking the counters for a smaller unit.
const walkedMax = 20_000
const smallerUnit: Partial<Record<Span['unit'], Unit>> = { year: 'month', month: 'day' }

/** The parts that make up the page after `offset` documents, small enough for its cost not to grow with its number. */
export async function locate(
  query: FilterQuery,
  stretches: Stretch[],
  offset: number,
  limit: number,
): Promise<CountPart[]> {
  for (let known = stretches; ; ) {
    const parts = pick(known, offset, limit)
    const wide = new Set(parts.filter(isWide).map(({ stretch }) => stretch))
    if (wide.size === 0) return parts
    const spans = [...wide].map(({ unit, from, until }) => ({ unit: smallerUnit[unit]!, from, until }))
    const { stretches: smaller } = await count(query, spans, { withAmounts: false })
    known = known.flatMap((stretch) => (wide.has(stretch) ? piecesOf(stretch, smaller) : [stretch]))
  }
}

function pick(stretches: Stretch[], offset: number, limit: number): CountPart[] {
  const parts: CountPart[] = []
  let before = 0
  for (const stretch of stretches) {
    const skip = Math.max(0, offset - before)
    const take = Math.min(stretch.n, offset + limit - before) - skip
    if (take > 0) parts.push({ stretch, skip, take })
    before += stretch.n
  }
  return parts
}

function isWide(part: CountPart): boolean {
  return smallerUnit[part.stretch.unit] !== undefined && walkedBy(part) > walkedMax
}

/** Index entries that are read from the newest document of the stretch to the end of the part. */
export function walkedBy({ stretch, skip, take }: CountPart): number {
  return ((skip + take) * stretch.walked) / stretch.n
}

// A small workspace keeps no day counters.
function piecesOf(stretch: Stretch, smaller: Stretch[]): Stretch[] {
  const pieces = smaller.filter(({ from }) => from >= stretch.from && from < stretch.until)
  const counted = pieces.reduce((sum, { n }) => sum + n, 0)
  return counted === stretch.n ? pieces : [{ ...stretch, unit: 'time' }]
}
