import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'

const summaryOnly = 1

/** How many notes of each company still wait for their complete document because an automatic Ciência was refused in the last 30 days. */
export async function countRefusedCiencias(
  ctx: Pick<Context, 'db'>,
  workspaceId: number,
): Promise<Map<number, number>> {
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{ companyId: number; n: number }>`
      select o.company_id as "companyId", count(distinct o.document_id)::int as n
        from outgoing_event o join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
       where o.workspace_id = ${workspaceId} and o.state = 'rejected' and o.requested_by is null
         and o.answered_at > now() - interval '30 days' and d.status = ${summaryOnly}::int
       group by o.company_id`.execute(db),
  )
  return new Map(rows.map(({ companyId, n }) => [companyId, n]))
}
