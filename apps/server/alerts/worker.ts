import { startJobs } from '../jobs/jobs.ts'
import type { Context } from '../platform/context.ts'
import { pause } from '../platform/pause.ts'
import { claimTurn, postponeTurn, type Turn, takeTurn } from './following.ts'

const idleMs = 1_000
// Nobody waits for a verdict as for a page of the capture: it rests four times as long as it worked.
const restShare = 4
const restMsMax = 5_000

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
      run: async (turn, signal) => {
        const begun = performance.now()
        for (const companyId of await takeTurn(ctx, turn)) await judged(turn.workspaceId, companyId)
        await pause(Math.min(restMsMax, restShare * (performance.now() - begun)), signal)
      },
      // A minute.
      postpone: (turn) => postponeTurn(ctx, turn, ctx.config.sefaz.hourMs / 60),
      describe: ({ workspaceId }) => ({ workspaceId }),
      concurrency: 1,
      idleMs,
    },
    ctx.log,
  )
}
