import { announcementJob } from './notifications/teller.ts'
import type { Context } from './platform/context.ts'
import { type JobKind, startQueue } from './platform/jobs/jobs.ts'
import { together } from './platform/jobs/loop.ts'
import { mailJob } from './platform/mail/worker.ts'
import type { Review } from './slice.ts'
import { slices } from './slices.ts'

/** Captures, sends, tells and looks after everything else that no call waits for, until disposed. */
export async function startWorker(ctx: Context): Promise<AsyncDisposable> {
  await using begun = new AsyncDisposableStack()
  const loops: AsyncDisposable[] = []
  // All stop at once, so no query begins while a slow mail server is waited for.
  begun.use(together(loops))
  for (const loop of slices.flatMap(({ loops }) => loops)) loops.push(await loop(ctx))
  const jobs = [
    announcementJob(Object.assign({}, ...slices.map(({ announcements }) => announcements))),
    mailJob(Object.assign({}, ...slices.map(({ mails }) => mails))),
    reviewJob(slices.flatMap(({ reviews }) => reviews)),
    ...slices.flatMap(({ jobs }) => jobs),
  ]
  loops.push(await startQueue(ctx, { jobs, crons: slices.flatMap(({ crons }) => crons) }))
  return begun.move()
}

const minuteMs = 60_000

/** Reviews a workspace once an hour. A review that fails does not stop the others. */
export function reviewJob(reviews: readonly Review[]): JobKind {
  return {
    name: 'review',
    concurrency: 2,
    run: async (ctx, { workspaceId }) => {
      let error: string | undefined
      for (const review of reviews) {
        try {
          await review(ctx, workspaceId!)
        } catch (err) {
          error = `${review.name}: ${err instanceof Error ? err.message : err}`
          ctx.log.error({ err, workspaceId, review: review.name }, 'a review of a workspace failed')
        }
      }
      return error === undefined ? { waitMs: 60 * minuteMs } : { waitMs: 5 * minuteMs, error }
    },
  }
}
