import type { Turn } from '../../documents/following.ts'
import type { Context } from '../../platform/context.ts'
import { isDue } from '../../platform/jobs/due.ts'
import { type JobSource, startJobs, together } from '../../platform/jobs/loop.ts'
import { claimTurn, due, postponeTurn, takeTurn } from './following.ts'
import { begunTests, claimTest, goOnTesting, postponeTest, type TestTurn } from './trying.ts'

const idleMs = 1_000
// A workspace with one document to be judged does not wait for the turn of one with thousands.
const concurrency = 2

/**
 * Judges what changes in all workspaces, and what is tried, a bounded part of one after the other, until disposed. `judged` is told of which companies documents were
 * read: what waited for that may go on.
 */
export function startAlertWorker(
  ctx: Context,
  { judged }: { judged: (workspaceId: number, companyId: number) => Promise<unknown> },
): AsyncDisposable {
  return together([startJobs(judgements(ctx, judged), ctx.log), startJobs(tests(ctx), ctx.log)])
}

function judgements(
  ctx: Context,
  judged: (workspaceId: number, companyId: number) => Promise<unknown>,
): JobSource<Turn> {
  return {
    name: 'alerts',
    mayFind: () => isDue(ctx, due),
    claim: () => claimTurn(ctx),
    run: async (turn) => {
      for (const companyId of await takeTurn(ctx, turn)) await judged(turn.workspaceId, companyId)
    },
    // A minute.
    postpone: (turn) => postponeTurn(ctx, turn, ctx.config.sefaz.hourMs / 60),
    describe: ({ workspaceId }) => ({ workspaceId }),
    concurrency,
    idleMs,
  }
}

function tests(ctx: Context): JobSource<TestTurn> {
  return {
    name: 'alert tests',
    mayFind: () => isDue(ctx, begunTests),
    claim: () => claimTest(ctx),
    run: (turn) => goOnTesting(ctx, turn),
    postpone: (turn) => postponeTest(ctx, turn, ctx.config.sefaz.hourMs / 60),
    describe: ({ workspaceId, rule }) => ({ workspaceId, rule }),
    concurrency,
    idleMs,
  }
}
