import type { MessageKind } from '@vigia/contract/workspace'
import { sql } from 'kysely'
import { isWrittenTo } from '../accounts/accounts.ts'
import { queueMail } from '../mail/mail.ts'
import type { Context } from '../platform/context.ts'
import { asOperator, inWorkspace } from '../platform/database.ts'
import { holdLock } from '../platform/locks.ts'
import type { TopicItem } from './texts.ts'

export { companyNameIn, companyScreen, listScreen, named, type TopicItem } from './texts.ts'

/** Writes the text for all that happened of one kind. */
export interface Writer {
  topic: Topic
  /** `items` in the order in which they happened, at least one; null: there is nothing to say after all. */
  write(items: readonly TopicItem[]): Omit<Announcement, 'topic'> | null
}

/** A warning that the people of a workspace get once. */
interface Warning {
  /** What it is about; a key is used once. */
  key: string
  /** Names the writer of the letter. */
  kind: string
  payload?: object
  /** Afterwards the letter would only confuse. */
  usefulMs?: number
}

/**
 * Mails a warning to those of the workspace who may act on it and whose e-mail is confirmed, unless the same key was used before. Returns whether it
 * was new.
 * When there is none, the key stays unused: the address may be that of a person who never heard of us.
 */
export async function warn(
  { db, config }: Pick<Context, 'db' | 'config'>,
  workspaceId: number,
  { key, ...letter }: Warning,
): Promise<boolean> {
  return inWorkspace({ db }, workspaceId, async (ctx) => {
    const accounts = await ctx.db
      .selectFrom('account as a')
      .innerJoin('workspace as w', 'w.id', 'a.workspace_id')
      .select('a.email')
      .where('a.workspace_id', '=', workspaceId)
      .where(isWrittenTo({ config }))
      // Who only looks mends nothing, and a letter may name any company.
      .where('a.role', 'in', ['administrador', 'fiscal'])
      .where('a.all_companies', '=', true)
      .where(sql<boolean>`(a.access_until is null or a.access_until > now())`)
      // Who leaves needs no warning that the capture stands still.
      .where('w.erase_at', 'is', null)
      .orderBy('a.id')
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
type Topic = 'captura' | 'manifestacao' | 'empresa' | 'certificado' | 'documento' | 'exportacao' | 'aviso'

/** What open pages show: the texts of an announcement. */
export interface Announcement {
  topic: Topic
  /** How the page shows it (section 4 of the specification). */
  kind: MessageKind
  header: string
  body: string
  /** Path of the screen that shows it; undefined: none shows more than the text. */
  link?: string
  /** Of another screen, where one does not show all of it. */
  otherLink?: string
  /** After this time it is no longer sent to sessions that missed it. */
  usefulMs?: number
}

/** Something that open pages should show; its text is written when it is announced, together with others of its kind. */
interface Happening {
  /** Names the writer of the text. */
  what: string
  companyId?: number
  payload?: object
  /** More of the same is likely to follow within this time. */
  waitMs?: number
  /** The session of the person whose action it is, by its public id. */
  sessionId?: string
}

// One action may cause several transactions; their happenings are grouped when they come within this time.
const togetherMs = 1_500

/**
 * Notes something to be announced to a workspace, grouped with others of its kind. `ctx.db` is the transaction of the action, in the workspace
 * or in the capture: what is rolled back is not announced.
 */
export async function announce(
  { db }: Pick<Context, 'db'>,
  workspaceId: number,
  { what, companyId, payload = {}, waitMs = togetherMs, sessionId }: Happening,
): Promise<void> {
  await db
    .insertInto('happening')
    .values({
      workspace_id: workspaceId,
      what,
      company_id: companyId ?? null,
      payload: JSON.stringify(payload),
      ready_at: sql<Date>`clock_timestamp() + ${Math.round(waitMs)} * interval '1 ms'`,
      session_id: sessionId ?? null,
    })
    .execute()
}

/** The channel on which all processes hear of announcements, as `workspace.announcement`. */
export const announcementChannel = 'vigia_announcement'

/**
 * Keeps other transactions from announcing to the workspace until this one ends, so that announcements become visible in the order of their
 * ids. The transaction is in the workspace and should be short.
 */
export async function lockTelling({ db }: Pick<Context, 'db'>, workspaceId: number): Promise<void> {
  await holdLock({ db }, 'announcements', workspaceId)
}

/**
 * Writes an announcement and tells all processes; the transaction holds the lock of `lockTelling`. `what` happened, and in which session,
 * when it was in one alone; `companies`: who may see all of these is told (null: who may see all of the workspace).
 */
export async function tell(
  { db }: Pick<Context, 'db'>,
  workspaceId: number,
  { usefulMs, link, otherLink, ...announcement }: Announcement,
  {
    what = null,
    sessionId = null,
    companies = null,
  }: { what?: string | null; sessionId?: string | null; companies?: number[] | null } = {},
): Promise<void> {
  const uselessAt = usefulMs === undefined ? null : sql<Date>`clock_timestamp() + ${usefulMs} * interval '1 ms'`
  // A path has no line breaks.
  const links = [link, otherLink].filter(Boolean).join('\n') || null
  const { id } = await db
    .insertInto('announcement')
    .values({
      workspace_id: workspaceId,
      what,
      session_id: sessionId,
      useless_at: uselessAt,
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

/** Removes old announcements: they are kept longer than any session lasts, and people can read them as long. */
export async function forgetAnnouncements(ctx: Pick<Context, 'db'>): Promise<void> {
  const longAgo = sql<Date>`now() - ${keptDays} * interval '1 day'`
  const stale = await asOperator(ctx, async ({ db }) => {
    await db.deleteFrom('announcement').where('at', '<', longAgo).execute()
    return db.selectFrom('happening').select('workspace_id').distinct().where('at', '<', longAgo).execute()
  })
  // Of a kind for which no process here has a writer.
  for (const { workspace_id } of stale)
    await inWorkspace(ctx, workspace_id, ({ db }) =>
      db.deleteFrom('happening').where('workspace_id', '=', workspace_id).where('at', '<', longAgo).execute(),
    )
}
