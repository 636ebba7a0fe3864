/** Choices that a seed repeats. */
export interface Chance {
  /** From 0 to below 1. */
  next(): number
  between(from: number, to: number): number
  pick<T>(items: readonly T[]): T
}

export function createChance(seed: number): Chance {
  // mulberry32
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    between: (from, to) => from + next() * (to - from),
    pick: (items) => items[Math.floor(next() * items.length)]!,
  }
}
