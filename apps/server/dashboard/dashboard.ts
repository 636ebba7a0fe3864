import { sql } from 'kysely'
import { shownTo } from '../companies/companies.ts'
import type { Context } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'

export interface DashboardData {
  companies: { name: string; active: boolean; nfe: number; cte: number }[]
  latest: { type: number; issuer_name: string; chave: string; created_at: Date }[]
}

// Dates are texts in there.
interface AsJson {
  companies: DashboardData['companies']
  latest: (Omit<DashboardData['latest'][number], 'created_at'> & { created_at: string })[]
}

/** The month of the workspace by company, from the counters, and what arrived today, without what its companies hide; days and months are São Paulo's. */
export async function readDashboard(ctx: Pick<Context, 'db'>, workspaceId: number): Promise<DashboardData> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<AsJson>`
      select (select coalesce(json_agg(r), '[]') from (
                select c.name, c.active, coalesce(sum(m.n) filter (where m.type = 0), 0) as nfe, coalesce(sum(m.n) filter (where m.type = 2), 0) as cte
                  from company c
                  left join count_month m on m.workspace_id = c.workspace_id and m.company_id = c.id
                       and m.type in (0, 2) and m.month = date_trunc('month', now() at time zone 'America/Sao_Paulo')::date
                       and ${shownTo('c', 'm')}
                 where c.workspace_id = ${workspaceId}
                 group by c.workspace_id, c.id order by c.search, c.id) r) as companies,
             (select coalesce(json_agg(r), '[]') from (
                select d.type, s.name as issuer_name, d.chave, d.created_at
                  from document d
                  join company c on c.workspace_id = d.workspace_id and c.id = d.company_id
                  join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
                 where d.workspace_id = ${workspaceId}
                   and d.created_at >= date_trunc('day', now() at time zone 'America/Sao_Paulo') at time zone 'America/Sao_Paulo'
                   and ${shownTo('c', 'd')}
                 order by d.created_at desc, d.id desc limit 10) r) as latest`.execute(db)
    const { companies, latest } = rows[0]!
    return { companies, latest: latest.map((row) => ({ ...row, created_at: new Date(row.created_at) })) }
  })
}
