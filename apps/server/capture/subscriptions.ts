import { type RawBuilder, sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import { enterWorkspace } from '../platform/database.ts'

/** Locks all lines that a transaction needs, at once and in this order: two transactions that lock several must not wait for each other. */
export async function lockLines({ db }: WithDatabase, chosen: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from capture_line where id in (${chosen}) order by id for no key update`.execute(db)
  return rows.map((row) => row.id)
}

/** A workspace whose certificate is not proved does not learn what others captured, unless none is proved. `s`: its subscription. */
export const isTold = sql<boolean>`(s.proved_at is not null or not exists (
  select from capture_subscription p where p.line_id = s.line_id and p.proved_at is not null))`

/** Changes in a line when a workspace receives from it again: a query that was due during the pause is not overdue. */
export const awake = {
  paused: false,
  next_at: sql<Date | null>`case when paused then greatest(now(), allowed_at) else next_at end`,
  gap_at: sql<Date | null>`case when paused and gap_at is not null then greatest(now(), gap_at) else gap_at end`,
}

/** A locked line is automatic if one of its receiving subscribers wants it, or, when all are paused, one of those. Enters a workspace. */
export async function setAutomatic({ db }: WithDatabase, lineId: number): Promise<void> {
  const { rows: subscribers } = await sql<{ workspace_id: number; company_id: number; paused: boolean }>`
    select workspace_id, company_id, paused from capture_subscription where line_id = ${lineId}`.execute(db)
  const receiving = subscribers.filter(({ paused }) => !paused)
  const automatic = await isSwitchedOn({ db }, receiving.length > 0 ? receiving : subscribers)
  await db.updateTable('capture_line').set({ automatic }).where('id', '=', lineId).execute()
}

// The companies of another workspace can be read only inside that workspace.
async function isSwitchedOn(
  { db }: WithDatabase,
  subscribers: { workspace_id: number; company_id: number }[],
): Promise<boolean> {
  for (const { workspace_id, company_id } of subscribers) {
    await enterWorkspace({ db }, workspace_id)
    const { rows } = await sql`
      select from company where workspace_id = ${workspace_id} and id = ${company_id} and automatic`.execute(db)
    if (rows.length > 0) return true
  }
  return false
}
