import { cte } from '@vigia/dfe/families/cte'
import type { Family } from '@vigia/dfe/families/family'
import { nfe } from '@vigia/dfe/families/nfe'
import { status } from '@vigia/dfe/families/statuses'
import { type RawBuilder, sql } from 'kysely'
import { hidesAnything, isShown } from '../../companies/switches.ts'
import { dueUntil } from '../../documents/due.ts'
import type { Mark } from '../../documents/list/filter.ts'
import { countOverdue } from '../../documents/workflow/installments.ts'
import { markCondition } from '../../documents/workflow/remarks.ts'
import { countAsked } from '../../events/asked.ts'
import type { WithDatabase } from '../../platform/context.ts'
import { jsonTime, readWorkspace } from '../../platform/database.ts'
import type { ServiceCode } from '../../platform/service.ts'
import { countOpen } from '../alerts/states.ts'
import { type Question, sumFindings } from '../freight/freight.ts'

// Dates and large numbers are texts in there.
interface Counts {
  companies: {
    publicId: string
    name: string
    active: boolean
    nfe: number
    cte: number
    cancelledNfe: number
    cancelledCte: number
    /** In reais. */
    amountNfe: number
    amountCte: number
    /** Values of the month before. */
    before: { nfe: number; cte: number; amountNfe: number; amountCte: number }
  }[]
  latest: { id: string; tipoDfe: number; nomeEmitente: string; chaveDfe: string; dataCadastro: string }[]
  today: string
  /** Documents whose next answer can be given until the end of tomorrow at most. */
  due: { nfe: number; cte: number }
  /** Documents that changed after somebody relied on them. */
  altered: { nfe: number; cte: number }
  /** NF-e for which a rule suggests the Confirmação, and the Desconhecimento. */
  confirm: number
  disown: number
  /** By day of issue: NF-e of the last 90 days, and CT-e of the month. */
  counted: { type: ServiceCode; day: string; n: number; summaries: number; acknowledged: number }[]
}

const today = sql`(now() at time zone 'America/Sao_Paulo')::date`
const thisMonth = sql`date_trunc('month', now() at time zone 'America/Sao_Paulo')::date`
const lastMonth = sql`(${thisMonth} - interval '1 month')::date`
const since = sql`(${today} - 89)`

/** Month, waiting answers and today's arrivals of a workspace without hidden documents, by days of São Paulo. */
export async function readDashboard(ctx: WithDatabase, workspaceId: number) {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<Counts>`
      select (select coalesce(json_agg(r), '[]') from (${byCompany(workspaceId)}) r) as companies,
             (select coalesce(json_agg(r), '[]') from (${latestOfToday(workspaceId)}) r) as latest,
             ${today}::text as today,
             ${fields({ nfe: countDue(workspaceId, nfe.code), cte: countDue(workspaceId, cte.code) })} as due,
             ${fields({ nfe: countMarked(workspaceId, nfe.code, 'mudaram-depois'), cte: countMarked(workspaceId, cte.code, 'mudaram-depois') })} as altered,
             ${countMarked(workspaceId, nfe.code, 'confirmacao-sugerida')} as confirm,
             ${countMarked(workspaceId, nfe.code, 'desconhecimento-preparado')} as disown,
             (select coalesce(json_agg(r), '[]') from (${byDay(workspaceId)}) r) as counted`.execute(db)
    const { today: last, counted, ...counts } = rows[0]!
    const sum = (column: 'summaries' | 'acknowledged') => counted.reduce((total, row) => total + row[column], 0)
    const on = (type: ServiceCode, day: string) => counted.find((row) => row.type === type && row.day === day)?.n ?? 0
    return {
      ...counts,
      days: daysUntil(last).map((day) => ({ day, nfe: on(nfe.code, day), cte: on(cte.code, day) })),
      summaries: sum('summaries'),
      acknowledged: sum('acknowledged'),
      asked: await countAsked({ db }, workspaceId),
      alerts: (await countOpen({ db }, workspaceId)).bands,
      overdue: await countOverdue({ db }, workspaceId),
      // CT-e of this month and the two before with an open finding.
      freight: (await sumFindings({ db }, workspaceId, lastMonths(last))).total.totalDeItens,
    }
  })
}

function lastMonths(day: string): Question {
  const [year = 0, month = 1] = day.split('-').map(Number)
  const from = new Date(Date.UTC(year, month - 3, 1)).toISOString().slice(0, 7)
  return { from, to: day.slice(0, 7), companyId: undefined, carrier: '', code: undefined, state: 'abertos' }
}

function daysUntil(day: string): string[] {
  return Array.from({ length: Number(day.slice(8)) }, (_, n) => day.slice(0, 8) + String(n + 1).padStart(2, '0'))
}

