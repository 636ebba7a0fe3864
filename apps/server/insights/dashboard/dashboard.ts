import { writeBrasiliaTime } from '@vigia/contract/text'
import { type Dashboard, getDashboard, getMoney } from '@vigia/contract/workspace'
import { cte } from '@vigia/dfe/families/cte'
import type { Family } from '@vigia/dfe/families/family'
import { nfe } from '@vigia/dfe/families/nfe'
import { status } from '@vigia/dfe/families/statuses'
import { type RawBuilder, sql } from 'kysely'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import { dueCondition } from '../../documents/due.ts'
import type { Mark } from '../../documents/list/filter.ts'
import { countOverdue } from '../../documents/workflow/installments.ts'
import { markCondition } from '../../documents/workflow/remarks.ts'
import { countAsked } from '../../events/approve.ts'
import type { Context, Database } from '../../platform/context.ts'
import { jsonTime, readWorkspace } from '../../platform/database.ts'
import { handle } from '../../platform/http/http.ts'
import { listNotices } from '../../platform/trouble.ts'
import { countOpen } from '../alerts/states.ts'
import { sumFindings } from '../freight/freight.ts'
import { moveMonth } from '../reports/sums.ts'
import { readMoney } from './money.ts'

export const dashboardRoutes = [
  handle(getDashboard, async (ctx, { session: { workspaceId } }) => {
    const dashboard = await readDashboard(ctx, workspaceId)
    const notices = await listNotices(ctx)
    return {
      data: {
        ...dashboard,
        avisos: notices.map(({ text }) => text),
        armazenamentoSaudavel: !notices.some(({ key }) => key === 'espaco'),
        envioRetido: notices.some(({ key }) => key === 'liberacao'),
      },
    }
  }),

  handle(getMoney, 'slow', async (ctx, { session: { workspaceId } }) => ({
    data: await readWorkspace(ctx, workspaceId, (ctx) => readMoney(ctx, workspaceId)),
  })),
]

type OfWorkspace = Omit<Required<Dashboard>, 'avisos' | 'armazenamentoSaudavel' | 'envioRetido'>

const today = sql`(now() at time zone 'America/Sao_Paulo')::date`
const thisMonth = sql`date_trunc('month', now() at time zone 'America/Sao_Paulo')::date`
const lastMonth = sql`(${thisMonth} - interval '1 month')::date`

interface About {
  workspaceId: number
  /** Conditions of `alias`: the switches of its company do not hide it. */
  shown: (alias: string) => RawBuilder<unknown>
}

/** Month, waiting answers and today's arrivals of a workspace without hidden documents, by days of São Paulo. */
export async function readDashboard(ctx: Pick<Context, 'db' | 'ids'>, workspaceId: number): Promise<OfWorkspace> {
  return readWorkspace(ctx, workspaceId, async ({ db, ids }) => {
    const hiding = await readHiding({ db }, workspaceId)
    const about: About = {
      workspaceId,
      shown: (alias) => sql.join([sql`true`, ...shownConditions(hiding, alias)], sql` and `),
    }
    const { now, before, cancelled } = await readMonths(db, about)
    const companies = await readCompanies(db, about)
    const latest = await readLatest(db, about)
    const { days, waiting } = await readDays(db, about)
    const counts = await readCounts(db, about)
    const asked = await countAsked({ db }, workspaceId)
    const alerts = (await countOpen({ db }, workspaceId)).bands
    const month = writeBrasiliaTime(new Date()).slice(0, 7)
    const months = { MesDe: moveMonth(month, -2), MesAte: month }
    const freight = await sumFindings({ db }, workspaceId, { ...months, Estado: 'abertos' })
    return {
      qtdNfe: now.qtdNfe,
      qtdCte: now.qtdCte,
      totalNfeCte: now.qtdNfe + now.qtdCte,
      qtdEmpresasCadastradas: companies.length,
      valorNfe: now.valorNfe,
      valorCte: now.valorCte,
      mesAnterior: before,
      qtdDocumentosPorEmpresa: companies,
      ultimosDocumentosProcessados: latest.map(({ id, ...document }) => ({
        ...document,
        idDfe: ids.encode(workspaceId, id),
      })),
      documentosPorDia: days,
      pendencias: {
        ...waiting,
        ...cancelled,
        ...counts,
        aguardamSegunda: asked,
        alertas: Object.values(alerts).reduce((total, n) => total + n, 0),
        alertasCriticos: alerts.critico,
        alertasAltos: alerts.alto,
        alertasMedios: alerts.medio,
        parcelasVencidas: await countOverdue({ db }, workspaceId),
        fretesAConferir: freight.total.totalDeItens,
      },
    }
  })
}

// Counters of this month and of the one before.
async function readMonths(db: Database, { workspaceId, shown }: About) {
  const { rows } = await sql<{ type: number; now: boolean; n: number; amount: number; cancelled: number }>`
    select m.type, m.month = ${thisMonth} as now, sum(m.n)::int as n, sum(m.amount)::float8 as amount,
           coalesce(sum(m.n) filter (where m.status = ${status.cancelled}), 0)::int as cancelled from count_month m
     where m.workspace_id = ${workspaceId} and m.month in (${thisMonth}, ${lastMonth}) and ${shown('m')} group by 1, 2`.execute(
    db,
  )
  const of = ({ code }: Family, now: boolean) => rows.find((row) => row.type === code && row.now === now)
  const sums = (now: boolean) => ({
    qtdNfe: of(nfe, now)?.n ?? 0,
    qtdCte: of(cte, now)?.n ?? 0,
    valorNfe: of(nfe, now)?.amount ?? 0,
    valorCte: of(cte, now)?.amount ?? 0,
  })
  const cancelled = (family: Family) => of(family, true)?.cancelled ?? 0
  return {
    now: sums(true),
    before: sums(false),
    cancelled: { canceladasNfe: cancelled(nfe), canceladosCte: cancelled(cte) },
  }
}

