import { formatInteger } from '@vigia/contract/text'
import type { getPlan } from '@vigia/contract/workspace'
import { sql } from 'kysely'
import { findWorkspaceOf, readPlan, standing, type WorkspacePlan } from '../../accounts/plans.ts'
import { countCompanies } from '../../companies/companies.ts'
import type { WithConfig, WithDatabase } from '../../platform/context.ts'
import { asOperator, countRows, readWorkspace } from '../../platform/database.ts'
import type { DataOf } from '../../platform/http/http.ts'

const month = sql`date_trunc('month', now() at time zone 'America/Sao_Paulo')`

/** How many documents arrived in this month of São Paulo; `ctx.db` is inside the workspace. */
export function countArrivals({ db }: WithDatabase, workspaceId: number): Promise<number> {
  const since = sql`${month} at time zone 'America/Sao_Paulo'`
  return countRows(db, sql`from document where workspace_id = ${workspaceId} and created_at >= ${since}`)
}

export async function thisMonth({ db }: WithDatabase): Promise<string> {
  const { rows } = await sql<{ month: string }>`select to_char(${month}, 'YYYY-MM') as month`.execute(db)
  return rows[0]!.month
}

const situations = { trial: 'teste', active: 'ativo', ended: 'encerrado' } as const

/** The plan of a workspace and its use, as its people see them. */
export async function describePlan(ctx: WithConfig, workspaceId: number): Promise<DataOf<typeof getPlan>> {
  return readWorkspace(ctx, workspaceId, async (ctx) => {
    const plan = await readPlan(ctx, workspaceId)
    const companies = await countCompanies(ctx, workspaceId)
    const arrived = await countArrivals(ctx, workspaceId)
    const sentences = [standing(plan, ctx.config)]
    if (plan.companiesMax !== null && companies > plan.companiesMax)
      sentences.push(
        `Há ${companies} empresas cadastradas, mais do que o plano permite: todas continuam como estão, e novas não podem ser cadastradas.`,
      )
    if (plan.documentsPerMonthMax !== null && arrived > plan.documentsPerMonthMax)
      sentences.push(
        `Chegaram ${formatInteger(arrived)} documentos neste mês, mais do que os ${formatInteger(plan.documentsPerMonthMax)} do plano: todos estão guardados, e os próximos também serão.`,
      )
    return {
      tipoPlano: plan.type,
      nome: plan.name,
      situacao: situations[plan.situation],
      mensagem: sentences.join(' '),
      testeAte: plan.trialUntil,
      pagoAte: plan.paidUntil,
      capturaPausada: plan.pausedAt !== null,
      empresas: { usadas: companies, limite: plan.companiesMax },
      documentosNoMes: { usadas: arrived, limite: plan.documentsPerMonthMax },
    }
  })
}

interface ListedPlan {
  plan: WorkspacePlan
  name: string
  emails: string[]
  companies: number
}

export async function listPlans(ctx: WithConfig): Promise<ListedPlan[]> {
  const workspaces = await asOperator(ctx, ({ db }) => db.selectFrom('workspace').select('id').orderBy('id').execute())
  const listed: ListedPlan[] = []
  for (const { id } of workspaces) listed.push(await readListed(ctx, id))
  return listed
}

export async function findPlan(ctx: WithConfig, email: string): Promise<ListedPlan | null> {
  const workspaceId = await findWorkspaceOf(ctx, email)
  return workspaceId === null ? null : readListed(ctx, workspaceId)
}

async function readListed(ctx: WithConfig, id: number): Promise<ListedPlan> {
  return readWorkspace(ctx, id, async ({ db }) => {
    const { name } = await db.selectFrom('workspace').select('name').where('id', '=', id).executeTakeFirstOrThrow()
    const { rows } = await sql<{ email: string }>`
      select email from account where workspace_id = ${id} order by id`.execute(db)
    const emails = rows.map(({ email }) => email)
    return { plan: await readPlan({ ...ctx, db }, id), name, emails, companies: await countCompanies({ db }, id) }
  })
}
