import type { Context } from '../context.ts'
import { carryOut, claimJob, type JobKind } from './jobs.ts'

/** Carries out the jobs of these kinds, one after the other, until none is due. */
export async function carryOutDue(ctx: Context, kinds: readonly JobKind[]): Promise<void> {
  const { signal } = new AbortController()
  for (let job = await claimJob(ctx, kinds, []); job; job = await claimJob(ctx, kinds, [])) {
    const { kind } = job
    await carryOut(ctx, kinds.find(({ name }) => name === kind)!, job, signal)
  }
}
