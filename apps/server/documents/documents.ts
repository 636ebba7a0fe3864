import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'

export { documentAnnouncements } from './announcements.ts'
export { type Arrival, type DocZip, readArrival, readPage } from './arrival.ts'
export { ciencia, conclusive, deadlineOf, deadlines, disagreement } from './deadlines.ts'
export { type Rebuilt, rebuildAll, rebuildProjection } from './rebuild.ts'
export { findXml, listReceipts, type Received, type Recipient, receive } from './receive.ts'
export { eventName } from './rows.ts'

/** Prepares a workspace whose months have grown large for quick paging; cheap to ask when there is nothing to do. */
export async function considerSize(ctx: Pick<Context, 'db'>, workspaceId: number): Promise<void> {
  await inWorkspace(ctx, workspaceId, ({ db }) => sql`select enlarge_workspace(${workspaceId}::int)`.execute(db))
}
