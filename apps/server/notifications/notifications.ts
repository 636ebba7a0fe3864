import { sql } from 'kysely'
import type { Announcement } from '../companies/topics.ts'
import type { WithDatabase } from '../platform/context.ts'
import { asOperator, inWorkspace } from '../platform/database.ts'
import { holdLock } from '../platform/locks.ts'

/** The channel on which all processes hear of announcements, as `workspace.announcement`. */
export const announcementChannel = 'vigia_announcement'

/**
 * Keeps other transactions from announcing to the workspace until this one ends, so that announcements become visible in the order of their
 * ids. The transaction is in the workspace and should be short.
 */
export async function lockTelling({ db }: WithDatabase, workspaceId: number): Promise<void> {
  await holdLock({ db }, 'announcements', workspaceId)
}

/**
 * Writes an announcement and notifies all processes; the transaction holds the lock of
 * `lockTelling`. `what`: its kind, with the session if it is only one; `companies`: only people who
 * see all of these get it (null: who see the whole workspace).
 */
export async function tell(
  { db }: WithDatabase,
  workspaceId: number,
  { link, otherLink, ...announcement }: Announcement,
  {
    what = null,
    sessionId = null,
    companies = null,
  }: { what?: string | null; sessionId?: string | null; companies?: number[] | null } = {},
): Promise<void> {
  // A path has no line breaks.
  const links = [link, otherLink].filter(Boolean).join('\n') || null
  const { id } = await db
    .insertInto('announcement')
    .values({
      workspace_id: workspaceId,
      what,
      session_id: sessionId,
      link: links,
      company_ids: companies,
      ...announcement,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await sql`select pg_notify(${announcementChannel}, ${`${workspaceId}.${id}`})`.execute(db)
}

/**
 * Announces a text of the operator to a workspace, by its public id, `count` times. Returns whether there is such a workspace.
 */
export async function tellWorkspace(
  ctx: WithDatabase,
  publicId: string,
  announcement: Announcement,
  count: number,
): Promise<boolean> {
  const { rows } = await sql<{ id: number | null }>`select workspace_for_public_id(${publicId}::uuid) as id`.execute(
    ctx.db,
  )
  const workspaceId = rows[0]?.id ?? null
  if (workspaceId === null) return false
  await inWorkspace(ctx, workspaceId, async (ctx) => {
    await lockTelling(ctx, workspaceId)
    for (let told = 0; told < count; told++) await tell(ctx, workspaceId, announcement)
  })
  return true
}

const keptDays = 30

/** Removes old announcements: they are kept longer than any session lasts, and people can read them as long. */
export async function forgetAnnouncements(ctx: WithDatabase): Promise<void> {
  await asOperator(ctx, ({ db }) =>
    sql`delete from announcement where at < now() - ${keptDays} * interval '1 day'`.execute(db),
  )
}
