import { startJobs } from '../jobs/jobs.ts'
import type { Context } from '../platform/context.ts'
import { claimTurn, postponeTurn, type Turn, takeTurn } from './following.ts'

const idleMs = 1_000
const afterFailureMs = 60_000

/**
 * Judges what changes in all workspaces, a bounded part of one after the other, until disposed. `judged` is told of which companies documents were
 * read: what waited for that may go on.
 */
export function startAlertWorker(
  ctx: Context,
  { judged }: { judged: (workspaceId: number, companyId: number) => Promise<unknown> },
): AsyncDisposable {
  return startJobs<Turn>(
    {
      name: 'alerts',
      claim: () => claimTurn(ctx),
      run: async (turn) => {
        for (const companyId of await takeTurn(ctx, turn)) await judged(turn.workspaceId, companyId)
      },
      postpone: (turn) => postponeTurn(ctx, turn, afterFailureMs),
      describe: ({ workspaceId }) => ({ workspaceId }),
      concurrency: 1,
      idleMs,
    },
    ctx.log,
  )
}
