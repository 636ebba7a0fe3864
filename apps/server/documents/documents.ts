import type { Database } from '../platform/context.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { type Made, type RebuildContext, type Rebuilt, rebuildProjection } from './rebuild.ts'
import type { Recipient } from './receive.ts'

/** Rebuilds every company, one after the other. */
export async function rebuildAll(
  ctx: RebuildContext,
  done: (company: Recipient, rebuilt: Rebuilt, place: number, of: number) => void,
  made?: Made,
): Promise<void> {
  // A company that received anything has a subscription.
  const workspaces = await inCapture({ db: ctx.db }, ({ db }) =>
    db.selectFrom('capture_subscription').select('workspace_id').distinct().orderBy('workspace_id').execute(),
  )
  const companies: Recipient[] = []
  for (const { workspace_id } of workspaces)
    companies.push(...(await inWorkspace({ db: ctx.db }, workspace_id, ({ db }) => listCompanies(db, workspace_id))))
  for (const [index, company] of companies.entries())
    done(company, await rebuildProjection(ctx, company, made), index + 1, companies.length)
}

async function listCompanies(db: Database, workspaceId: number): Promise<Recipient[]> {
  const rows = await db
    .selectFrom('company')
    .select(['id', 'cnpj'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('id')
    .execute()
  return rows.map(({ id, cnpj }) => ({ workspaceId, companyId: id, cnpj }))
}
