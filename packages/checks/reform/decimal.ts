// Thirty decimals hold every product of a value and three rates as the layouts write them (2 + 3 × 6 decimals), so nothing is ever rounded.
const one = 10n ** 30n

/** A decimal text as a whole number of 10⁻³⁰; nothing is 0. */
export function scaled(text: string | undefined): bigint {
  const [whole = '0', fraction = ''] = (text ?? '0').split('.')
  return BigInt(whole + fraction.padEnd(30, '0'))
}

export const cent = one / 100n

/** `percent` per cent of a value, both scaled. */
export function share(value: bigint, percent: bigint): bigint {
  return (value * percent) / (100n * one)
}

/** A value less `percent` per cent of it, both scaled. */
export function without(value: bigint, percent: bigint): bigint {
  return value - share(value, percent)
}

export function within(a: bigint, b: bigint, tolerance: bigint): boolean {
  const difference = a - b
  return (difference < 0n ? -difference : difference) <= tolerance
}

/** `R$ 1.234,56` of a scaled value, rounded half up. */
export function reais(value: bigint): string {
  const sign = value < 0n ? '-' : ''
  const cents = ((value < 0n ? -value : value) + cent / 2n) / cent
  const whole = (cents / 100n).toLocaleString('pt-BR')
  return `R$ ${sign}${whole},${String(cents % 100n).padStart(2, '0')}`
}

/** `0,04 %` of a scaled rate, with at most four decimals. */
export function percentText(value: bigint): string {
  const sign = value < 0n ? '-' : ''
  const text = String(((value < 0n ? -value : value) + one / 20_000n) / (one / 10_000n)).padStart(5, '0')
  let fraction = text.slice(-4)
  while (fraction.endsWith('0')) fraction = fraction.slice(0, -1)
  return `${sign}${text.slice(0, -4)}${fraction && `,${fraction}`} %`
}
