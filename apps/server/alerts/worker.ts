import type { Turn } from '../changes/changes.ts'
import { isDue } from '../jobs/due.ts'
import { type JobKind, startJobs, together } from '../jobs/jobs.ts'
import type { Context } from '../platform/context.ts'
import { pause } from '../platform/pause.ts'
import { claimTurn, due, postponeTurn, takeTurn } from './following.ts'
import { begunTests, claimTest, goOnTesting, postponeTest, type TestTurn } from './trying.ts'

const idleMs = 1_000
// Nobody waits for a verdict as for a page of the capture: it rests four times as long as it worked, so it takes at most a fifth of the time from
// what is written, whatever a verdict costs. Turns are short; this is for one that was not.
const restShare = 4
const restMsMax = 60_000

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

function judgements(ctx: Context, judged: (workspaceId: number, companyId: number) => Promise<unknown>): JobKind<Turn> {
  return {
    name: 'alerts',
    mayFind: () => isDue(ctx, due),
    claim: () => claimTurn(ctx),
    run: async (turn, signal) => {
      const begun = performance.now()
      for (const companyId of await takeTurn(ctx, turn)) await judged(turn.workspaceId, companyId)
      await rest(begun, signal)
    },
    // A minute.
    postpone: (turn) => postponeTurn(ctx, turn, ctx.config.sefaz.hourMs / 60),
    describe: ({ workspaceId }) => ({ workspaceId }),
    concurrency: 1,
    idleMs,
  }
}

function tests(ctx: Context): JobKind<TestTurn> {
  return {
    name: 'alert tests',
    mayFind: () => isDue(ctx, begunTests),
    claim: () => claimTest(ctx),
    run: async (turn, signal) => {
      const begun = performance.now()
      await goOnTesting(ctx, turn)
      await rest(begun, signal)
    },
    postpone: (turn) => postponeTest(ctx, turn, ctx.config.sefaz.hourMs / 60),
    describe: ({ workspaceId, rule }) => ({ workspaceId, rule }),
    concurrency: 1,
    idleMs,
  }
}

const rest = (begun: number, signal: AbortSignal) =>
  pause(Math.min(restMsMax, restShare * (performance.now() - begun)), signal)
