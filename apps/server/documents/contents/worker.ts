import type { Context } from '../../platform/context.ts'
import { isDue } from '../../platform/jobs/due.ts'
import { startJobs } from '../../platform/jobs/loop.ts'
import type { Turn } from '../following.ts'
import { claimTurn, due, postponeTurn, takeTurn } from './following.ts'

/** Reads what is inside the documents of all workspaces, a bounded part of one after the other, until disposed. */
export function startContentWorker(ctx: Context): AsyncDisposable {
  return startJobs<Turn>(
    {
      name: 'contents',
      mayFind: () => isDue(ctx, due),
      claim: () => claimTurn(ctx),
      run: (turn) => takeTurn(ctx, turn),
      // A minute.
      postpone: (turn) => postponeTurn(ctx, turn, ctx.config.sefaz.hourMs / 60),
      describe: ({ workspaceId }) => ({ workspaceId }),
      concurrency: 2,
      idleMs: 1_000,
    },
    ctx.log,
  )
}
