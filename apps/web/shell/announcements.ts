import { useScreenQuery } from '../lib/query.ts'
import { announcementsQuery } from '../lib/response-adapter.ts'

const refreshMs = 30_000

/** The newest announcements; they are also refreshed after each message of the server. */
export function useAnnouncements() {
  return useScreenQuery(announcementsQuery, { query: {} }, { refreshMs })
}