// From the counters of the two months; where most came from first.
const byCompany = (workspaceId: number) => {
  const sum = (month: RawBuilder<unknown>, { code }: Family, counted = sql`m.n`, rest = sql``) =>
    sql`coalesce(sum(${counted}) filter (where m.type = ${code} and m.month = ${month} ${rest}), 0)`
  const sums = (month: RawBuilder<unknown>) => ({
    nfe: sum(month, nfe),
    cte: sum(month, cte),
    amountNfe: sum(month, nfe, sql`m.amount`),
    amountCte: sum(month, cte, sql`m.amount`),
  })
  const now = sums(thisMonth)
  const cancelled = (family: Family) => sum(thisMonth, family, undefined, sql`and m.status = ${status.cancelled}`)
  return sql`
  select c.public_id as "publicId", c.name, c.active, ${now.nfe} as nfe, ${now.cte} as cte, ${now.amountNfe} as "amountNfe", ${now.amountCte} as "amountCte",
         ${cancelled(nfe)} as "cancelledNfe", ${cancelled(cte)} as "cancelledCte", ${fields(sums(lastMonth))} as before
    from company c
    left join count_month m on m.workspace_id = c.workspace_id and m.company_id = c.id and m.type in (${nfe.code}, ${cte.code})
         and m.month in (${lastMonth}, ${thisMonth}) and ${isShown(workspaceId, 'm')}
   where c.workspace_id = ${workspaceId}
   group by c.workspace_id, c.id order by coalesce(sum(m.n) filter (where m.month = ${thisMonth}), 0) desc, c.search, c.id`
}

const fields = (values: Record<string, RawBuilder<unknown>>) =>
  sql`json_build_object(${sql.join(Object.entries(values).flatMap(([name, value]) => [sql.lit(name), value]))})`

// Archived companies need no answers.
const archived = (workspaceId: number) => sql`(
  select coalesce(array_agg(id), '{}') from company where workspace_id = ${workspaceId} and not active)::int[]`

// The switches are looked up only where something is hidden at all: a join costs as much as the counting.
const shown = (workspaceId: number) => sql`(not ${hidesAnything(workspaceId)} or ${isShown(workspaceId, 'd')})`

const countDue = (workspaceId: number, type: ServiceCode) => sql`(
  select count(*)::int from document d
   where ${dueUntil(workspaceId, type, endOfTomorrow())}
     and d.company_id <> all (${archived(workspaceId)})
     and ${shown(workspaceId)})`

const countMarked = (workspaceId: number, type: ServiceCode, mark: Mark) => sql`(
  select count(*)::int from document d
   where d.workspace_id = ${workspaceId} and d.type = ${type} and ${markCondition(workspaceId, mark)}
     and d.company_id <> all (${archived(workspaceId)})
     and ${shown(workspaceId)})`

// São Paulo has been three hours behind since 2019.
function endOfTomorrow(): Date {
  const here = new Date(Date.now() - 3 * 3_600_000)
  return new Date(Date.UTC(here.getUTCFullYear(), here.getUTCMonth(), here.getUTCDate() + 2, 3))
}

// Whether a company hides it is looked up document by document, in the order of arrival: there are ten of them.
const latestOfToday = (workspaceId: number) => sql`
  select d.id::text, d.type as "tipoDfe", s.name as "nomeEmitente", d.chave as "chaveDfe", ${jsonTime(sql`d.created_at`)} as "dataCadastro"
    from (select d.id, d.type, d.supplier_id, d.chave, d.created_at from document d
           where d.workspace_id = ${workspaceId}
             and d.created_at >= date_trunc('day', now() at time zone 'America/Sao_Paulo') at time zone 'America/Sao_Paulo'
             and ${isShown(workspaceId, 'd')}
           order by d.created_at desc, d.id desc limit 10) d
    join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
   order by d.created_at desc, d.id desc`

// Documents of this month by type and day, and waiting NF-e of 90 days. Each day is a range of a covering index.
const byDay = (workspaceId: number) => {
  const waits = (code: number) =>
    sql`count(*) filter (where type = ${nfe.code} and status = ${code} and company_id <> all (${archived(workspaceId)}))`
  return sql`
    select t.type, g.day::date as day, counted.*
      from unnest(${[nfe.code, cte.code]}::smallint[]) t (type)
      join generate_series(${since}::timestamp, ${today}::timestamp, interval '1 day') g (day) on t.type = ${nfe.code} or g.day >= ${thisMonth}
     cross join lateral (
       select count(*) as n, ${waits(status.summary)} as summaries, ${waits(status.acknowledged)} as acknowledged from document d
        where workspace_id = ${workspaceId} and d.type = t.type and issued_at >= g.day and issued_at < g.day + interval '1 day' and ${shown(workspaceId)}) counted`
}
