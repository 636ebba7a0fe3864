import { sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import type { Place } from './places.ts'

/**
 * Ends the secret addresses at which calendars read the deadlines and payments of a person, or only that of one kind; returns whether there was one.
 * `ctx.db` is a transaction inside the workspace.
 */
export async function endCalendar(
  { db }: WithDatabase,
  { workspaceId, accountId }: Place,
  kind?: number,
): Promise<boolean> {
  const ended = await db
    .deleteFrom('calendar_feed')
    .where('workspace_id', '=', workspaceId)
    .where('account_id', '=', accountId)
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind!))
    .returning('token_hash')
    .execute()
  const hashes = ended.map(({ token_hash }) => token_hash)
  await sql`
    delete from token_directory where workspace_id = ${workspaceId} and token_hash = any (${hashes}::bytea[])`.execute(
    db,
  )
  return ended.length > 0
}
