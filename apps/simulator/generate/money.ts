/** `2990` cents as `29.90`. */
export function money(cents: number): string {
  return fixed(cents, 2)
}

/** An integer number of units of 10^-places, written with that many decimals. */
export function fixed(units: number, places: number): string {
  const digits = String(Math.abs(units)).padStart(places + 1, '0')
  const sign = units < 0 ? '-' : ''
  return `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`
}

/** The part of an amount in cents that a rate in ten thousandths of one percent takes, rounded half up. */
export function share(cents: number, rate: number): number {
  return Number((BigInt(cents) * BigInt(rate) + 500_000n) / 1_000_000n)
}

/** A rate in ten thousandths of one percent, written with two decimals, or four. */
export function rateText(rate: number, places: 2 | 4 = 2): string {
  return places === 4 ? fixed(rate, 4) : fixed(Math.round(rate / 100), 2)
}

/** Splits an amount by weights; the parts add up to the amount. */
export function split(cents: number, weights: readonly number[]): number[] {
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  let given = 0
  return weights.map((weight, index) => {
    const part = index === weights.length - 1 ? cents - given : Number((BigInt(cents) * BigInt(weight)) / BigInt(whole))
    given += part
    return part
  })
}

export function sum(cents: readonly number[]): number {
  return cents.reduce((total, one) => total + one, 0)
}
