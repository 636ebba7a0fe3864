import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { tryLock } from '../platform/locks.ts'

export { documentAnnouncements } from './announcements.ts'
export {
  type Arrival,
  placeOf,
  type ReceivedDocZip,
  readArrival,
  readPage,
} from './arrival.ts'
export { countedTerm, kindsOfGroups, type SumKind, sides, sumKinds } from './counted.ts'
export {
  ciencia,
  conclusive,
  deadlineOf,
  deadlines,
  disagreement,
  dueInDatabase,
  dueUntil,
  releasing,
} from './deadlines.ts'
export { readDue } from './desk/agenda.ts'
export { countOverdue, dueSince } from './desk/installments.ts'
export { markCondition } from './desk/remarks.ts'
export { type Entry, zip } from './export/archive.ts'
export { readInBatches } from './export/rows.ts'
export { type SpreadsheetColumn, startSpreadsheet } from './export/spreadsheet.ts'
export { eventId, xmlName } from './files.ts'
export { isIssuer, standingOnly } from './filter.ts'
export { searchDocuments } from './list.ts'
export { readAndPack } from './packing/packer.ts'
export { getDetails } from './panel/details.ts'
export { proveMissed } from './proving/missed-proofs.ts'
export { prove } from './proving/prover.ts'
export { noteRead } from './reads.ts'
export { type Rebuilt, rebuildAll, rebuildProjection } from './rebuild.ts'
export { findXml, listReceipts, type ReceiveResult, type Recipient, receive } from './receive.ts'
export { eventName } from './rows.ts'
export type { TermKind } from './search/terms.ts'
export { contentFollower, readBacklog } from './unread.ts'

// From how many documents a month on a workspace keeps day counters.
const largeMonth = 1_000

/**
 * Begins to keep day counters for a workspace whose months have grown large; cheap when there is nothing to do. It waits for no lock: when
 * another transaction is writing to the workspace, the next call does it.
 */
export async function considerSize(ctx: Pick<Context, 'db'>, workspaceId: number): Promise<void> {
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows: grown } = await sql`
      select 1 from workspace where id = ${workspaceId} and not large
         and exists (select 1 from count_month where workspace_id = ${workspaceId} group by type, month having sum(n) >= ${largeMonth})`.execute(
      db,
    )
    if (grown.length === 0) return
    // The row before the lock: a transaction that changes the plan or adds a company holds the row, and waits for a delivery, which waits for the
    // lock.
    const { rows: held } =
      await sql`select 1 from workspace where id = ${workspaceId} for no key update skip locked`.execute(db)
    if (held.length === 0 || !(await tryLock({ db }, 'documents', workspaceId))) return
    const { rows: marked } =
      await sql`update workspace set large = true where id = ${workspaceId} and not large returning 1`.execute(db)
    if (marked.length === 0) return
    await sql`
      insert into count_day (workspace_id, type, day, company_id, roles, status, n, amount)
      select workspace_id, type, issued_at::date, company_id, roles, status, count(*)::int, sum(amount)
        from document where workspace_id = ${workspaceId} group by 1, 2, 3, 4, 5, 6`.execute(db)
  })
}
