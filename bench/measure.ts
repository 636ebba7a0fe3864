/** A variant to time: it is called once per round and answers how many units it did. */
export interface Variant {
  name: string
  run: () => number | Promise<number>
}

export interface Timing {
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
  const speeds = variants.map(() => [] as number[])
  for (let round = -1; round < rounds; round++) {
    for (const [index, variant] of variants.entries()) {
      const began = performance.now()
      const units = await variant.run()
      if (round >= 0) speeds[index]!.push((units * 1000) / (performance.now() - began))
    }
  }
  return Object.fromEntries(
    variants.map(({ name }, index) => [
      name,
      {
        perSecond: Math.round(median(speeds[index]!)),
        ratio: Number(median(speeds[index]!.map((speed, round) => speed / speeds[0]![round]!)).toFixed(3)),
      },
    ]),
  )
}

/** One run of a variant that is too long to be repeated by `compare`. */
export interface Measured {
  variant: string
  round: number
  units: number
  ms: number
}

/** As `compare` does: the variant of the first run is what the others are compared with. */
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

/** Prints the one line of a program. */
export function report(program: string, result: object): void {
  console.log(JSON.stringify({ program, ...result }))
}
