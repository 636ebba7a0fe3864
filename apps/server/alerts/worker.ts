import type { Turn } from '../changes/changes.ts'
import { isDue } from '../jobs/due.ts'
import { type JobKind, startJobs, together } from '../jobs/jobs.ts'
import { watchRests } from '../jobs/rests.ts'
import type { Context } from '../platform/context.ts'
import { claimTurn, due, moveRests, postponeTurn, restAfterTurn, takeTurn } from './following.ts'
import { begunTests, claimTest, goOnTesting, postponeTest, restAfterTest, type TestTurn } from './trying.ts'

const idleMs = 1_000
// Nobody waits for a verdict as for a page of the capture: a workspace rests four times as long as it was worked for. Turns are short; the longest rest is for one
// that was not.
const share = 4
const restMsMax = 60_000
// As long as it rests for each document where nobody else is at work. A turn that took longer waited for others, who are not to be spared it once more.
const restMsEach = 50
// Who has one document to be judged does not wait for the turn of who has thousands.
const concurrency = 2

/**
 * Judges what changes in all workspaces, and what is tried, a bounded part of one after the other, until disposed. `judged` is told of which companies documents were
 * read: what waited for that may go on.
 */
export function startAlertWorker(
  ctx: Context,
  { judged }: { judged: (workspaceId: number, companyId: number) => Promise<unknown> },
): AsyncDisposable {
  return together([
    startJobs(judgements(ctx, judged), ctx.log),
    startJobs(tests(ctx), ctx.log),
    watchRests(ctx, 'alerts', moveRests),
  ])
}

function judgements(
  ctx: Context,
  judged: (workspaceId: number, companyId: number) => Promise<unknown>,
): JobKind<Turn, number> {
  return {
    name: 'alerts',
    mayFind: () => isDue(ctx, due),
    claim: () => claimTurn(ctx),
    run: async (turn) => {
      const { companies, documents } = await takeTurn(ctx, turn)
      for (const companyId of companies) await judged(turn.workspaceId, companyId)
      return documents
    },
    rest: {
      share,
      msMax: (documents) => Math.min(restMsMax, restMsEach * Math.max(1, documents)),
      keep: (turn, ms) => restAfterTurn(ctx, turn, ms),
    },
    // A minute.
    postpone: (turn) => postponeTurn(ctx, turn, ctx.config.sefaz.hourMs / 60),
    describe: ({ workspaceId }) => ({ workspaceId }),
    concurrency,
    idleMs,
  }
}

function tests(ctx: Context): JobKind<TestTurn> {
  return {
    name: 'alert tests',
    mayFind: () => isDue(ctx, begunTests),
    claim: () => claimTest(ctx),
    run: (turn) => goOnTesting(ctx, turn),
    rest: { share, msMax: () => restMsMax, keep: (turn, ms) => restAfterTest(ctx, turn, ms) },
    postpone: (turn) => postponeTest(ctx, turn, ctx.config.sefaz.hourMs / 60),
    describe: ({ workspaceId, rule }) => ({ workspaceId, rule }),
    concurrency,
    idleMs,
  }
}
