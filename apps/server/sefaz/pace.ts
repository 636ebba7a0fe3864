import type { Config } from '../config.ts'

// Eight conversations are no load for an authority that responds in four seconds. A slower one gets
// more at once, so that as many companies have their turn per hour; a failing one gets fewer.
const conversationsMin = 8
const usualMs = 4_000
const weight = 1 / 10

const meansMs = new WeakMap<Config['sefaz'], number>()

/** Notes how long the authority took for a response; null: none came. */
export function notePace(sefaz: Config['sefaz'], durationMs: number | null): void {
  const mean = meansMs.get(sefaz) ?? usualMs
  meansMs.set(sefaz, durationMs === null ? mean / 2 : mean + weight * (durationMs - mean))
}

/** How many conversations all processes may hold at once, as far as this process can tell; never more than are configured. */
export function conversationsNow(sefaz: Config['sefaz']): number {
  const mean = meansMs.get(sefaz) ?? usualMs
  return Math.min(sefaz.conversations, Math.max(conversationsMin, Math.round((conversationsMin * mean) / usualMs)))
}
