import { monthPeriod } from './days.ts'

// Months as aaaa-MM.

/** A month moved by months. */
export function moveMonth(month: string, by: number): string {
  return monthPeriod(new Date(Number(month.slice(0, 4)), Number(month.slice(5)) - 1, 1), by).from.slice(0, 7)
}

/** The months that can be chosen, the newest first. */
export function monthChoices(today: Date): string[] {
  return Array.from({ length: 61 }, (_, back) => monthPeriod(today, -back).from.slice(0, 7))
}

interface Months {
  from: string
  to: string
}

const monthShape = /^(19|20)\d\d-(0[1-9]|1[0-2])$/

/** The period that an address names, of `max` months at most; null: none that makes sense. */
export function readMonths(from: string | null, to: string | null, max: number): Months | null {
  if (from === null || to === null || !monthShape.test(from) || !monthShape.test(to)) return null
  return from <= to && to < moveMonth(from, max) ? { from, to } : null
}

/** Changes one end of a period; moves the other if it would be too long or reversed. */
export function withEnd(period: Months, end: 'from' | 'to', month: string, max: number): Months {
  const next = { ...period, [end]: month }
  if (next.from > next.to) return { from: month, to: month }
  if (next.to < moveMonth(next.from, max)) return next
  const far = max - 1
  return end === 'from' ? { from: month, to: moveMonth(month, far) } : { from: moveMonth(month, -far), to: month }
}
