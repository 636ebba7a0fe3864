import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { queueMail } from '../platform/mail.ts'

/** Something that the people of a workspace are told once. */
export interface Warning {
  /** What they are told of; the same key is never told twice. */
  key: string
  /** Who writes the letter. */
  kind: string
  payload?: object
  /** Afterwards the letter would only confuse. */
  usefulMs?: number
}

/**
 * Tells every account of the workspace that has logged in by e-mail, unless they were told of this before. Returns whether it was new. Where
 * nobody has logged in nothing counts as told: the address may be that of a person who never heard of us.
 */
export async function warn(
  ctx: Pick<Context, 'db'>,
  workspaceId: number,
  { key, ...letter }: Warning,
): Promise<boolean> {
  return inWorkspace(ctx, workspaceId, async (ctx) => {
    const accounts = await ctx.db
      .selectFrom('account')
      .select('email')
      .where('workspace_id', '=', workspaceId)
      .where('entered_at', 'is not', null)
      .orderBy('id')
      .execute()
    if (accounts.length === 0) return false
    const { rows } = await sql`
      insert into notice (workspace_id, key) values (${workspaceId}, ${key}) on conflict do nothing returning key`.execute(
      ctx.db,
    )
    if (rows.length === 0) return false
    for (const { email } of accounts) await queueMail(ctx, { ...letter, workspaceId, recipient: email })
    return true
  })
}
