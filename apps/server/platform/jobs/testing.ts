import type { RawBuilder } from 'kysely'
import { expect } from 'vitest'
import type { Context, WithDatabase } from '../context.ts'
import { isDue } from './due.ts'
import { carryOut, claimJob, type JobKind } from './jobs.ts'

/** `claim`, of which a loop at rest makes no use while there are no `rows`: it fails when it finds something nevertheless. */
export function knownBefore<C extends WithDatabase, Rest extends unknown[], Job>(
  rows: RawBuilder<unknown>,
  claim: (ctx: C, ...rest: Rest) => Promise<Job | null>,
): (ctx: C, ...rest: Rest) => Promise<Job | null> {
  return async (ctx, ...rest) => {
    const isKnown = await isDue(ctx, rows)
    const job = await claim(ctx, ...rest)
    if (job !== null) expect(isKnown).toBe(true)
    return job
  }
}

/** Carries out the jobs of these kinds, one after the other, until none is due. */
export async function carryOutDue(ctx: Context, kinds: readonly JobKind[]): Promise<void> {
  const { signal } = new AbortController()
  for (let job = await claimJob(ctx, kinds, []); job; job = await claimJob(ctx, kinds, [])) {
    const { kind } = job
    await carryOut(ctx, kinds.find(({ name }) => name === kind)!, job, signal)
  }
}
