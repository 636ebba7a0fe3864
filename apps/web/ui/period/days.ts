/** A day as yyyy-MM-dd, free of time zones. */
type Day = string

export interface Period {
  from: Day
  to: Day
}

export function toDay(date: Date): Day {
  const month = String(date.getMonth() + 1).padStart(2, '0')
  return `${String(date.getFullYear()).padStart(4, '0')}-${month}-${String(date.getDate()).padStart(2, '0')}`
}

export function fromDay(day: Day): Date {
  return new Date(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1, Number(day.slice(8, 10)))
}

/** First to last day of the month that is `offset` months away from `today`. */
export function monthPeriod(today: Date, offset = 0): Period {
  const year = today.getFullYear()
  const month = today.getMonth() + offset
  return { from: toDay(new Date(year, month, 1)), to: toDay(new Date(year, month + 1, 0)) }
}

export function lastDays(today: Date, days: number): Period {
  return { from: toDay(new Date(today.getFullYear(), today.getMonth(), today.getDate() - days)), to: toDay(today) }
}

/** The day in `text`, written dd/MM/yyyy or yyyy-MM-dd, or null when there is no such day. */
export function parseDay(text: string): Day | null {
  const day = text.trim().replace(/^(\d{2})\/(\d{2})\/(\d{4})$/, '$3-$2-$1')
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || day < '1900') return null
  return toDay(fromDay(day)) === day ? day : null
}

/** dd/MM/yyyy. */
export function writeDay(day: Day): string {
  return `${day.slice(8, 10)}/${day.slice(5, 7)}/${day.slice(0, 4)}`
}

/** "setembro de 2026", of a month written yyyy-MM. */
export function writeMonth(month: string): string {
  return new Intl.DateTimeFormat('pt-BR', { month: 'long', year: 'numeric' }).format(fromDay(`${month}-01`))
}
