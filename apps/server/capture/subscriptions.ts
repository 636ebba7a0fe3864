import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { enterWorkspace } from '../platform/database.ts'

type WithDatabase = Pick<Context, 'db'>

/** Locks lines: all that a transaction needs at once and in this order, because two who lock several must not wait for each other. */
export async function lockLines({ db }: WithDatabase, chosen: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from capture_line where id in (${chosen}) order by id for no key update`.execute(db)
  return rows.map((row) => row.id)
}

/**
 * What becomes of a line when somebody receives what it brings. What came up while it was paused is not overdue: whoever waited meanwhile
 * goes first.
 */
export const awake = {
  paused: false,
  next_at: sql<Date | null>`case when paused then greatest(now(), allowed_at) else next_at end`,
  // A query for a missing position that nobody settled is known by its time.
  gap_at: sql<Date | null>`case when paused and gap_at is not null and asked_at is distinct from gap_at then greatest(now(), gap_at) else gap_at end`,
}

/**
 * Tells a line that is locked whether somebody wants it by the hour, of those who receive; where all are paused it stays as they wanted it.
 * `ctx.db` is a transaction of the capture, which is in some workspace afterwards.
 */
export async function followWishes({ db }: WithDatabase, lineId: number): Promise<void> {
  const subscribers = await db
    .selectFrom('capture_subscription')
    .select(['workspace_id', 'company_id', 'paused'])
    .where('line_id', '=', lineId)
    .execute()
  const receiving = subscribers.filter(({ paused }) => !paused)
  const automatic = await isWantedByTheHour({ db }, receiving.length > 0 ? receiving : subscribers)
  await db.updateTable('capture_line').set({ automatic }).where('id', '=', lineId).execute()
}

// The companies of others can be seen from inside their workspaces only.
async function isWantedByTheHour(
  { db }: WithDatabase,
  subscribers: { workspace_id: number; company_id: number }[],
): Promise<boolean> {
  for (const { workspace_id, company_id } of subscribers) {
    await enterWorkspace({ db }, workspace_id)
    const company = await db
      .selectFrom('company')
      .select('automatic')
      .where('workspace_id', '=', workspace_id)
      .where('id', '=', company_id)
      .executeTakeFirstOrThrow()
    if (company.automatic) return true
  }
  return false
}
