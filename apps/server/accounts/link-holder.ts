import type { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { Context, WithDatabase } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { repeat } from '../platform/jobs/loop.ts'

/** Session or API key (by public id) of a workspace that requested a link usable without login. */
export interface Holder {
  workspaceId: number
  publicId: string
}

/** Scope of the data behind a link. */
export interface Led {
  /** Companies that it covers; null: all. */
  companies: readonly number[] | null
  /** For administrators only. */
  whole?: boolean
}

const lookEveryMs = 2_000
const downloadMsMax = 3_600_000

// Reduced rights apply to everything fetched after the change.
async function isHeld(
  ctx: WithDatabase,
  { workspaceId, publicId }: Holder,
  { companies, whole }: Led,
): Promise<boolean> {
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{ role: string | null; shown: number[] | null }>`
      select a.role, case when not a.all_companies then array(
               select c.company_id from account_company c where c.workspace_id = ${workspaceId}::int and c.account_id = a.id) end as shown
        from session s join account a on a.workspace_id = s.workspace_id and a.id = s.account_id
       where s.workspace_id = ${workspaceId} and s.public_id = ${publicId}::uuid and s.expires_at > now()
         and (a.access_until is null or a.access_until > now())
      union all
      select null, k.company_ids from api_key k
       where k.workspace_id = ${workspaceId} and k.public_id = ${publicId}::uuid and k.token_hash is not null
         and (k.expires_at is null or k.expires_at > now())`.execute(db),
  )
  const [holder] = rows
  if (!holder || (whole && holder.role !== 'administrador')) return false
  const { shown } = holder
  return shown === null || (companies?.every((id) => shown.includes(id)) ?? false)
}

/** Refuses a link whose session or key has ended since it was asked for, or may see less. */
export async function requireHolder(ctx: WithDatabase, holder: Holder, led: Led): Promise<void> {
  if (await isHeld(ctx, holder, led)) return
  throw new AppError(
    'gone',
    'O login ou a chave de API com que este link foi pedido terminou, ou pode menos agora, e o link não vale mais. Tudo continua guardado: entre de novo e peça outro.',
  )
}

/** Breaks `content` off after an hour, or within seconds after the session or key ends that asked for it, or may see less, until disposed. */
export function endWithHolder(
  ctx: Pick<Context, 'db' | 'log'>,
  holder: Holder,
  led: Led,
  content: Readable,
): AsyncDisposable {
  const until = performance.now() + downloadMsMax
  const look = async () => {
    if (content.destroyed) return
    if (performance.now() > until) content.destroy(new Error('a download took too long'))
    else if (!(await isHeld(ctx, holder, led))) content.destroy()
  }
  return repeat(lookEveryMs, look, ctx.log)
}