// The company of most documents of the month comes first.
async function readCompanies(db: Database, { workspaceId, shown }: About) {
  const count = ({ code }: Family) => sql`coalesce(sum(m.n) filter (where m.type = ${code}), 0)::int`
  const { rows } = await sql<OfWorkspace['qtdDocumentosPorEmpresa'][number]>`
    select c.name as "razaoSocial", ${count(nfe)} as "qtdNfe", ${count(cte)} as "qtdCte", ${count(nfe)} + ${count(cte)} as "totalNfeCte",
           c.active as ativa, c.public_id as "idEmpresa", coalesce(sum(m.amount), 0)::float8 as "valorNfeCte"
      from company c
      left join count_month m on m.workspace_id = c.workspace_id and m.company_id = c.id and m.type in (${nfe.code}, ${cte.code})
           and m.month = ${thisMonth} and ${shown('m')}
     where c.workspace_id = ${workspaceId} group by c.workspace_id, c.id order by "totalNfeCte" desc, c.search, c.id`.execute(
    db,
  )
  return rows
}

async function readLatest(db: Database, { workspaceId, shown }: About) {
  const { rows } = await sql<OfWorkspace['ultimosDocumentosProcessados'][number] & { id: bigint }>`
    select d.id, d.type as "tipoDfe", s.name as "nomeEmitente", d.chave as "chaveDfe", ${jsonTime(sql`d.created_at`)} as "dataCadastro"
      from (select d.id, d.type, d.supplier_id, d.chave, d.created_at from document d
             where d.workspace_id = ${workspaceId} and d.created_at >= ${today}::timestamp at time zone 'America/Sao_Paulo' and ${shown('d')}
             order by d.created_at desc, d.id desc limit 10) d
      join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
     order by d.created_at desc, d.id desc`.execute(db)
  return rows
}

// Archived companies need no answers.
const isWanted = (workspaceId: number) =>
  sql`d.company_id <> all (array(select id from company where workspace_id = ${workspaceId} and not active))`

// Documents by day of issue, and waiting NF-e of 90 days. Each day is a range of a covering index.
async function readDays(db: Database, { workspaceId, shown }: About) {
  const waits = (code: number) =>
    sql`(count(*) filter (where d.type = ${nfe.code} and d.status = ${code} and ${isWanted(workspaceId)}))::int`
  const { rows } = await sql<{
    day: string
    type: number
    inMonth: boolean
    n: number
    summaries: number
    acknowledged: number
  }>`
    select g.day::date::text as day, t.type, g.day >= ${thisMonth} as "inMonth", counted.*
      from unnest(${[nfe.code, cte.code]}::smallint[]) t (type)
      join generate_series((${today} - 89)::timestamp, ${today}::timestamp, interval '1 day') g (day) on t.type = ${nfe.code} or g.day >= ${thisMonth}
     cross join lateral (
       select count(*)::int as n, ${waits(status.summary)} as summaries, ${waits(status.acknowledged)} as acknowledged from document d
        where d.workspace_id = ${workspaceId} and d.type = t.type and d.issued_at >= g.day and d.issued_at < g.day + interval '1 day' and ${shown('d')}) counted
     order by 1`.execute(db)
  const byDay = Map.groupBy(
    rows.filter(({ inMonth }) => inMonth),
    ({ day }) => day,
  )
  const count = (some: typeof rows, { code }: Family) => some.find(({ type }) => type === code)?.n ?? 0
  const sum = (column: 'summaries' | 'acknowledged') => rows.reduce((total, row) => total + row[column], 0)
  return {
    days: [...byDay].map(([dia, some]) => ({ dia, qtdNfe: count(some, nfe), qtdCte: count(some, cte) })),
    waiting: { resumos: sum('summaries'), aguardandoResposta: sum('acknowledged') },
  }
}

async function readCounts(db: Database, { workspaceId, shown }: About) {
  const tomorrow = writeBrasiliaTime(new Date(Date.now() + 86_400_000)).slice(0, 10)
  const count = (condition: RawBuilder<unknown>) =>
    sql<number>`(select count(*)::int from document d where ${condition} and ${isWanted(workspaceId)} and ${shown('d')})`
  const due = ({ code }: Family) => count(dueCondition(workspaceId, { TipoDFe: code, PrazoAte: tomorrow }))
  const marked = ({ code }: Family, mark: Mark) =>
    count(sql`d.workspace_id = ${workspaceId} and d.type = ${code} and ${markCondition(workspaceId, mark)}`)
  const counts = {
    vencemNfe: due(nfe),
    vencemCte: due(cte),
    mudaramNfe: marked(nfe, 'mudaram-depois'),
    mudaramCte: marked(cte, 'mudaram-depois'),
    confirmacoesSugeridas: marked(nfe, 'confirmacao-sugerida'),
    desconhecimentosPreparados: marked(nfe, 'desconhecimento-preparado'),
  }
  const { rows } = await sql<Record<keyof typeof counts, number>>`
    select ${sql.join(Object.entries(counts).map(([name, value]) => sql`${value} as ${sql.ref(name)}`))}`.execute(db)
  return rows[0]!
}
