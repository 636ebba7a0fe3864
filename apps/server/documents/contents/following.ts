import { sql } from 'kysely'
import type { Context } from '../../platform/context.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import { type Again, holdJob, type Job, type JobKind } from '../../platform/jobs/jobs.ts'
import { beginPosition, lockPosition, nextPortion, queueWhenBehind, readPosition } from '../following.ts'
import { contentFollower as follower } from '../unread.ts'
import { auditBills } from './freight.ts'
import { countProducts } from './products.ts'

const readMax = 100

/** Adds products and audits freight of what changes in workspaces, a bounded part of one after the other. */
export const contentJob: JobKind = { name: follower.kind, concurrency: 2, waits: [60_000], run: takeTurn }

export const reviewContents = (ctx: Context, workspaceId: number) => queueWhenBehind(ctx, follower, workspaceId)

async function takeTurn(ctx: Context, job: Job): Promise<Again | null> {
  const workspaceId = job.workspaceId!
  const portion = await readWorkspace(ctx, workspaceId, async ({ db }) => {
    const position = await readPosition(db, follower, workspaceId)
    return position && nextPortion(db, workspaceId, position, readMax)
  })
  if (!portion) return (await beginPosition(ctx, follower, workspaceId)) ? { waitMs: 0 } : null
  const { ids, next, more } = portion
  return inWorkspace({ db: ctx.db }, workspaceId, async ({ db }) => {
    await lockPosition(db, follower, workspaceId)
    await countProducts({ db }, workspaceId, ids)
    await auditBills({ db, log: ctx.log }, workspaceId, ids)
    await sql`
      update content_position
         set version = ${next.version}, walked_type = ${next.walkedType}::smallint, walked_at = ${next.walkedAt}::timestamp, walked_id = ${next.walkedId}::bigint
       where workspace_id = ${workspaceId}`.execute(db)
    // Last, because everyone who notes a change waits for this lock.
    await holdJob({ db }, job)
    return more ? { waitMs: 0 } : null
  })
}
