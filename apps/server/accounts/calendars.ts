import type { WithDatabase } from '../platform/context.ts'
import type { Place } from './places.ts'

/** Ends the secret address at which calendars read the deadlines of a person; returns whether there was one. `ctx.db` is a transaction inside the workspace. */
export async function endCalendar({ db }: WithDatabase, { workspaceId, accountId }: Place): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('calendar_feed')
    .where('workspace_id', '=', workspaceId)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
