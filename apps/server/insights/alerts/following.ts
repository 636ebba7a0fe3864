import { sql } from 'kysely'
import {
  beginPosition,
  behindMax,
  type Follower,
  lockPosition,
  nextPortion,
  queueWhenBehind,
  readBehind,
  readPosition,
  readWait,
} from '../../documents/following.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { beforeCommit, inWorkspace, readWorkspace } from '../../platform/database.ts'
import { type Again, holdJob, type Job, type JobKind, queueJob } from '../../platform/jobs/jobs.ts'
import { type Judging, judgeAfter, judgeDue, judgeThese, noteUnjudged, together, type Within } from './judging.ts'
import { showVerdicts } from './list.ts'
import { findDocuments, readCompanies, readFacts } from './reading.ts'
import { putFacts } from './store.ts'

// How the documents of a workspace come to be judged: docs/decisions/0043-alerts-in-the-product.md.

const follower: Follower = { kind: 'alerts', table: 'alert_position' }

// Documents that are read in one turn, and that are judged besides these: so many at a time, until the turn has taken this long.
const readMax = 50
const judgedMax = 50
const turnMs = 400
// Documents judged again per turn, after they could not be judged before.
const againMax = 20

/**
 * Judges what changes in workspaces, a bounded part of one after the other. `judged` is told of which companies documents were judged: what waited
 * for that may go on.
 */
export const alertJob = (
  judged: (ctx: Context, workspaceId: number, companyId: number) => Promise<unknown>,
): JobKind => ({
  name: follower.kind,
  // A workspace with one document to be judged does not wait for the turn of one with thousands.
  concurrency: 2,
  waits: [60_000],
  run: async (ctx, job) => {
    const { companies, again } = await takeTurn(ctx, job)
    for (const companyId of companies) await judged(ctx, job.workspaceId!, companyId)
    return again
  },
})

export const reviewAlerts = (ctx: Context, workspaceId: number) => queueWhenBehind(ctx, follower, workspaceId)

// Judges what changed next in a workspace, or next of what was there before, and what is due. Returns the companies whose documents were read.
async function takeTurn(ctx: Context, job: Job): Promise<{ companies: readonly number[]; again: Again | null }> {
  const workspaceId = job.workspaceId!
  const asOf = Date.now()
  const begun = performance.now()
  const next = await readWorkspace(ctx, workspaceId, async (inside) => {
    const { db, config } = inside
    const position = await readPosition(db, follower, workspaceId)
    if (!position) return null
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
  })
  if (!next) return { companies: [], again: (await beginPosition(ctx, follower, workspaceId)) ? { waitMs: 0 } : null }
  const { found, companies, portion, position, reviewing, ids } = next
  const { changes, unread } = await readFacts(found)
  if (unread.length > 0)
    ctx.log.warn(
      { workspaceId, chaves: unread.map(({ question }) => question?.chave) },
      'documents could not be read to be judged',
    )
  const judging: Judging = { asOf, companies }
  return inWorkspace<Within, Awaited<ReturnType<typeof takeTurn>>>(
    { db: ctx.db, log: ctx.log },
    workspaceId,
    async (inside) => {
      const { db, log } = inside
      await lockPosition(db, follower, workspaceId)
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
      const touched = new Set(found.map(({ documentId }) => documentId))
      const touch = (judged: readonly bigint[]) => {
        for (const id of judged) touched.add(id)
        return judged
      }
      touch(await judgeThese(inside, workspaceId, { ...judging, silent: portion.walked }, ids))
      const isTime = () => performance.now() - begun < turnMs
      // While older documents are read, a document that is due is most likely one of them.
      const due = { ...judging, silent: position.walkedType !== null }
      let isDue = true
      do {
        isDue = touch(await judgeDue(inside, workspaceId, due, judgedMax)).length === judgedMax
      } while (isDue && isTime())
      let reviewedId = reviewing
      while (reviewedId !== null && !isDue) {
        const judged = touch(await judgeAfter(inside, workspaceId, { ...judging, silent: true }, reviewedId, judgedMax))
        reviewedId = judged.length < judgedMax ? null : judged.at(-1)!
        if (!isTime()) break
      }
      const waiting = await showVerdicts(inside, workspaceId, [...touched])
      const { next } = portion
      const more = portion.more || isDue || reviewedId !== null
      await sql`
      update alert_position
         set version = ${next.version}, walked_type = ${next.walkedType}, walked_at = ${next.walkedAt}::timestamp, walked_id = ${next.walkedId},
             -- A rule that was switched meanwhile has its own beginning.
             reviewed_id = case when reviewed_id is not distinct from ${reviewing}::bigint then ${reviewedId}::bigint else reviewed_id end
       where workspace_id = ${workspaceId}`.execute(db)
      const waitMs = more ? 0 : await readWait(db, workspaceId, ['alert_due', 'alert_unjudged'])
      // Last, because everyone who notes a change waits for this lock.
      await holdJob({ db }, job)
      const read = portion.walked ? [] : found.flatMap(({ companyId, question }) => (question ? companyId : []))
      return { companies: [...new Set([...waiting, ...read])], again: waitMs === null ? null : { waitMs } }
    },
  )
}

async function readReviewed({ db }: WithDatabase, workspaceId: number): Promise<bigint | null> {
  const { rows } = await sql<{ id: bigint | null }>`
    select reviewed_id as id from alert_position where workspace_id = ${workspaceId}`.execute(db)
  return rows[0]!.id
}

/** Part of a workspace that is not judged yet. */
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

/** Keeps documents from being judged until the transaction `ctx.db` inside the workspace ends, and has what becomes due judged then. */
export async function holdPosition({ db }: WithDatabase, workspaceId: number): Promise<void> {
  await lockPosition(db, follower, workspaceId)
  beforeCommit({ db }, { lock: 'jobs', workspaceId }, () => queueJob({ db }, { kind: follower.kind, workspaceId }))
}
