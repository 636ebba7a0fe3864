import { sql } from 'kysely'
import type { WithDatabase } from './context.ts'

// The numbers of all advisory locks of the database, in one place so that no two subjects share one. Only their difference matters; those
// that were in use before the first release keep their numbers.

/** One process migrates at a time. A lock of the session; PostgreSQL keeps its numbers apart from those below. */
export const migrationLock = 7_316_009

const locks = {
  /** By company: two writers of its documents and events would not see each other's rows. */
  company: 7_316_011,
  /** By workspace: each request for events sees the events requested before. */
  eventRequests: 7_316_012,
  /** By workspace. Shared: events are decided and signed. Exclusive: what decides them is changed. */
  answerRules: 7_316_015,
  /** Two claims of events at once would not see each other's authors. */
  eventClaims: 7_316_013,
  /** Two claims of capture lines at once would see the same free place. */
  lineClaims: 7_656_001,
  /** By workspace: its documents are judged, or a person changes what they are judged by. */
  alerts: 7_316_019,
  /** By workspace: its announcements become visible in the order of their ids. */
  announcements: 7_656_014,
  // 7_656_015, by workspace: `append_counted` of the schema counts each entry after the one before it, right before the commit.
}

type Lock = keyof typeof locks
/** Waits for the lock and holds it until the transaction ends. `id`: of the workspace or company that it is about. */
export async function holdLock({ db }: WithDatabase, lock: Lock, id = 0): Promise<void> {
  await sql`select pg_advisory_xact_lock(${locks[lock]}, ${id}::int)`.execute(db)
}

/** Like `holdLock`, but others may hold it shared at the same time. */
export async function holdSharedLock({ db }: WithDatabase, lock: Lock, id = 0): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${locks[lock]}, ${id}::int)`.execute(db)
}
