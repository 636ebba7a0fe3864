import { type RawBuilder, sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'

/** Channel with the public ids of ended sessions; SQL `forget_old_access` notifies on it, too. */
export const sessionChannel = 'vigia_session'

/**
 * Ends the sessions of a workspace that meet `condition`, and has the connections that they opened closed when the transaction commits.
 * Returns from where they were used. Nothing else may delete sessions.
 */
export async function deleteSessions(
  { db }: WithDatabase,
  workspaceId: number,
  condition: RawBuilder<unknown>,
): Promise<{ address: string | null; agent: string | null }[]> {
  const { rows } = await sql<{ publicId: string; address: string | null; agent: string | null }>`
    delete from session where workspace_id = ${workspaceId} and ${condition}
    returning public_id as "publicId", address, agent`.execute(db)
  await closeConnections({ db }, rows)
  return rows
}

/**
 * Closes the connections of a person's pages, or of all of a workspace, when the transaction commits; the pages open them again and are judged anew.
 * `ctx.db` is inside the workspace.
 */
export async function reconnect({ db }: WithDatabase, workspaceId: number, accountId: number | null): Promise<void> {
  const { rows } = await sql<{ publicId: string }>`
    select public_id as "publicId" from session
     where workspace_id = ${workspaceId} and (${accountId}::int is null or account_id = ${accountId})`.execute(db)
  await closeConnections({ db }, rows)
}

async function closeConnections({ db }: WithDatabase, sessions: readonly { publicId: string }[]): Promise<void> {
  if (sessions.length === 0) return
  const publicIds = sessions.map(({ publicId }) => publicId)
  // Beside no table: it has to be told where all processes listen, not where the rows are.
  await sql`select pg_notify(${sessionChannel}, id) from unnest(${publicIds}::text[]) id`.execute(db)
}
