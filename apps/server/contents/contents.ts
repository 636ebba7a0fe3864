// What is inside documents: items, taxes, parcels. Read by a worker after they arrive; found, summed and shown by what it stored.
export { readBacklog, readContents } from './following.ts'
export { findingCodes, presence } from './reading.ts'
