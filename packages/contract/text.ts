// Formats are made when they are first needed: a slow phone takes some milliseconds for each.
const money = once(() => new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' }))
const integer = once(() => new Intl.NumberFormat('pt-BR'))
const relative = once(() => new Intl.RelativeTimeFormat('pt-BR', { numeric: 'always' }))
const clock = once(() => new Intl.DateTimeFormat('pt-BR', { hour: '2-digit', minute: '2-digit' }))
const longDay = once(() => new Intl.DateTimeFormat('pt-BR', { weekday: 'long', day: '2-digit', month: '2-digit' }))
const month = once(() => new Intl.DateTimeFormat('pt-BR', { month: 'long', year: 'numeric', timeZone: 'UTC' }))

const timeZone = 'America/Sao_Paulo'
const brasiliaDay = once(() => new Intl.DateTimeFormat('pt-BR', { dateStyle: 'short', timeZone }))
const brasiliaTime = once(() => new Intl.DateTimeFormat('pt-BR', { hour: '2-digit', minute: '2-digit', timeZone }))
const brasiliaMoment = once(
  () => new Intl.DateTimeFormat('pt-BR', { dateStyle: 'short', timeStyle: 'short', timeZone }),
)
const brasiliaShort = once(
  () =>
    new Intl.DateTimeFormat('pt-BR', {
      day: '2-digit',
      month: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      timeZone,
    }),
)
const brasiliaWritten = once(
  () => new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone }),
)

/** "R$ 1.240,50" with a no-break space; empty where no value is known. */
export function formatMoney(value: number | null): string {
  return value === null ? '' : money().format(value)
}

/** "1.240". */
export function formatInteger(value: number): string {
  return integer().format(value)
}

/** "1 nota", "1.240 notas". */
export function formatCount(value: number, one: string, many: string): string {
  return `${integer().format(value)} ${value === 1 ? one : many}`
}

/** "a, b e c". */
export function formatList(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} e ${texts.at(-1)}`
}

/** The text as a whole sentence: a name like "PAPEL S.A." at its end has the point already. */
export function endSentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}

/** "20/11/2026": the day of an instant in Brasília. */
export function formatBrasiliaDay(at: Date): string {
  return brasiliaDay().format(at)
}

/** "10:05": an instant in Brasília. */
export function formatBrasiliaTime(at: Date): string {
  return brasiliaTime().format(at)
}

/** "20/11/2026 às 10:05": an instant in Brasília. */
export function formatBrasiliaMoment(at: Date): string {
  return brasiliaMoment().format(at).replace(',', ' às')
}

/** "20/11/2026, 10:05": an instant in Brasília. */
export function formatBrasiliaDayAndTime(at: Date): string {
  return brasiliaMoment().format(at)
}

/** "20/11 às 10:05": an instant in Brasília that is near enough to need no year. */
export function formatBrasiliaShortMoment(at: Date): string {
  return brasiliaShort().format(at).replace(',', ' às')
}

/** "2026-11-20T10:05:00": an instant in Brasília as documents write it, without its offset. */
export function writeBrasiliaTime(at: Date): string {
  return brasiliaWritten().format(at).replace(' ', 'T')
}

/** dd/MM/yyyy of a date as it is written, without moving it to another time zone. */
export function formatDate(text: string): string {
  return text.replace(/^(\d{4})-(\d{2})-(\d{2}).*$/s, '$3/$2/$1')
}

/** dd/MM/yyyy of an instant in the local time zone; a date without time stays that day. */
export function formatInstantDate(instant: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(instant)) return formatDate(instant)
  const date = new Date(instant)
  return Number.isNaN(date.getTime()) ? 'Data inválida' : `${dayOfYear(date)}/${date.getFullYear()}`
}

/** HH:mm of a date as written; empty when the document has only the day. */
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

/** "20/11" of an instant in the local time zone, with the year when it is not that of `now`. */
export function formatShortDay(date: Date, now = new Date()): string {
  return date.getFullYear() === now.getFullYear() ? dayOfYear(date) : `${dayOfYear(date)}/${date.getFullYear()}`
}

/** "sexta-feira, 20/11" of a date in the time zone of the person. */
export function formatWeekday(date: Date): string {
  return longDay().format(date)
}

/** "novembro de 2026" of `2026-11`. */
export function formatMonth(text: string): string {
  return month().format(new Date(`${text}-01T00:00:00Z`))
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
