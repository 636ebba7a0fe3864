import type { MessageKind } from '@vigia/contract/workspace'
import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { asOperator, inWorkspace } from '../platform/database.ts'
import { queueMail } from '../platform/mail.ts'

export type { Item, Writer } from './teller.ts'
export { counted, joined, named } from './words.ts'

/** Something that the people of a workspace are told once. */
export interface Warning {
  /** What they are told of; the same key is never told twice. */
  key: string
  /** Who writes the letter. */
  kind: string
  payload?: object
  /** Afterwards the letter would only confuse. */
  usefulMs?: number
}

/**
 * Tells every account of the workspace that has logged in by e-mail, unless they were told of this before. Returns whether it was new. Where
 * nobody has logged in nothing counts as told: the address may be that of a person who never heard of us.
 */
export async function warn(
  ctx: Pick<Context, 'db'>,
  workspaceId: number,
  { key, ...letter }: Warning,
): Promise<boolean> {
  return inWorkspace(ctx, workspaceId, async (ctx) => {
    const accounts = await ctx.db
      .selectFrom('account')
      .select('email')
      .where('workspace_id', '=', workspaceId)
      .where('entered_at', 'is not', null)
      .orderBy('id')
      .execute()
    if (accounts.length === 0) return false
    const { rows } = await sql`
      insert into notice (workspace_id, key) values (${workspaceId}, ${key}) on conflict do nothing returning key`.execute(
      ctx.db,
    )
    if (rows.length === 0) return false
    for (const { email } of accounts) await queueMail(ctx, { ...letter, workspaceId, recipient: email })
    return true
  })
}

/** What of the screens an announcement is about. */
export type Topic = 'captura' | 'manifestacao' | 'empresa' | 'certificado' | 'documento' | 'exportacao' | 'aviso'

/** What people with an open page are told, in words. */
export interface Announcement {
  topic: Topic
  /** How the page shows it (section 4 of the specification). */
  kind: MessageKind
  header: string
  body: string
  /** Afterwards nobody who comes back is told of it any more. */
  usefulMs?: number
}

/** Something that people should hear of; the words are found when they are told, of everything that happened together. */
export interface Happening {
  /** Who finds the words. */
  what: string
  companyId?: number
  payload?: object
  /** More of the same is likely to follow within this time. */
  waitMs?: number
}

// What one deed causes in several transactions comes together in this time.
const togetherMs = 1_500

/**
 * Has the people of a workspace told of something, grouped with what is like it. `ctx.db` is the transaction of the deed, in the workspace or in
 * the capture: what is undone is not told.
 */
export async function announce(
  { db }: Pick<Context, 'db'>,
  workspaceId: number,
  { what, companyId, payload = {}, waitMs = togetherMs }: Happening,
): Promise<void> {
  await db
    .insertInto('happening')
    .values({
      workspace_id: workspaceId,
      what,
      company_id: companyId ?? null,
      payload: JSON.stringify(payload),
      ready_at: sql<Date>`clock_timestamp() + ${Math.round(waitMs)} * interval '1 ms'`,
    })
    .execute()
}

// The first key of the advisory locks of this slice; the second is the workspace.
const tellingLock = 7_656_014

/** Where announcements are told of to all processes, as `workspace.announcement`. */
export const announcementChannel = 'vigia_announcement'

/**
 * Makes sure that nobody else tells the workspace anything until the transaction ends: its announcements become visible in the order of their
 * ids. The transaction is in the workspace and does little else.
 */
export async function lockTelling({ db }: Pick<Context, 'db'>, workspaceId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${tellingLock}, ${workspaceId})`.execute(db)
}

/** Writes an announcement and tells all processes; the transaction holds the lock of `lockTelling`. */
export async function tell(
  { db }: Pick<Context, 'db'>,
  workspaceId: number,
  { usefulMs, ...announcement }: Announcement,
  what: string | null = null,
): Promise<void> {
  const uselessAt = usefulMs === undefined ? null : sql<Date>`clock_timestamp() + ${usefulMs} * interval '1 ms'`
  const { id } = await db
    .insertInto('announcement')
    .values({ workspace_id: workspaceId, what, useless_at: uselessAt, ...announcement })
    .returning('id')
    .executeTakeFirstOrThrow()
  await sql`select pg_notify(${announcementChannel}, ${`${workspaceId}.${id}`})`.execute(db)
}

/**
 * Tells a workspace, by its public id, something that somebody wrote, `count` times. Returns whether there is such a workspace.
 */
export async function tellWorkspace(
  ctx: Pick<Context, 'db'>,
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

/** Removes announcements that nobody asks for any more: no session lasts longer than they are kept. */
export async function forgetAnnouncements(ctx: Pick<Context, 'db'>): Promise<void> {
  const longAgo = sql<Date>`now() - ${keptDays} * interval '1 day'`
  const stale = await asOperator(ctx, async ({ db }) => {
    await db.deleteFrom('announcement').where('at', '<', longAgo).execute()
    return db.selectFrom('happening').select('workspace_id').distinct().where('at', '<', longAgo).execute()
  })
  // Of a kind that no process here has words for.
  for (const { workspace_id } of stale)
    await inWorkspace(ctx, workspace_id, ({ db }) =>
      db.deleteFrom('happening').where('workspace_id', '=', workspace_id).where('at', '<', longAgo).execute(),
    )
}
