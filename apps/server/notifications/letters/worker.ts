import { sql } from 'kysely'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { asOperator } from '../../platform/database.ts'
import { claimRows } from '../../platform/jobs/claim.ts'
import { startJobs } from '../../platform/jobs/loop.ts'
import { queueLetters } from './letters.ts'

interface Turn {
  workspaceId: number
  now: Date
  /** When it would be due again if this process ended now. */
  claimed: string
}

const idleMs = 5_000
const retryMs = 10 * 60_000

/** Queues the letters about alerts and deadlines of all workspaces when they are due, until disposed. */
export function startLetterWorker(ctx: Context): AsyncDisposable {
  return startJobs<Turn>(
    {
      name: 'letters',
      claim: () => claimTurn(ctx),
      run: (turn) => takeTurn(ctx, turn),
      describe: ({ workspaceId }) => ({ workspaceId }),
      concurrency: 1,
      idleMs,
    },
    ctx.log,
  )
}

/** Takes a workspace in which there is news, or in which a letter is due; null: none. */
export async function claimTurn(ctx: WithDatabase): Promise<Turn | null> {
  const news = sql`(select p.news_id from alert_position p where p.workspace_id = t.workspace_id)`
  const lane = {
    due: sql`(t.next_at <= now() or t.news_id < ${news})`,
    order: sql`t.next_at, t.workspace_id`,
    // Two at the same time do no harm: a letter is queued once.
    set: sql`next_at = now() + ${retryMs} * interval '1 ms', news_id = greatest(${news}, 0)`,
  }
  return asOperator(ctx, async ({ db }) => {
    await sql`
      insert into letter_turn (workspace_id, news_id)
      select p.workspace_id, 0 from alert_position p
       where p.news_id > 0 and not exists (select from letter_turn t where t.workspace_id = p.workspace_id) limit 100
      on conflict do nothing`.execute(db)
    const claimed = await claimRows<Turn, typeof lane>(db, {
      table: sql`letter_turn t`,
      key: ['workspace_id'],
      lanes: [lane],
      leaseMs: null,
      returning: sql`workspace_id as "workspaceId", chosen_at as now, (next_at at time zone 'UTC') as claimed`,
    })
    return claimed?.rows[0] ?? null
  })
}

/** Queues what is due in the workspace of a turn, and writes down when to look again, unless that is to be sooner by now. */
export async function takeTurn(
  ctx: Pick<Context, 'db' | 'config'>,
  { workspaceId, now, claimed }: Turn,
): Promise<void> {
  const next = await queueLetters(ctx, workspaceId, now)
  const at = sql`coalesce(${next}::timestamptz, 'infinity')`
  await asOperator(ctx, ({ db }) =>
    sql`
      update letter_turn set next_at = case when next_at = ${claimed}::timestamptz then ${at} else least(next_at, ${at}) end
       where workspace_id = ${workspaceId}`.execute(db),
  )
}
