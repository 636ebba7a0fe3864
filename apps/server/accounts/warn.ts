import { sql } from 'kysely'
import type { WithConfig } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { queueMail } from '../platform/mail/mail.ts'
import { isWrittenTo } from './email-proof.ts'

/** A warning that the people of a workspace get once. */
interface Warning {
  /** The subject, used once in a workspace. */
  key: string
  /** Names the writer of the letter. */
  kind: string
  payload?: object
  /** Afterwards the letter would only confuse. */
  usefulMs?: number
}

/**
 * Mails a warning to the people who may act on it and whose e-mail is confirmed, unless its key was
 * used before. Returns whether it was new. Without such people the key stays unused: an unconfirmed
 * address may belong to a stranger.
 */
export async function warn(
  { db, config }: WithConfig,
  workspaceId: number,
  { key, ...letter }: Warning,
): Promise<boolean> {
  return inWorkspace({ db }, workspaceId, async (ctx) => {
    // Somebody who only looks mends nothing, and a letter may name any company. A workspace that leaves needs no warning.
    const { rows: accounts } = await sql<{ email: string }>`
      select a.email from account a join workspace w on w.id = a.workspace_id
       where a.workspace_id = ${workspaceId} and ${isWrittenTo({ config })} and a.role in ('administrador', 'fiscal')
         and a.all_companies and (a.access_until is null or a.access_until > now()) and w.erase_at is null
       order by a.id`.execute(ctx.db)
    if (accounts.length === 0) return false
    const { rows } = await sql`
      insert into notice (workspace_id, key) values (${workspaceId}, ${key}) on conflict do nothing
       returning key`.execute(ctx.db)
    if (rows.length === 0) return false
    for (const { email } of accounts) await queueMail(ctx, { ...letter, workspaceId, recipient: email })
    return true
  })
}
