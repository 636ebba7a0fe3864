import type { RawBuilder } from 'kysely'
import { expect } from 'vitest'
import type { WithDatabase } from '../context.ts'
import { isDue } from './due.ts'

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
