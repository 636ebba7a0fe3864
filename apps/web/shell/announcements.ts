import { listAnnouncements } from '@vigia/contract/workspace'
import { useScreenQuery } from '../lib/query.ts'

const refreshMs = 30_000

/** The newest announcements; they are also refreshed after each message of the server. */
export function useAnnouncements() {
  return useScreenQuery(listAnnouncements, { query: {} }, { refreshMs })
}
