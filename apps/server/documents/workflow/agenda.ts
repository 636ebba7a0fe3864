import { agendaDays, type Due, listDue } from '@vigia/contract/agenda'
import { families } from '@vigia/dfe/families/all'
import { answerOf } from '@vigia/dfe/families/lookup'
import { sql } from 'kysely'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import { companyNameIn } from '../../companies/topics.ts'
import type { WithDatabase } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { handle } from '../../platform/http/http.ts'
import { dueUntil } from '../due.ts'
import { all } from '../list/filter.ts'

export const agendaRoutes = [
  handle(listDue, async (ctx, { session }) => ({
    data: await readWorkspace(ctx, session.workspaceId, (ctx) => readDue(ctx, session.workspaceId, listed)),
  })),
]

/** Answers that are due, in the words that a person reads. */
export const dueWords: Record<Due['para'], { title: string; one: string; many: string }> = {
  ciencia: { title: 'Ciência da Operação', one: 'nota', many: 'notas' },
  manifestacao: { title: 'Resposta final', one: 'nota', many: 'notas' },
  desacordo: { title: 'Prestação em Desacordo', one: 'CT-e', many: 'CT-e' },
}

// All companies that `ctx.db` shows.
const listed = { days: agendaDays, companies: null }

/** The next answers by the day until which they can be given, of so many days with today and of these companies (null: all). */
export async function readDue(
  { db }: WithDatabase,
  workspaceId: number,
  { days, companies }: { days: number; companies: readonly number[] | null },
): Promise<Due[]> {
  const now = new Date()
  const chosen = companies === null ? [] : [sql`d.company_id = any (${companies}::int[])`]
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const due: Due[] = []
  for (const { id, code: type } of families) {
    const { rows } = await sql<Omit<Due, 'tipoDFe' | 'para'> & { answer: number }>`
      select u.day::text as dia, u.answer, sum(u.n)::int as "totalDeItens", sum(u.amount)::float8 as "valorTotal", count(*)::int as "totalDeEmpresas",
             (array_agg(c.name order by c.name))[1:3] as empresas
        from (select (d.answer_due_at at time zone 'America/Sao_Paulo')::date as day, d.answer_due as answer, d.company_id, count(*) as n, sum(d.amount) as amount
                from document d
               where ${all([dueUntil(workspaceId, type, endOf(now, days), now), ...chosen, ...shown])}
               group by 1, 2, 3) u
        join (select c.id, ${companyNameIn(workspaceId)} as name from company c where c.workspace_id = ${workspaceId} and c.active) c
          on c.id = u.company_id
       group by u.day, u.answer order by u.day, u.answer desc`.execute(db)
    due.push(...rows.map(({ answer, ...row }) => ({ ...row, tipoDFe: type, para: answerOf(id, answer)!.due! })))
  }
  return due
}

// The first moment after the last day that is listed. São Paulo has been three hours behind since 2019.
function endOf(now: Date, days: number): Date {
  const here = new Date(now.getTime() - 3 * 3_600_000)
  return new Date(Date.UTC(here.getUTCFullYear(), here.getUTCMonth(), here.getUTCDate() + days, 3))
}
