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
