import type { Readable } from 'node:stream'
import { sql } from 'kysely'
import { repeat } from '../jobs/jobs.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'

/** Who asked for a link that itself asks for no login: a session or an API key of a workspace, by its public id. */
export interface Holder {
  workspaceId: number
  publicId: string
}

const lookEveryMs = 2_000

async function isHeld(ctx: WithDatabase, { workspaceId, publicId }: Holder): Promise<boolean> {
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{ held: boolean }>`
      select exists (select from session
                      where workspace_id = ${workspaceId} and public_id = ${publicId}::uuid and expires_at > now())
          or exists (select from api_key
                      where workspace_id = ${workspaceId} and public_id = ${publicId}::uuid and token_hash is not null
                        and (expires_at is null or expires_at > now())) as held`.execute(db),
  )
  return rows[0]!.held
}

/** Refuses a link whose session or key has ended since it was asked for. */
export async function requireHolder(ctx: WithDatabase, holder: Holder): Promise<void> {
  if (await isHeld(ctx, holder)) return
  throw new AppError(
    'gone',
    'O login ou a chave de API com que este link foi pedido terminou, e o link também. Tudo continua guardado: entre de novo e peça outro.',
  )
}

/** Breaks `content` off within seconds after the session or key ends that asked for it, until disposed. */
export function endWithHolder(ctx: Pick<Context, 'db' | 'log'>, holder: Holder, content: Readable): AsyncDisposable {
  const look = async () => {
    if (!content.destroyed && !(await isHeld(ctx, holder))) content.destroy()
  }
  return repeat(lookEveryMs, look, ctx.log)
}
