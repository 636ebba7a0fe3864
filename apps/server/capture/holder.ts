import { sql } from 'kysely'
import { keyPurpose } from '../companies/companies.ts'
import type { Context } from '../platform/context.ts'
import { enterWorkspace, inCapture } from '../platform/database.ts'
import { listSubscribers } from './delivery.ts'
import type { Line } from './lease.ts'

/** Who may speak for a CNPJ. */
export interface Holder {
  uf: number
  certificate: { key: string; certificate: string; chain: string[] }
}

/** Of all who hold a certificate for this CNPJ, the one that is valid longest; null when none is valid any more. */
export async function findHolder(ctx: Pick<Context, 'db' | 'vault'>, line: Line): Promise<Holder | null> {
  return inCapture(ctx, async (ctx) => {
    const found = []
    for (const { workspaceId, companyId } of await listSubscribers(ctx, line)) {
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
      if (row) found.push({ ...row, purpose: keyPurpose(workspaceId, companyId) })
    }
    const best = found.sort((a, b) => b.valid_to.getTime() - a.valid_to.getTime())[0]
    if (!best) return null
    return {
      uf: best.uf,
      certificate: {
        key: ctx.vault.decrypt(best.key_encrypted, best.purpose),
        certificate: best.certificate_pem,
        chain: best.chain_pem,
      },
    }
  })
}
