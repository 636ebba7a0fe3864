import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { asOperator } from '../platform/database.ts'
import { keepWorking } from '../platform/keep-working.ts'

/** Looks at a workspace and does what is due there; doing it twice changes nothing. */
export type Review = (ctx: Context, workspaceId: number) => Promise<void>

const everyMinutes = 60
const afterFailureMinutes = 5
const atOnce = 2
const idleMs = 2_000

/** Looks at every workspace once an hour, until disposed. A review that fails keeps no other from its work. */
export function startReviewWorker(ctx: Context, reviews: readonly Review[]): AsyncDisposable {
  return keepWorking(
    {
      claim: () => claimWorkspace(ctx),
      carryOut: async (workspaceId) => {
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
      atOnce,
      idleMs,
    },
    ctx.log,
  )
}

async function claimWorkspace(ctx: Pick<Context, 'db'>): Promise<number | null> {
  const due = sql`review_at <= now()`
  // Later than any review is put off: the clock was set back since.
  const astray = sql`review_at > ${inMinutes(everyMinutes + 1)}`
  const next = (condition: RawBuilder<unknown>) =>
    sql`(select id from workspace where ${condition} order by review_at limit 1 for no key update skip locked)`
  return asOperator(ctx, async ({ db }) => {
    const { rows } = await sql<{ id: number }>`
      update workspace set review_at = ${inMinutes(everyMinutes)}
       where id = coalesce(${next(due)}, ${next(astray)})
      returning id`.execute(db)
    return rows[0]?.id ?? null
  })
}

async function reviewSoon(ctx: Pick<Context, 'db'>, workspaceId: number): Promise<void> {
  await asOperator(ctx, ({ db }) =>
    db
      .updateTable('workspace')
      .set({ review_at: inMinutes(afterFailureMinutes) })
      .where('id', '=', workspaceId)
      .execute(),
  )
}

const inMinutes = (minutes: number) => sql<Date>`now() + ${minutes} * interval '1 minute'`
