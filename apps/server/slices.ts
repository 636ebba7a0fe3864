import { accounts } from './accounts/slice.ts'
import { capture } from './capture/slice.ts'
import { companies } from './companies/slice.ts'
import { documents } from './documents/slice.ts'
import { events } from './events/slice.ts'
import { insights } from './insights/slice.ts'
import { notifications } from './notifications/slice.ts'
import { operations } from './operations/slice.ts'
import type { Slice } from './slice.ts'

/** All that the server consists of, from the lowest floor. */
export const slices: readonly Slice[] = [
  accounts,
  companies,
  documents,
  capture,
  events,
  insights,
  notifications,
  operations,
]

/** Every call that this program serves, in the order in which the description of the API lists them. */
export const routes = slices.flatMap(({ routes }) => routes)
