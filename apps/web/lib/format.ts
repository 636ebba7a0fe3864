// Made when first needed: a slow phone takes some milliseconds for each.
const money = once(() => new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' }))
const integer = once(() => new Intl.NumberFormat('pt-BR'))
const relative = once(() => new Intl.RelativeTimeFormat('pt-BR', { numeric: 'always' }))
const clock = once(() => new Intl.DateTimeFormat('pt-BR', { hour: '2-digit', minute: '2-digit' }))

/** Nothing where no value is known. */
export function formatMoney(value: number | null): string {
  return value === null ? '' : money().format(value)
}

export function formatInteger(value: number): string {
  return integer().format(value)
}

/** "1 nota", "1.240 notas". */
export function formatCount(value: number, one: string, many: string): string {
  return `${integer().format(value)} ${value === 1 ? one : many}`
}

/** dd/MM/yyyy of a date as it is written, without moving it to another time zone. */
export function formatDate(text: string): string {
  return text.replace(/^(\d{4})-(\d{2})-(\d{2}).*$/s, '$3/$2/$1')
}

/** dd/MM/yyyy of an instant, in the time zone of the person; a date without time is that day wherever it is read. */
export function formatInstantDate(instant: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(instant)) return formatDate(instant)
  const date = new Date(instant)
  return Number.isNaN(date.getTime()) ? 'Data inválida' : `${dayOfYear(date)}/${date.getFullYear()}`
}

/** HH:mm of a date as it is written; empty when the document gives the day only. */
export function formatWrittenTime(text: string): string {
  return /T(\d{2}:\d{2})/.exec(text)?.[1] ?? ''
}

/** HH:mm of an instant, in the time zone of the person. */
export function formatTime(instant: string): string {
  const date = new Date(instant)
  return Number.isNaN(date.getTime()) ? '' : clock().format(date)
}

/** "14:10" today, "21/11 às 09:00" on another day. */
export function formatMoment(instant: string, now: Date): string {
  const date = new Date(instant)
  if (Number.isNaN(date.getTime())) return ''
  const time = clock().format(date)
  return date.toDateString() === now.toDateString() ? time : `${dayOfYear(date)} às ${time}`
}

/** "às 14:10" today, "em 21/11 às 09:00" on another day. */
export function formatAtMoment(instant: string, now: Date): string {
  const moment = formatMoment(instant, now)
  if (moment === '') return ''
  return moment.includes('/') ? `em ${moment}` : `às ${moment}`
}

function dayOfYear(date: Date): string {
  return `${String(date.getDate()).padStart(2, '0')}/${String(date.getMonth() + 1).padStart(2, '0')}`
}

/** "há 23 minutos", "Nunca" or "Data inválida". */
export function formatRelative(instant: string | null, now: Date): string {
  if (!instant) return 'Nunca'
  const time = new Date(instant).getTime()
  if (Number.isNaN(time)) return 'Data inválida'
  const seconds = Math.round((time - now.getTime()) / 1000)
  const size = Math.abs(seconds)
  if (size < 60) return 'há menos de 1 minuto'
  if (size < 3600) return relative().format(Math.trunc(seconds / 60), 'minute')
  if (size < 86_400) return relative().format(Math.trunc(seconds / 3600), 'hour')
  if (size < 2_592_000) return relative().format(Math.trunc(seconds / 86_400), 'day')
  if (size < 31_536_000) return relative().format(Math.trunc(seconds / 2_592_000), 'month')
  return relative().format(Math.trunc(seconds / 31_536_000), 'year')
}

/** A file name that every operating system accepts. */
export function fileName(title: string): string {
  return title
    .replace(/[\\/:*?"<>|\p{Cc}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 120)
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
