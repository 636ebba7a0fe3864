import { sql } from 'kysely'
import {
  behindMax,
  claimTurn as claimFollowing,
  dueTurns,
  type Follower,
  holdTurn,
  nextPortion,
  postponeTurn as postponeFollowing,
  readBehind,
  readPosition,
  type Turn,
} from '../../documents/following.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import { type Judging, judgeAfter, judgeDue, judgeThese, noteUnjudged, together, type Within } from './judging.ts'
import { findDocuments, readCompanies, readFacts } from './reading.ts'
import { putFacts } from './store.ts'

// How the documents of a workspace come to be judged: docs/decisions/0043-alerts-in-the-product.md.

const follower: Follower = { table: 'alert_position' }

// Documents that are read in one turn, and that are judged besides these: so many at a time, until the turn has taken this long.
const readMax = 50
const judgedMax = 50
const turnMs = 400
// Of those that could not be judged before.
const againMax = 20

/** Without these `claimTurn` finds nothing. */
export const due = dueTurns(follower)

/** Takes the workspace that waited longest of those in which something is to be judged; null: none. */
export const claimTurn = (ctx: WithDatabase): Promise<Turn | null> => claimFollowing(ctx, follower)

/** Lets a turn go that failed, for a while. */
export const postponeTurn = (ctx: WithDatabase, turn: Turn, waitMs: number): Promise<void> =>
  postponeFollowing(ctx, follower, turn, waitMs)

/**
 * Judges what changed next in a workspace, or next of what was there before, and what is due; a bounded part of it. Nothing happens when somebody else
 * has the turn by now. Returns the companies whose documents were read.
 */
export async function takeTurn(
  ctx: Pick<Context, 'db' | 'config' | 'log'>,
  turn: Turn,
  asOf = Date.now(),
): Promise<number[]> {
  const { workspaceId } = turn
  const begun = performance.now()
  const { found, companies, portion, position, reviewing, ids } = await readWorkspace(
    ctx,
    workspaceId,
    async (inside) => {
      const { db, config } = inside
      const position = await readPosition(db, follower, workspaceId)
      const reviewing = await readReviewed({ db }, workspaceId)
      const portion = await nextPortion(db, workspaceId, position, readMax)
      const companies = await readCompanies({ db, config }, workspaceId)
      const { rows: again } = await sql<{ id: bigint }>`
      select document_id as id from alert_unjudged where workspace_id = ${workspaceId} and again_at <= now() order by again_at limit ${againMax}`.execute(
        db,
      )
      const ids = [...new Set([...portion.ids, ...again.map(({ id }) => id)])]
      return {
        position,
        reviewing,
        portion,
        companies,
        ids,
        found: ids.length > 0 ? await findDocuments({ db }, workspaceId, ids, companies) : [],
      }
    },
  )
  const { changes, unread } = await readFacts(found)
  if (unread.length > 0)
    ctx.log.warn(
      { workspaceId, chaves: unread.map(({ question }) => question?.chave) },
      'documents could not be read to be judged',
    )
  const judging: Judging = { asOf, companies }
  return inWorkspace<Within, number[]>({ db: ctx.db, log: ctx.log }, workspaceId, async (inside) => {
    const { db, log } = inside
    if (!(await holdTurn(db, follower, turn))) return []
    if (ids.length > 0)
      await sql`delete from alert_unjudged where workspace_id = ${workspaceId} and document_id = any (${ids}::bigint[])`.execute(
        db,
      )
    for (const untried of [true, false])
      await noteUnjudged(
        db,
        workspaceId,
        unread.filter((one) => one.untried === untried),
        { soon: untried },
      )
    await together(
      inside,
      changes,
      (some) => putFacts(inside, workspaceId, some),
      async ({ documentId, companyId }, err) => {
        log.error({ err, workspaceId, documentId }, 'a document cannot be judged')
        await noteUnjudged(db, workspaceId, [{ documentId, companyId }])
      },
    )
    // New documents do not wait for those they touched.
    await judgeThese(inside, workspaceId, { ...judging, silent: portion.walked }, ids)
    const isTime = () => performance.now() - begun < turnMs
    // While older documents are read, a document that is due is most likely one of them.
    const due = { ...judging, silent: position.walkedType !== null }
    let isDue = true
    do {
      const judged = await judgeDue(inside, workspaceId, due, judgedMax)
      isDue = judged === judgedMax
    } while (isDue && isTime())
    let reviewedId = reviewing
    while (reviewedId !== null && !isDue) {
      reviewedId = await judgeAfter(inside, workspaceId, { ...judging, silent: true }, reviewedId, judgedMax)
      if (!isTime()) break
    }
    const { next } = portion
    const more = portion.more || isDue || reviewedId !== null
    await sql`
      update alert_position
         set version = ${next.version}, walked_type = ${next.walkedType}, walked_at = ${next.walkedAt}::timestamp, walked_id = ${next.walkedId},
             -- A rule that was switched meanwhile has its own beginning.
             reviewed_id = case when reviewed_id is not distinct from ${reviewing}::bigint then ${reviewedId}::bigint else reviewed_id end,
             lease_until = null, served_at = statement_timestamp(),
             next_at = case when ${more} or reviewed_id is distinct from ${reviewing}::bigint then c.at else c.again end
        from (select now() as at, least('infinity',
                (select min(greatest(again_at, now())) from alert_due where workspace_id = ${workspaceId}),
                (select min(greatest(again_at, now())) from alert_unjudged where workspace_id = ${workspaceId})) as again) c
       where workspace_id = ${workspaceId}`.execute(db)
    const companies = portion.walked ? [] : found.flatMap(({ companyId, question }) => (question ? companyId : []))
    return [...new Set(companies)]
  })
}

async function readReviewed({ db }: WithDatabase, workspaceId: number): Promise<bigint | null> {
  const { rows } = await sql<{ id: bigint | null }>`
    select reviewed_id as id from alert_position where workspace_id = ${workspaceId}`.execute(db)
  return rows[0]!.id
}

/** What of a workspace is not judged yet. */
export interface Backlog {
  /** Older documents are being read. */
  building: boolean
  /** Changes and documents that wait, counted up to `behindMax`. */
  waiting: number
  since: Date | null
}

/** How far behind the verdicts of a workspace are; `ctx.db` is inside it. */
export async function readBacklog({ db }: WithDatabase, workspaceId: number): Promise<Backlog> {
  const { begun, walking, changes, older, since } = await readBehind(db, follower, workspaceId)
  if (!begun) return { building: older > 0, waiting: older, since: null }
  const { rows } = await sql<{ reviewing: boolean; due: number }>`
    select reviewed_id is not null as reviewing,
           (select count(*)::int from (select from alert_due n where n.workspace_id = ${workspaceId} and n.again_at = '-infinity' limit ${behindMax}) x)
             + (select count(*)::int from (select from alert_unjudged u where u.workspace_id = ${workspaceId} limit ${behindMax}) x) as due
      from alert_position where workspace_id = ${workspaceId}`.execute(db)
  const { reviewing, due } = rows[0]!
  return { building: walking || reviewing, waiting: Math.min(behindMax, changes + older + due), since }
}

/** Holds the position of a workspace, so that nothing is judged meanwhile, and has what becomes due judged soon. `ctx.db` is a transaction inside it. */
export async function holdPosition({ db }: WithDatabase, workspaceId: number): Promise<void> {
  await sql`update alert_position set next_at = now() where workspace_id = ${workspaceId}`.execute(db)
}
