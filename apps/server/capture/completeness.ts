import { type CompletenessMonth, getCompleteness } from '@vigia/contract/completeness'
import { sql } from 'kysely'
import { getCompanyId } from '../companies/companies.ts'
import type { Context } from '../platform/context.ts'
import { inCapture, readWorkspace } from '../platform/database.ts'
import { handle } from '../platform/http.ts'
import { type Service, serviceOf } from '../platform/service.ts'
import { wasAnswerLost } from './ledger.ts'
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

/** The months of a conversation as its ledger tells them, oldest first. `ctx.db` is a transaction that sees the line. */
export async function readCompleteness({ db }: Pick<Context, 'db'>, lineId: number): Promise<Month[]> {
  // A page says from where to where it goes. Before the first one begins what the authority still keeps: nothing was passed over there.
  const { rows } = await sql<Omit<Month, 'gaps'>>`
    with call as (
      select *, to_char(at at time zone 'America/Sao_Paulo', 'YYYY-MM') as month,
             query = 'distNSU' and c_stat in (137, 138) and nsu_after > nsu_before as is_page,
             query = 'consNSU' and exists (select 1 from capture_call g
                                            where g.line_id = c.line_id and g.id < c.id and g.query = 'distNSU' and g.c_stat = 656
                                              and g.nsu_before < c.nsu_before and c.nsu_before <= g.nsu_after) as fills
        from capture_call c where line_id = ${lineId})
    select month, min(nsu_before) filter (where is_page) + 1 as "from", max(nsu_after) filter (where is_page) as "to",
           coalesce(sum(documents) filter (where c_stat = 138 and (query = 'distNSU' or fills)), 0)::int as documents,
           coalesce(sum(greatest(nsu_after - nsu_before - documents, 0)) filter (where is_page and nsu_before > 0), 0)::int as "passedOver",
           count(*)::int as queries, (count(*) filter (where c_stat is null))::int as unanswered
      from call group by month order by month`.execute(db)
  const gaps = await readGaps({ db }, lineId)
  return rows.map((row) => ({ ...row, gaps: gaps.filter((gap) => gap.month === row.month).map(withoutMonth) }))
}

async function readGaps({ db }: Pick<Context, 'db'>, lineId: number): Promise<(Gap & { month: string })[]> {
  const { rows } = await sql<
    Pick<Gap, 'from' | 'to' | 'foundAt' | 'fetched' | 'lost'> & { id: bigint; month: string; xMotivo: string }
  >`
    select g.id, g.at as "foundAt", to_char(g.at at time zone 'America/Sao_Paulo', 'YYYY-MM') as month, g.x_motivo as "xMotivo",
           g.nsu_before + 1 as "from", g.nsu_after as "to", f.fetched, f.lost
      from capture_call g,
           lateral (select (count(distinct nsu_before) filter (where c_stat = 138))::int as fetched,
                           (count(distinct nsu_before) filter (where c_stat = 137))::int as lost
                      from capture_call where line_id = g.line_id and query = 'consNSU' and id > g.id
                       and nsu_before > g.nsu_before and nsu_before <= g.nsu_after) f
     where g.line_id = ${lineId} and g.query = 'distNSU' and g.c_stat = 656 and g.nsu_after > g.nsu_before
     order by g.id`.execute(db)
  const gaps = []
  for (const { id, xMotivo, ...row } of rows) {
    const cause = blockCause(await wasAnswerLost({ db }, { id: lineId }, id))
    const missing = Number(row.to - row.from + 1n) - row.fetched - row.lost
    gaps.push({ ...row, why: `${cause} (${xMotivo})`, missing })
  }
  return gaps
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
        .select(['l.id', 'l.service'])
        .where('s.workspace_id', '=', session.workspaceId)
        .where('s.company_id', '=', companyId)
        // What others received for the CNPJ is not for somebody whose certificate nothing has proved.
        .where('s.proved_at', 'is not', null)
        .orderBy('l.service')
        .execute()
      const data = []
      for (const { id, service } of lines)
        data.push({ servico: serviceOf(service), meses: (await readCompleteness(ctx, id)).map(toMonth) })
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
