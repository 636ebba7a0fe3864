import { type CompletenessMonth, downloadUnreadable, getCompleteness } from '@vigia/contract/companies'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { familyById } from '@vigia/dfe/families/lookup'
import { type RawBuilder, sql } from 'kysely'
import { getCompanyId } from '../companies/companies.ts'
import { noteRead } from '../documents/reads.ts'
import { openReceived } from '../documents/received/bytes.ts'
import type { WithDatabase } from '../platform/context.ts'
import { inCapture, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { handle } from '../platform/http/http.ts'
import { type Service, serviceOf } from '../platform/service.ts'
import { readPauses } from './state.ts'
import { findUnreadable, listUnreadable } from './unreadable.ts'

/** Positions that were counted as delivered and did not arrive: when that was found out, why, and what became of them. */
interface MonthGap {
  /** `2026-11`. */
  month: string
  from: bigint
  to: bigint
  foundAt: Date
  why: string
  fetched: number
  /** Expired at the authority. */
  lost: number
  /** The authority passed over them, and has nothing there. */
  empty: number
  missing: number
}

interface CapturedMonth {
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
  gaps: MonthGap[]
}

const monthsMax = 13

/** The last months of a line from its ledger, oldest first; `until`: without later ones. `ctx.db` sees the line. */
export async function readCompleteness({ db }: WithDatabase, lineId: number, until?: Date): Promise<CapturedMonth[]> {
  const told = sql`line_id = ${lineId} and at <= coalesce(${until ?? null}::timestamptz, 'infinity')`
  const since = sql`(select date_trunc('month', at, ${zone}::text) - ${monthsMax - 1} * interval '1 month'
                       from capture_call where ${told} order by id desc limit 1)`
  // A page has its first and last position. The first page begins with the oldest document that the authority keeps, so nothing was passed over
  // before it. Gaps never overlap and a later gap has higher positions, so a position can only be in the last gap that begins below it.
  const { rows } = await sql<Omit<CapturedMonth, 'gaps'>>`
    with call as (
      select *, to_char(at at time zone ${zone}, 'YYYY-MM') as month,
             query = 'page' and answer in ('page', 'end') and nsu_after > nsu_before as is_page,
             cause is not null as is_gap, ${gapBegins} as gap_begins
        from capture_call where ${told} and at >= ${since}),
    placed as (
      select *, query = 'position'
                and nsu_before <= max(nsu_after) filter (where is_gap) over below
                and id >= max(id) filter (where is_gap) over below as fills
        from call window below as (order by case when is_gap then gap_begins else nsu_before end))
    select month, min(nsu_before) filter (where is_page) + 1 as "from", max(nsu_after) filter (where is_page) as "to",
           coalesce(sum(documents) filter (where answer = 'page' and (query = 'page' or fills)), 0)::int as documents,
           coalesce(sum(greatest(coalesce(passed_from - 1, nsu_after) - nsu_before - documents, 0)) filter (where is_page and nsu_before > 0), 0)::float8 as "passedOver",
           count(*)::int as queries, (count(*) filter (where answer in ('lost', 'failed')))::int as unanswered
      from placed group by month order by month`.execute(db)
  const gaps = await readGaps({ db }, lineId, told)
  return rows.map((row) => ({ ...row, gaps: gaps.filter(({ month }) => month === row.month) }))
}

const zone = 'America/Sao_Paulo'

const gapBegins = sql`coalesce(passed_from, nsu_before + 1)`

// `capture_gap` holds the missing and the lost positions of a gap; the others were fetched.
async function readGaps({ db }: WithDatabase, lineId: number, told: RawBuilder<unknown>): Promise<MonthGap[]> {
  const { rows } = await sql<Pick<MonthGap, 'month' | 'from' | 'to' | 'foundAt' | 'why'>>`
    select to_char(at at time zone ${zone}, 'YYYY-MM') as month, at as "foundAt",
           ${gapBegins} as "from", nsu_after as "to", cause || ' (' || x_motivo || ')' as why
      from capture_call
     where ${told} and cause is not null
     order by id`.execute(db)
  const { rows: open } = await sql<{ from_nsu: bigint; to_nsu: bigint; passed: boolean; lost: boolean }>`
    select from_nsu, to_nsu, passed, lost from capture_gap where line_id = ${lineId} order by from_nsu`.execute(db)
  // Both lists ascend, and the ranges within each do not overlap.
  let first = 0
  return rows.map((gap) => {
    const count = { lost: 0, missing: 0, empty: 0 }
    while (first < open.length && open[first]!.to_nsu < gap.from) first++
    for (let place = first; place < open.length && open[place]!.from_nsu <= gap.to; place++)
      count[nameOf(open[place]!)] += overlap(gap, open[place]!)
    const fetched = Number(gap.to - gap.from + 1n) - count.lost - count.missing - count.empty
    return { ...gap, ...count, fetched }
  })
}

const nameOf = ({ lost, passed }: { lost: boolean; passed: boolean }) =>
  lost ? (passed ? 'empty' : 'lost') : 'missing'

function overlap(gap: Pick<MonthGap, 'from' | 'to'>, row: { from_nsu: bigint; to_nsu: bigint }): number {
  const from = row.from_nsu > gap.from ? row.from_nsu : gap.from
  const to = row.to_nsu < gap.to ? row.to_nsu : gap.to
  return Number(to - from + 1n)
}

export async function findCompleteness(
  ctx: WithDatabase,
  cnpj: string,
): Promise<{ service: Service; months: CapturedMonth[] }[]> {
  return inCapture(ctx, async (ctx) => {
    const { rows: lines } = await sql<{ id: number; service: number }>`
      select id, service from capture_line where cnpj = ${cnpj} order by service`.execute(ctx.db)
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
      const pause = (await readPauses(ctx.db, session.workspaceId)).find(({ id }) => id === companyId)
      // A workspace whose certificate is not proved does not learn what other workspaces captured for the same CNPJ.
      const { rows: lines } = await sql<{ id: number; service: number; paused: boolean }>`
        select l.id, l.service, s.paused from capture_subscription s join capture_line l on l.id = s.line_id
         where s.workspace_id = ${session.workspaceId} and s.company_id = ${companyId} and s.proved_at is not null
         order by l.service`.execute(ctx.db)
      const data = []
      for (const { id, service, paused } of lines) {
        // While it is paused it does not learn what others receive.
        const months = await readCompleteness(ctx, id, paused ? pause?.since : undefined)
        const servico = serviceOf(service)
        const { total, files } = await listUnreadable(ctx, session.workspaceId, { service: servico, companyId })
        const naoLidos = files.map(({ nsu, schema, chave, problem, receivedAt }) => ({
          ...{ nsu: String(nsu), esquema: schema, recebidoEm: receivedAt.toISOString(), chave },
          motivo: problem ?? 'O arquivo está guardado, mas não está na lista de documentos.',
        }))
        data.push({ servico, meses: months.map(toMonth), totalNaoLidos: total, naoLidos })
      }
      return { data }
    })
  }),

  handle(downloadUnreadable, async (ctx, { query: { id, servico, nsu }, session, caller }) => {
    const companyId = await getCompanyId(ctx, session.workspaceId, id)
    const wanted = { companyId, service: servico, nsu: BigInt(nsu) }
    const stored = await readWorkspace(ctx, session.workspaceId, (ctx) =>
      findUnreadable(ctx, session.workspaceId, wanted),
    )
    if (!stored) throw new AppError('not-found', 'Arquivo não encontrado. Se ele pôde ser lido depois, está na lista.')
    const name = `${familyById(servico).name}-NSU${nsu}`
    await noteRead(ctx, session, caller, `Baixou o arquivo não lido ${name} da empresa ${formatCnpj(stored.cnpj)}.`)
    try {
      return { content: openReceived(stored.content), fileName: `${name}.xml` }
    } catch {
      return { content: stored.content, fileName: `${name}.gz` }
    }
  }),
]

function toMonth(month: CapturedMonth): CompletenessMonth {
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
      vazias: gap.empty,
      faltam: gap.missing,
    })),
  }
}
