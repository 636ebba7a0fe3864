import { chaveParts } from '@vigia/dfe/chave'
import { localTime } from '@vigia/dfe/document'
import { parseKey } from '@vigia/dfe/families/lookup'

/** Cents of a decimal text in reais, rounded half up; 0 if missing. Exact to 90 trillion reais. */
export function cents(text: string | undefined): number {
  if (text === undefined) return 0
  const [whole = '0', fraction = ''] = text.split('.')
  const digits = fraction.padEnd(3, '0')
  return Number(whole) * 100 + Number(digits.slice(0, 2)) + (digits.charAt(2) >= '5' ? 1 : 0)
}

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** Milliseconds of a date text, without offset in São Paulo time (-03:00). NaN if it is no date. */
export function instantOf(text: string): number {
  const time = localTime(text)
  if (time === null) return Number.NaN
  return Date.parse(`${time.local}Z`) - (time.offset ?? -180) * minuteMs
}

/** Date and hour at the place of the document; null when the text has no time of day. */
export function localHour(text: string): { day: string; hour: number; weekday: number } | null {
  if (text.length < 19) return null
  const day = text.slice(0, 10)
  const [year, month, date] = [day.slice(0, 4), day.slice(5, 7), day.slice(8)].map(Number)
  const weekday = new Date(Date.UTC(year!, month! - 1, date)).getUTCDay()
  return { day, hour: Number(text.slice(11, 13)), weekday }
}

const brazilian = new Intl.NumberFormat('pt-BR', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** R$ 1.234,56 of cents. */
export function reais(value: number): string {
  return `R$ ${brazilian.format(value / 100)}`
}

/** A number with one decimal and a comma; none when it is whole. */
export function decimal(value: number): string {
  const text = value.toFixed(1)
  return text.endsWith('.0') ? text.slice(0, -2) : text.replace('.', ',')
}

/** 10/05/2026 of a date as written. */
export function dayText(text: string): string {
  return `${text.slice(8, 10)}/${text.slice(5, 7)}/${text.slice(0, 4)}`
}

/** `nº 12`, the way a person finds a document. */
export function numberText(chave: string): string {
  return `nº ${chaveParts(chave).numero}`
}

/** Whether a chave is of an NF-e of model 55; an NFC-e needs no transport. */
export function isNote(chave: string): boolean {
  return parseKey(chave)?.model === '55'
}

/** Whether a document was issued before another; of the same instant the smaller chave is first. */
export function isBefore(
  one: { chave: string; issuedAt: string },
  other: { chave: string; issuedAt: string },
): boolean {
  const [a, b] = [Date.parse(one.issuedAt), Date.parse(other.issuedAt)]
  return a < b || (a === b && one.chave < other.chave)
}

/** 10/05/2026 of an instant, in São Paulo. */
export function instantText(at: number): string {
  return dayText(new Date(at - 3 * hourMs).toISOString())
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Empirical quantile: the smallest value that a share of at least `q` does not exceed. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * q) - 1)]!
}

/** Robust z of a value against a sample, in natural logarithms: 0.6745·(ln v − med)/max(MAD, 0.05). Values are at least one cent. */
export function robustZ(value: number, sample: readonly number[]): number {
  const logs = sample.map((each) => Math.log(Math.max(each, 1)))
  const middle = median(logs)
  const spread = median(logs.map((log) => Math.abs(log - middle)))
  return (0.6745 * (Math.log(Math.max(value, 1)) - middle)) / Math.max(spread, 0.05)
}
