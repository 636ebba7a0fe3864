import { sql } from 'kysely'
import { keyPurpose } from '../companies/companies.ts'
import type { Context } from '../platform/context.ts'
import { enterWorkspace, inCapture } from '../platform/database.ts'
import type { Line } from './lease.ts'

/** Who speaks for a CNPJ in a query. */
export interface Holder {
  workspaceId: number
  companyId: number
  /** The certificate was shown to be real before. */
  proved: boolean
  uf: number
  certificate: { key: string; certificate: string; chain: string[] }
}

/**
 * Of all who hold a certificate for this CNPJ, the one to ask with: first whoever has not been proved yet, because an answer of the
 * authority proves it; then the one that is valid longest. Null when none is valid any more.
 */
export async function findHolder(ctx: Pick<Context, 'db' | 'vault'>, line: Pick<Line, 'id'>): Promise<Holder | null> {
  return inCapture(ctx, async (ctx) => {
    const { rows: subscriptions } = await sql<{ workspaceId: number; companyId: number; proved: boolean }>`
      select workspace_id as "workspaceId", company_id as "companyId", proved_at is not null as proved
        from capture_subscription
       where line_id = ${line.id} and (refused_at is null or refused_at < now() - interval '1 day')`.execute(ctx.db)
    const found = []
    for (const subscription of subscriptions) {
      const { workspaceId, companyId } = subscription
      await enterWorkspace(ctx, workspaceId)
      const row = await ctx.db
        .selectFrom('certificate as k')
        .innerJoin('company as c', (join) =>
          join.onRef('c.workspace_id', '=', 'k.workspace_id').onRef('c.id', '=', 'k.company_id'),
        )
        .select(['k.valid_to', 'k.certificate_pem', 'k.chain_pem', 'k.key_encrypted', 'c.uf'])
        .where('k.workspace_id', '=', workspaceId)
        .where('k.company_id', '=', companyId)
        .where('k.replaced_at', 'is', null)
        .where('k.valid_to', '>', sql<Date>`now()`)
        .executeTakeFirst()
      if (row) found.push({ ...subscription, ...row })
    }
    const best = found.sort(
      (a, b) => Number(a.proved) - Number(b.proved) || b.valid_to.getTime() - a.valid_to.getTime(),
    )[0]
    if (!best) return null
    const { workspaceId, companyId, proved, uf } = best
    const key = ctx.vault.decrypt(best.key_encrypted, keyPurpose(workspaceId, companyId))
    return {
      workspaceId,
      companyId,
      proved,
      uf,
      certificate: { key, certificate: best.certificate_pem, chain: best.chain_pem },
    }
  })
}

/** The authority answered to this certificate: its holder may receive. `ctx.db` is a transaction of the capture. */
export async function proveHolder({ db }: Pick<Context, 'db'>, line: Pick<Line, 'id'>, holder: Holder): Promise<void> {
  if (holder.proved) return
  await db
    .updateTable('capture_subscription')
    .set({ proved_at: sql<Date>`now()`, refused: null, refused_at: null })
    .where('line_id', '=', line.id)
    .where('workspace_id', '=', holder.workspaceId)
    .where('company_id', '=', holder.companyId)
    .execute()
  holder.proved = true
}

/** The authority did not accept a certificate that nothing had proved: others go on without it. */
export async function refuseHolder(
  ctx: Pick<Context, 'db'>,
  line: Pick<Line, 'id'>,
  holder: Holder,
  why: string,
): Promise<void> {
  await inCapture(ctx, ({ db }) =>
    db
      .updateTable('capture_subscription')
      .set({ refused: why, refused_at: sql<Date>`now()` })
      .where('line_id', '=', line.id)
      .where('workspace_id', '=', holder.workspaceId)
      .where('company_id', '=', holder.companyId)
      .execute(),
  )
}
