import type { EventKindRow } from './events.ts'

/** Empty tables for the browser, which shows texts of the server: see `browser` in package.json. */
export const events: readonly EventKindRow[] = []
