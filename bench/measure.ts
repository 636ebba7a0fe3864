import type { Line } from './numbers.ts'

/** A variant to time: it is called once per round and returns how many units it did. */
interface Variant {
  name: string
  run: () => number | Promise<number>
}

interface Timing {
  /** Units per second, median over the rounds. */
  perSecond: number
  /** Speed relative to the first variant, median of the rounds' own ratios. */
  ratio: number
}

/**
 * Times variants turn by turn, so that a noisy machine disturbs all of them alike. The first variant is what the others are compared
 * with; one round before the first is not counted.
 */
export async function compare(rounds: number, variants: Variant[]): Promise<Record<string, Timing>> {
  const runs: Measured[] = []
  for (let round = -1; round < rounds; round++) {
    for (const { name, run } of variants) {
      const began = performance.now()
      const units = await run()
      if (round >= 0) runs.push({ variant: name, round, units, ms: performance.now() - began })
    }
  }
  return summarize(runs)
}

/** One run of a variant. */
export interface Measured {
  variant: string
  round: number
  units: number
  ms: number
}

/** Speed of each variant, and its ratio to the variant of the first run. */
export function summarize(runs: readonly Measured[]): Record<string, Timing> {
  const speed = ({ units, ms }: Measured) => (units * 1000) / ms
  const first = runs.filter((run) => run.variant === runs[0]!.variant)
  const variants = Map.groupBy(runs, (run) => run.variant)
  return Object.fromEntries(
    [...variants].map(([name, own]) => [
      name,
      {
        perSecond: Math.round(median(own.map(speed))),
        ratio: Number(
          median(own.map((run) => speed(run) / speed(first.find(({ round }) => round === run.round)!))).toFixed(3),
        ),
      },
    ]),
  )
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}

/** The value below which the share `q` of them lies. */
export function quantile(values: number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]!
}

/** Prints one line of JSON: everything that was measured, and the lines of docs/numbers.md. */
export function report(program: string, result: object, lines: readonly Line[] = []): void {
  console.log(JSON.stringify({ program, ...result, lines }))
}
