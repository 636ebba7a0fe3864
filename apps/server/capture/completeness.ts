import { type CompletenessMonth, getCompleteness } from '@vigia/contract/companies'
import { type RawBuilder, sql } from 'kysely'
import { getCompanyId } from '../companies/companies.ts'
import type { Context } from '../platform/context.ts'
import { inCapture, readWorkspace } from '../platform/database.ts'
import { handle } from '../platform/http.ts'
import { type Service, serviceOf } from '../platform/service.ts'
import { isLoss } from './ledger.ts'
import { blockCause } from './rules.ts'

/** Positions that were counted as delivered and did not arrive: when that was found out, why, and what became of them. */
export interface Gap {
  from: bigint
  to: bigint
  foundAt: Date
  why: string
  fetched: number
  /** The authority has them no more. */
  lost: number
  missing: number
}

/** What one conversation brought in a month of São Paulo. */
export interface Month {
  /** `2026-11`. */
  month: string
  /** Null: no position was passed. */
  from: bigint | null
  to: bigint | null
  documents: number
  /** Positions that the authority itself passed over. */
  passedOver: number
  queries: number
  unanswered: number
  gaps: Gap[]
}

const monthsMax = 13

/**
 * The last months of a conversation as its ledger tells them, oldest first; `until`: nothing that happened later. `ctx.db` is a transaction
 * that sees the line.
 */
export async function readCompleteness(
  { db }: Pick<Context, 'db'>,
  lineId: number,
  until: Date | null = null,
): Promise<Month[]> {
  const told = sql`line_id = ${lineId} and at <= coalesce(${until}::timestamptz, 'infinity')`
  const since = sql`(select date_trunc('month', at, ${zone}::text) - ${monthsMax - 1} * interval '1 month'
                       from capture_call where ${told} order by id desc limit 1)`
  // A page says from where to where it goes. Before the first one begins what the authority still keeps: nothing was passed over there.
  // Gaps never overlap and the later one lies higher, so that the last one that begins below a position is the one it may be in.
  const { rows } = await sql<Omit<Month, 'gaps'>>`
    with call as (
      select *, to_char(at at time zone ${zone}, 'YYYY-MM') as month,
             query = 'distNSU' and c_stat in (137, 138) and nsu_after > nsu_before as is_page,
             query = 'distNSU' and c_stat = 656 and nsu_after > nsu_before as is_gap
        from capture_call where ${told} and at >= ${since}),
    placed as (
      select *, query = 'consNSU'
                and nsu_before <= max(nsu_after) filter (where is_gap) over below
                and id > max(id) filter (where is_gap) over below as fills
        from call window below as (order by case when is_gap then nsu_before + 1 else nsu_before end))
    select month, min(nsu_before) filter (where is_page) + 1 as "from", max(nsu_after) filter (where is_page) as "to",
           coalesce(sum(documents) filter (where c_stat = 138 and (query = 'distNSU' or fills)), 0)::int as documents,
           coalesce(sum(greatest(nsu_after - nsu_before - documents, 0)) filter (where is_page and nsu_before > 0), 0)::int as "passedOver",
           count(*)::int as queries, (count(*) filter (where c_stat is null))::int as unanswered
      from placed group by month order by month`.execute(db)
  const gaps = await readGaps({ db }, lineId, told, until)
  return rows.map((row) => ({ ...row, gaps: gaps.filter((gap) => gap.month === row.month).map(withoutMonth) }))
}

const zone = 'America/Sao_Paulo'

// What is left of a gap, and what is lost of it, stands in `capture_gap`; the rest of it was fetched.
async function readGaps(
  { db }: Pick<Context, 'db'>,
  lineId: number,
  told: RawBuilder<unknown>,
  until: Date | null,
): Promise<(Gap & { month: string })[]> {
  const { rows } = await sql<
    Pick<Gap, 'from' | 'to' | 'foundAt'> & { month: string; xMotivo: string; errors: string[] | null }
  >`
    with call as (
      select *, count(*) filter (where c_stat in (137, 138, 656))
                over (order by id rows between unbounded preceding and 1 preceding) as settled
        from capture_call where ${told} and query = 'distNSU'),
    -- What went wrong since the last answer that told where the authority stands.
    explained as (select *, array_agg(error) filter (where error is not null) over (partition by settled) as errors from call)
    select to_char(at at time zone ${zone}, 'YYYY-MM') as month, at as "foundAt", x_motivo as "xMotivo",
           nsu_before + 1 as "from", nsu_after as "to", errors
      from explained
     where c_stat = 656 and nsu_after > nsu_before
     order by id`.execute(db)
  const open = await db
    .selectFrom('capture_gap')
    .select(['from_nsu', 'to_nsu'])
    .select(sql<boolean>`lost and found_at <= coalesce(${until}::timestamptz, 'infinity')`.as('lost'))
    .where('line_id', '=', lineId)
    .orderBy('from_nsu')
    .execute()
  const changed = until ? await listChanged({ db }, lineId, until) : []
  // Neither of the first two lists overlaps itself, and all go upwards.
  let first = 0
  let next = 0
  return rows.map(({ errors, xMotivo, ...gap }) => {
    const count = { lost: 0, missing: 0 }
    while (first < open.length && open[first]!.to_nsu < gap.from) first++
    for (let place = first; place < open.length && open[place]!.from_nsu <= gap.to; place++)
      count[open[place]!.lost ? 'lost' : 'missing'] += overlap(gap, open[place]!)
    while (next < changed.length && changed[next]!.nsu < gap.from) next++
    for (; next < changed.length && changed[next]!.nsu <= gap.to; next++) {
      count.missing += changed[next]!.wasLost ? -1 : 1
      count.lost += Number(changed[next]!.wasLost)
    }
    const fetched = Number(gap.to - gap.from + 1n) - count.lost - count.missing
    return { ...gap, ...count, fetched, why: `${blockCause(errors?.some(isLoss) ?? false)} (${xMotivo})` }
  })
}

