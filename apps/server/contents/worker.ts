import type { Turn } from '../changes/changes.ts'
import { isDue } from '../jobs/due.ts'
import { startJobs, together } from '../jobs/jobs.ts'
import { watchRests } from '../jobs/rests.ts'
import type { Context } from '../platform/context.ts'
import { claimTurn, due, moveRests, postponeTurn, restAfterTurn, takeTurn } from './following.ts'

// As the judging of alerts: capture and people go first.
const rest = { share: 2, msMax: () => 2_000 }

/** Reads what is inside the documents of all workspaces, a bounded part of one after the other, until disposed. */
export function startContentWorker(ctx: Context): AsyncDisposable {
  const jobs = startJobs<Turn>(
    {
      name: 'contents',
      mayFind: () => isDue(ctx, due),
      claim: () => claimTurn(ctx),
      run: (turn) => takeTurn(ctx, turn),
      rest: { ...rest, keep: (turn, ms) => restAfterTurn(ctx, turn, ms) },
      // A minute.
      postpone: (turn) => postponeTurn(ctx, turn, ctx.config.sefaz.hourMs / 60),
      describe: ({ workspaceId }) => ({ workspaceId }),
      concurrency: 2,
      idleMs: 1_000,
    },
    ctx.log,
  )
  return together([jobs, watchRests(ctx, 'contents', moveRests)])
}
