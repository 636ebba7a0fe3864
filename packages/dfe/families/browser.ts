import type { EventKindRow } from './events.ts'

// Stands in for readers and event tables in the browser, which shows texts of the server: see `browser` in package.json.

export const events: readonly EventKindRow[] = []

const read = (): never => {
  throw new Error('documents are read on the server only')
}

export { read as readCte, read as readEvent, read as readEventSummary, read as readNfe, read as readNfeSummary }
