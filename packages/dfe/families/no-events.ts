import type { EventKindRow } from './events.ts'

/** The tables of events as the browser gets them: it shows the words that the server sends. See `browser` in package.json. */
export const events: readonly EventKindRow[] = []
