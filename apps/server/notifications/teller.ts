import { sql } from 'kysely'
import { type Announcement, companyNameIn, type TopicItem, type Writer } from '../companies/topics.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import type { Again, JobKind } from '../platform/jobs/jobs.ts'
import { lockTelling, tell } from './notifications.ts'

type TellerContext = Pick<Context, 'db' | 'config' | 'log'>

/** Happenings of one kind in a workspace. */
interface Kind {
  workspaceId: number
  what: string
}

/** Turns happenings into announcements: at most one per kind and workspace in `announcementPauseMs`. */
export function announcementJob(writers: Readonly<Record<string, Writer>>): JobKind {
  return {
    name: 'announcement',
    concurrency: 1,
    run: (ctx, { workspaceId, key }) => tellTogether(ctx, { workspaceId: workspaceId!, what: key }, writers[key]!),
  }
}

// The last happening of each company decides, since more may follow it.
const newestOf = ({ workspaceId, what }: Kind) => sql`
  select distinct on (company_id) company_id, ready_at
    from happening where workspace_id = ${workspaceId} and what = ${what} order by company_id, id desc`

// How long until there is something to announce; null: nothing happened.
async function readWait({ db, config }: TellerContext, kind: Kind): Promise<number | null> {
  const pause = sql`${config.announcementPauseMs} * interval '1 ms'`
  const { rows } = await sql<{ ms: number }>`
    select 1000 * extract(epoch from
      greatest(min(h.ready_at), (select max(a.at) + ${pause} from announcement a
                                  where a.workspace_id = ${kind.workspaceId} and a.what = ${kind.what} and a.at > clock_timestamp() - ${pause}))
      - clock_timestamp())::float8 as ms from (${newestOf(kind)}) h having count(*) > 0`.execute(db)
  return rows[0]?.ms ?? null
}

/** Announces to a workspace what happened of one kind, in one announcement, if it is time; returns when it is for the rest. */
export async function tellTogether(ctx: TellerContext, kind: Kind, writer: Writer): Promise<Again | null> {
  const { workspaceId, what } = kind
  return inWorkspace(ctx, workspaceId, async (ctx) => {
    await lockTelling(ctx, workspaceId)
    const waitMs = await readWait(ctx, kind)
    if (waitMs === null) return null
    if (waitMs > 0) return { waitMs }
    const { rows } = await sql<TopicItem & { id: bigint; sessionId: string | null }>`
      with ready as (select h.company_id from (${newestOf(kind)}) h where h.ready_at <= clock_timestamp()),
      taken as (
        delete from happening h
         where h.workspace_id = ${workspaceId} and h.what = ${what}
           -- "is true" has it look into a hash table. As a join, the table being empty most of the time, it compares each with each.
           and (coalesce(h.company_id, 0) in (select coalesce(company_id, 0) from ready)) is true
        returning h.id, h.company_id, h.payload, h.session_id)
      select t.id, t.company_id as "companyId", ${companyNameIn(workspaceId)} as company, c.public_id as "companyPublicId", t.payload, t.session_id as "sessionId"
        from taken t left join company c on c.workspace_id = ${workspaceId} and c.id = t.company_id
       order by t.id`.execute(ctx.db)
    const text = writeText(ctx, kind, writer, rows)
    const sessions = new Set(rows.map(({ sessionId }) => sessionId))
    const sessionId = sessions.size === 1 ? rows[0]!.sessionId : null
    if (text)
      await tell(ctx, workspaceId, { topic: writer.topic, ...text }, { what, sessionId, companies: companiesOf(rows) })
    const nextMs = await readWait(ctx, kind)
    return nextMs === null ? null : { waitMs: nextMs }
  })
}

// Companies that a text concerns; null: the whole workspace, or unknown.
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
  kind: Kind,
  writer: Writer,
  items: readonly TopicItem[],
): Omit<Announcement, 'topic'> | null {
  try {
    return writer.write(items)
  } catch (error) {
    log.error({ err: error, ...kind }, 'a text could not be written: what happened is not announced')
    return null
  }
}
