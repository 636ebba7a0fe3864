import { sql } from 'kysely'
import { type Announcement, companyNameIn, type TopicItem, type Writer } from '../companies/topics.ts'
import type { Context } from '../platform/context.ts'
import { asOperator, inWorkspace } from '../platform/database.ts'
import { isDue } from '../platform/jobs/due.ts'
import { startJobs } from '../platform/jobs/loop.ts'
import { lockTelling, tell } from './notifications.ts'

export type Writers = Readonly<Record<string, Writer>>

type TellerContext = Pick<Context, 'db' | 'config' | 'log'>

interface DueHappening {
  workspaceId: number
  what: string
}

const idleMs = 500

/**
 * Turns what happened into announcements, until disposed: of each kind at most one to a workspace in `announcementPauseMs`, however much
 * happens.
 */
export function startTeller(ctx: TellerContext, writers: Writers): AsyncDisposable {
  return startJobs(
    {
      name: 'announcement',
      mayFind: () => isDue(ctx, happenings),
      claim: () => findDue(ctx, Object.keys(writers)),
      run: (due) => tellTogether(ctx, due, writers[due.what]!),
      describe: ({ workspaceId, what }) => ({ workspaceId, what }),
      concurrency: 1,
      idleMs,
    },
    ctx.log,
  )
}

// The last happening of each company decides, since more may follow it.
const newest = (further = sql``) => sql`
  select distinct on (workspace_id, what, company_id) workspace_id, what, company_id, ready_at,
         ready_at <= clock_timestamp() as ready
    from happening where true ${further} order by workspace_id, what, company_id, id desc`

const toldLately = (pauseMs: number, further = sql``) => sql`exists (
  select 1 from announcement a
   where a.workspace_id = h.workspace_id and a.what = h.what
     and a.at > clock_timestamp() - ${pauseMs} * interval '1 ms' ${further})`

/** Without these `findDue` finds nothing. */
export const happenings = sql`select from happening`

export async function findDue(ctx: TellerContext, kinds: readonly string[]): Promise<DueHappening | null> {
  const { rows } = await asOperator(ctx, ({ db }) =>
    sql<DueHappening>`
      select h.workspace_id as "workspaceId", h.what from (${newest()}) h
       where h.ready and h.what = any (${kinds}::text[]) and not ${toldLately(ctx.config.announcementPauseMs)}
       order by h.ready_at limit 1`.execute(db),
  )
  return rows[0] ?? null
}

/** Announces to a workspace what happened of one kind, in one announcement, unless another process has just done so. */
export async function tellTogether(
  ctx: TellerContext,
  { workspaceId, what }: DueHappening,
  writer: Writer,
): Promise<void> {
  await inWorkspace(ctx, workspaceId, async (ctx) => {
    await lockTelling(ctx, workspaceId)
    const { rows } = await sql<TopicItem & { id: bigint; sessionId: string | null }>`
      with ready as (
        select h.company_id from (${newest(sql`and workspace_id = ${workspaceId}`)}) h
         where h.workspace_id = ${workspaceId} and h.what = ${what} and h.ready
           and not ${toldLately(ctx.config.announcementPauseMs, sql`and a.workspace_id = ${workspaceId}`)}),
      taken as (
        delete from happening h
         where h.workspace_id = ${workspaceId} and h.what = ${what}
           -- "is true" has it look into a hash table. As a join, the table being empty most of the time, it compares each with each.
           and (coalesce(h.company_id, 0) in (select coalesce(company_id, 0) from ready)) is true
        returning h.id, h.company_id, h.payload, h.session_id)
      select t.id, t.company_id as "companyId", ${companyNameIn(workspaceId)} as company, c.public_id as "companyPublicId", t.payload, t.session_id as "sessionId"
        from taken t left join company c on c.workspace_id = ${workspaceId} and c.id = t.company_id
       order by t.id`.execute(ctx.db)
    if (rows.length === 0) return
    const text = writeText(ctx, { workspaceId, what }, writer, rows)
    const sessions = new Set(rows.map(({ sessionId }) => sessionId))
    const sessionId = sessions.size === 1 ? rows[0]!.sessionId : null
    if (text)
      await tell(ctx, workspaceId, { topic: writer.topic, ...text }, { what, sessionId, companies: companiesOf(rows) })
  })
}

// The companies of which a text tells; null: of the whole workspace, or nobody knows.
function companiesOf(items: readonly TopicItem[]): number[] | null {
  const all = new Set<number>()
  for (const { companyId, payload } of items) {
    const companies = companyId === null ? (payload as { companyIds?: number[] }).companyIds : [companyId]
    if (!companies) return null
    for (const id of companies) all.add(id)
  }
  return [...all]
}

// A text that cannot be written must not keep the other announcements waiting for ever.
function writeText(
  { log }: TellerContext,
  due: DueHappening,
  writer: Writer,
  items: readonly TopicItem[],
): Omit<Announcement, 'topic'> | null {
  try {
    return writer.write(items)
  } catch (error) {
    log.error({ err: error, ...due }, 'a text could not be written: what happened is not announced')
    return null
  }
}
