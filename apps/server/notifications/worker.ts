import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { asOperator } from '../platform/database.ts'
import { claimRows, fromNow, startJobs } from '../platform/jobs/jobs.ts'

/** Looks at a workspace and does what is due there; doing it twice changes nothing. */
export type Review = (ctx: Context, workspaceId: number) => Promise<void>

const minuteMs = 60_000
const everyMs = 60 * minuteMs
const afterFailureMs = 5 * minuteMs
const atOnce = 2
const idleMs = 2_000

/** Reviews every workspace once an hour, until disposed. A review that fails does not stop the others. */
export function startReviewWorker(ctx: Context, reviews: readonly Review[]): AsyncDisposable {
  return startJobs(
    {
      name: 'review',
      claim: () => claimWorkspace(ctx),
      run: async ({ id: workspaceId }) => {
        let failed = false
        for (const review of reviews) {
          try {
            await review(ctx, workspaceId)
          } catch (error) {
            failed = true
            ctx.log.error({ err: error, workspaceId, review: review.name }, 'a review of a workspace failed')
          }
        }
        if (failed) await reviewSoon(ctx, workspaceId)
      },
      concurrency: atOnce,
      idleMs,
    },
    ctx.log,
  )
}

// A review needs no lease: its workspace is not due again for an hour, and two reviews of it at the same time do no harm.
async function claimWorkspace(ctx: Pick<Context, 'db'>): Promise<{ id: number } | null> {
  const lane = {
    due: sql`review_at <= now()`,
    order: sql`review_at`,
    set: sql`review_at = ${fromNow(everyMs)}`,
  }
  return asOperator(ctx, async ({ db }) => {
    const claimed = await claimRows<{ id: number }, typeof lane>(db, {
      table: sql`workspace`,
      workspace: 'id',
      lanes: [lane],
      leaseMs: null,
      returning: sql`id`,
    })
    return claimed?.rows[0] ?? null
  })
}

async function reviewSoon(ctx: Pick<Context, 'db'>, workspaceId: number): Promise<void> {
  await asOperator(ctx, ({ db }) =>
    db
      .updateTable('workspace')
      .set({ review_at: fromNow(afterFailureMs) })
      .where('id', '=', workspaceId)
      .execute(),
  )
}
