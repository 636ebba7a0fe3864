import { cnpjBase } from '@vigia/dfe/cnpj'
import { sql } from 'kysely'
import { takeCertificate } from '../companies/companies.ts'
import type { Context } from '../platform/context.ts'
import { enterWorkspace, inCapture } from '../platform/database.ts'
import { serviceOf } from '../platform/service.ts'
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

/** What a certificate is taken out of the vault for, as its owner reads it. */
export type Purpose =
  | 'consultar documentos (distNSU)'
  | 'buscar documentos que faltam (consNSU)'
  | 'conferir o acesso (consNSU)'

const webServices = { nfe: 'NFeDistribuicaoDFe', cte: 'CTeDistribuicaoDFe' }

/**
 * Of all who hold a certificate for this CNPJ, or for its matriz or another filial, the one to ask with: first whoever has not been
 * proved yet, because an answer of the authority proves it; then the one that is valid longest. Only its key is opened. Null when none is
 * valid any more.
 */
export async function findHolder(
  ctx: Pick<Context, 'db' | 'vault'>,
  line: Pick<Line, 'id' | 'service' | 'cnpj'>,
  purpose: Purpose,
): Promise<Holder | null> {
  return inCapture(ctx, async (ctx) => {
    const [best] = await listCandidates(ctx, line)
    if (!best) return null
    const { workspaceId, companyId, proved, uf } = best
    await enterWorkspace(ctx, workspaceId)
    const use = { service: webServices[serviceOf(line.service)], purpose }
    const taken = await takeCertificate(ctx, workspaceId, line.cnpj, use)
    return taken && { workspaceId, companyId, proved, uf, certificate: taken.certificate }
  })
}

// Best first.
async function listCandidates({ db }: Pick<Context, 'db'>, line: Pick<Line, 'id' | 'cnpj'>) {
  const { rows: subscriptions } = await sql<{ workspaceId: number; companyId: number; proved: boolean }>`
    select workspace_id as "workspaceId", company_id as "companyId", proved_at is not null as proved
      from capture_subscription
     where line_id = ${line.id} and (refused_at is null or refused_at < now() - interval '1 day')`.execute(db)
  const found = []
  for (const subscription of subscriptions) {
    const { workspaceId, companyId } = subscription
    await enterWorkspace({ db }, workspaceId)
    const row = await db
      .selectFrom('company as c')
      .innerJoin('certificate as k', 'k.workspace_id', 'c.workspace_id')
      .select(['c.uf', sql<Date>`max(k.valid_to)`.as('validTo')])
      .where('c.workspace_id', '=', workspaceId)
      .where('c.id', '=', companyId)
      .where(sql`left(k.holder_cnpj, 8)`, '=', cnpjBase(line.cnpj))
      .where('k.replaced_at', 'is', null)
      .where('k.valid_from', '<=', sql<Date>`now()`)
      .where('k.valid_to', '>', sql<Date>`now()`)
      .groupBy('c.uf')
      .executeTakeFirst()
    if (row) found.push({ ...subscription, ...row })
  }
  return found.sort((a, b) => Number(a.proved) - Number(b.proved) || b.validTo.getTime() - a.validTo.getTime())
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
