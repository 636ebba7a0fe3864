import fc from 'fast-check'

// A commit runs the same cases each time, and few of them: a change is judged by what it changes.
// `SEED=7 RUNS=full` looks for other cases, as many as each property names. A case that fails stays as an example of its property.
const { SEED = '2026', RUNS } = process.env

/** Whether each kind of case is met more than once. */
export const thorough = RUNS === 'full'

/** How many cases a property runs: all of `full` with `RUNS=full`, an eighth of them otherwise. */
export function runs(full: number): number {
  return thorough ? full : Math.ceil(full / 8)
}

fc.configureGlobal({ seed: Number(SEED), numRuns: runs(100) })