// Positions of which `capture_gap` does not tell how they stood then: fetched since, or lost by then in a row that has grown since.
async function listChanged(
  { db }: Pick<Context, 'db'>,
  lineId: number,
  until: Date,
): Promise<{ nsu: bigint; wasLost: boolean }[]> {
  const { rows } = await sql<{ nsu: bigint; wasLost: boolean }>`
    select nsu, coalesce(g.lost, false) as "wasLost"
      from (select nsu_before as nsu, min(at) filter (where c_stat = 138) as fetched_at, min(at) filter (where c_stat = 137) as expired_at
              from capture_call where line_id = ${lineId} and query = 'consNSU' and c_stat in (137, 138) group by nsu_before) c
      left join lateral (select * from capture_gap where line_id = ${lineId} and from_nsu <= c.nsu order by from_nsu desc limit 1) g
             on c.nsu <= g.to_nsu
     where (g.line_id is null and fetched_at > ${until}) or (g.lost and g.found_at > ${until} and expired_at <= ${until})
     order by nsu`.execute(db)
  return rows
}

function overlap(gap: Pick<Gap, 'from' | 'to'>, row: { from_nsu: bigint; to_nsu: bigint }): number {
  const from = row.from_nsu > gap.from ? row.from_nsu : gap.from
  const to = row.to_nsu < gap.to ? row.to_nsu : gap.to
  return Number(to - from + 1n)
}

function withoutMonth({ month: _, ...gap }: Gap & { month: string }): Gap {
  return gap
}

/** The completeness of everything that is captured for a CNPJ, for who runs the installation. */
export async function findCompleteness(
  ctx: Pick<Context, 'db'>,
  cnpj: string,
): Promise<{ service: Service; months: Month[] }[]> {
  return inCapture(ctx, async (ctx) => {
    const lines = await ctx.db
      .selectFrom('capture_line')
      .select(['id', 'service'])
      .where('cnpj', '=', cnpj)
      .orderBy('service')
      .execute()
    const found = []
    for (const { id, service } of lines)
      found.push({ service: serviceOf(service), months: await readCompleteness(ctx, id) })
    return found
  })
}

export const completenessRoutes = [
  handle(getCompleteness, async (ctx, { query, session }) => {
    const companyId = await getCompanyId(ctx, session.workspaceId, query.id)
    return readWorkspace(ctx, session.workspaceId, async (ctx) => {
      const lines = await ctx.db
        .selectFrom('capture_subscription as s')
        .innerJoin('capture_line as l', 'l.id', 's.line_id')
        .innerJoin('workspace as w', 'w.id', 's.workspace_id')
        .select(['l.id', 'l.service'])
        // While nothing is captured for it, what others receive is not told.
        .select(sql<Date | null>`case when s.paused then w.paused_at end`.as('until'))
        .where('s.workspace_id', '=', session.workspaceId)
        .where('s.company_id', '=', companyId)
        // What others received for the CNPJ is not for somebody whose certificate nothing has proved.
        .where('s.proved_at', 'is not', null)
        .orderBy('l.service')
        .execute()
      const data = []
      for (const { id, service, until } of lines)
        data.push({ servico: serviceOf(service), meses: (await readCompleteness(ctx, id, until)).map(toMonth) })
      return { data }
    })
  }),
]

function toMonth(month: Month): CompletenessMonth {
  return {
    mes: month.month,
    nsuInicial: month.from === null ? null : String(month.from),
    nsuFinal: month.to === null ? null : String(month.to),
    documentos: month.documents,
    semDocumento: month.passedOver,
    consultas: month.queries,
    semResposta: month.unanswered,
    lacunas: month.gaps.map((gap) => ({
      de: String(gap.from),
      ate: String(gap.to),
      descobertaEm: gap.foundAt.toISOString(),
      motivo: gap.why,
      recuperadas: gap.fetched,
      perdidas: gap.lost,
      faltam: gap.missing,
    })),
  }
}
