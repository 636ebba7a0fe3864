import type { Database } from '../platform/context.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { type Made, type RebuildContext, type Rebuilt, rebuildProjection } from './rebuild.ts'
import type { Recipient } from './receive.ts'

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
export { type Rebuilt, rebuildProjection } from './rebuild.ts'
export { findXml, listReceipts, type ReceiveResult, type Recipient, receive } from './receive.ts'
export { eventName } from './rows.ts'
export type { TermKind } from './search/terms.ts'
export { contentFollower, readBacklog } from './unread.ts'

/** Rebuilds every company, one after the other. */
export async function rebuildAll(
  ctx: RebuildContext,
  done: (company: Recipient, rebuilt: Rebuilt, place: number, of: number) => void,
  made?: Made,
): Promise<void> {
  // A company that received anything has a subscription.
  const workspaces = await inCapture({ db: ctx.db }, ({ db }) =>
    db.selectFrom('capture_subscription').select('workspace_id').distinct().orderBy('workspace_id').execute(),
  )
  const companies: Recipient[] = []
  for (const { workspace_id } of workspaces)
    companies.push(...(await inWorkspace({ db: ctx.db }, workspace_id, ({ db }) => listCompanies(db, workspace_id))))
  for (const [index, company] of companies.entries())
    done(company, await rebuildProjection(ctx, company, made), index + 1, companies.length)
}

async function listCompanies(db: Database, workspaceId: number): Promise<Recipient[]> {
  const rows = await db
    .selectFrom('company')
    .select(['id', 'cnpj'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('id')
    .execute()
  return rows.map(({ id, cnpj }) => ({ workspaceId, companyId: id, cnpj }))
}
