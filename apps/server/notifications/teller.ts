import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { asOperator, inWorkspace } from '../platform/database.ts'
import { keepWorking } from '../platform/keep-working.ts'
import { type Announcement, lockTelling, type Topic, tell } from './notifications.ts'

/** One of several happenings that are told together. */
export interface Item {
  companyId: number | null
  /** Its name, when there is a company. */
  company: string | null
  payload: unknown
}

/** Finds the words for all that happened of one kind. */
export interface Writer {
  topic: Topic
  /** `items` in the order in which they happened, at least one; null: there is nothing to say after all. */
  write(items: readonly Item[]): Omit<Announcement, 'topic'> | null
}

export type Writers = Readonly<Record<string, Writer>>

type TellerContext = Pick<Context, 'db' | 'config' | 'log'>

interface Due {
  workspaceId: number
  what: string
}

const idleMs = 400

/**
 * Turns what happened into announcements, until disposed: of each kind at most one to a workspace in `announcementPauseMs`, however much
 * happens.
 */
export function startTeller(ctx: TellerContext, writers: Writers): AsyncDisposable {
  return keepWorking(
    {
      claim: () => findDue(ctx, Object.keys(writers)),
      carryOut: (due) => tellTogether(ctx, due, writers[due.what]!),
      atOnce: 1,
      idleMs,
    },
    ctx.log,
  )
}

// By company, what happened last decides: more of it may be about to follow. What happened later than now happened before the clock was set
// back, and waits for nothing.
const newest = sql`
  select distinct on (workspace_id, what, company_id) workspace_id, what, company_id, ready_at,
         ready_at <= clock_timestamp() or at > clock_timestamp() as ready
    from happening order by workspace_id, what, company_id, id desc`

// What was told later than now was told before the clock was set back.
const toldLately = (pauseMs: number) => sql`exists (
  select 1 from announcement a
   where a.workspace_id = h.workspace_id and a.what = h.what
     and a.at > clock_timestamp() - ${pauseMs} * interval '1 ms' and a.at <= clock_timestamp())`

async function findDue(ctx: TellerContext, kinds: readonly string[]): Promise<Due | null> {
  const { rows } = await asOperator(ctx, ({ db }) =>
    sql<Due>`
      select h.workspace_id as "workspaceId", h.what from (${newest}) h
       where h.ready and h.what = any (${kinds}::text[]) and not ${toldLately(ctx.config.announcementPauseMs)}
       order by h.ready_at limit 1`.execute(db),
  )
  return rows[0] ?? null
}

/** Tells a workspace what happened of one kind, in one announcement, unless another process has just done so. */
export async function tellTogether(ctx: TellerContext, { workspaceId, what }: Due, writer: Writer): Promise<void> {
  await inWorkspace(ctx, workspaceId, async (ctx) => {
    await lockTelling(ctx, workspaceId)
    const { rows } = await sql<Item & { id: bigint }>`
      with ready as (
        select h.company_id from (${newest}) h
         where h.workspace_id = ${workspaceId} and h.what = ${what} and h.ready
           and not ${toldLately(ctx.config.announcementPauseMs)}),
      taken as (
        delete from happening h using ready r
         where h.workspace_id = ${workspaceId} and h.what = ${what} and h.company_id is not distinct from r.company_id
        returning h.id, h.company_id, h.payload)
      select t.id, t.company_id as "companyId", c.name as company, t.payload
        from taken t left join company c on c.workspace_id = ${workspaceId} and c.id = t.company_id
       order by t.id`.execute(ctx.db)
    if (rows.length === 0) return
    const words = inWords(ctx, { workspaceId, what }, writer, rows)
    if (words) await tell(ctx, workspaceId, { topic: writer.topic, ...words }, what)
  })
}

// Words that cannot be found must not keep the rest waiting for ever.
function inWords(
  { log }: TellerContext,
  due: Due,
  writer: Writer,
  items: readonly Item[],
): Omit<Announcement, 'topic'> | null {
  try {
    return writer.write(items)
  } catch (error) {
    log.error({ err: error, ...due }, 'what happened could not be put into words and is told to nobody')
    return null
  }
}
