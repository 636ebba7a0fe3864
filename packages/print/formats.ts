import { formatCnpj, formatCpf } from '@vigia/dfe/cnpj'

// Formats text only: no arithmetic, no time zones. Texts of unexpected form are printed as is.

function decimals(text: string | undefined, least: number, keepZeros: boolean): string | undefined {
  if (text === undefined) return text
  const begin = text.charCodeAt(0) === minus ? 1 : 0
  const point = pointOf(text, begin)
  if (point < 0) return text
  const digits = text.slice(begin, point)
  const fraction = text.slice(point + 1)
  const whole = digits.charCodeAt(0) === zero ? digits.slice(Math.min(countZeros(digits), digits.length - 1)) : digits
  const kept = keepZeros ? fraction : fraction.slice(0, lengthWithoutZeros(fraction))
  const padded = kept.length < least ? kept.padEnd(least, '0') : kept
  return `${begin === 1 ? '-' : ''}${thousands(whole)},${padded}`
}

const [minus, dot, zero, nine] = [0x2d, 0x2e, 0x30, 0x39]

// Index of the decimal point: the length if there is none, -1 if the text is not a decimal number.
function pointOf(text: string, begin: number): number {
  let point = text.length
  for (let at = begin; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === dot && point === text.length && at > begin) point = at
    else if (code < zero || code > nine) return -1
  }
  return point > begin ? point : -1
}

// Loops, because a regular expression would restart at every zero of a 300 kB number.
function countZeros(digits: string): number {
  let count = 0
  while (digits[count] === '0') count++
  return count
}

function lengthWithoutZeros(digits: string): number {
  let { length } = digits
  while (digits[length - 1] === '0') length--
  return length
}

function thousands(whole: string): string {
  if (whole.length <= 3) return whole
  const first = whole.length % 3 || 3
  const groups = [whole.slice(0, first)]
  for (let at = first; at < whole.length; at += 3) groups.push(whole.slice(at, at + 3))
  return groups.join('.')
}

/** Money, `1.234.567,89`. */
export function money(text: string | undefined): string | undefined {
  return decimals(text, 2, true)
}

/** A quantity or a unit value: at least two decimals, no zeros at the end, never rounded. */
export function quantity(text: string | undefined): string | undefined {
  return decimals(text, 2, false)
}

/** A rate, without the sign. */
export function percent(text: string | undefined): string | undefined {
  return decimals(text, 2, false)
}

/** A weight in kilograms, three decimals. */
export function weight(text: string | undefined): string | undefined {
  return decimals(text, 3, false)
}

/** `dd/MM/aaaa` from the first ten characters. */
export function date(text: string | undefined): string | undefined {
  const match = text === undefined ? null : /^(\d{4})-(\d{2})-(\d{2})/.exec(text)
  return match ? `${match[3]}/${match[2]}/${match[1]}` : text
}

/** `HH:mm:ss` from the characters after the T; the offset is never applied. */
export function time(text: string | undefined): string | undefined {
  return text === undefined ? undefined : /(?:T|^)(\d{2}:\d{2}(?::\d{2})?)/.exec(text)?.[1]
}

/** `dd/MM/aaaa HH:mm:ss` from the characters of the text; the offset is never applied. */
export function dateTime(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const clock = text.includes('T') ? time(text) : undefined
  return clock ? `${date(text)} ${clock}` : date(text)
}

/** The number of a document, nine digits with dots. */
export function documentNumber(text: string | undefined): string | undefined {
  if (text === undefined || !/^\d{1,9}$/.test(text)) return text
  return text.padStart(9, '0').replace(/(\d{3})(?=\d)/g, '$1.')
}

/** A series of three digits. */
export function series(text: string | undefined): string | undefined {
  return text?.padStart(3, '0')
}

/** CNPJ or CPF of a group, with its mask; a group with zeros or without either has none. */
export function taxId(cnpj: string | undefined, cpf: string | undefined): string | undefined {
  if (cnpj !== undefined) return /^0*$/.test(cnpj) ? undefined : formatCnpj(cnpj)
  return cpf === undefined ? undefined : formatCpf(cpf)
}

/** A postal code, `99999-999`; shorter ones are padded at the left. */
export function cep(text: string | undefined): string | undefined {
  if (text === undefined || !/^\d{1,8}$/.test(text)) return text
  return text.padStart(8, '0').replace(/(\d{5})/, '$1-')
}

/** A telephone by its length; a number of any other length as it is. */
export function phone(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (/^0[38]00\d{7}$/.test(text)) return text.replace(/^(\d{4})(\d{3})(\d{4})$/, '$1 $2 $3')
  if (/^\d{10,11}$/.test(text)) return text.replace(/^(\d{2})(\d{4,5})(\d{4})$/, '($1) $2-$3')
  if (/^55\d{10,11}$/.test(text)) return text.replace(/^55(\d{2})(\d{4,5})(\d{4})$/, '+55 ($1) $2-$3')
  return text
}

/** Text pieces joined by a separator; absent ones leave no separator behind. */
export function joined(separator: string, ...pieces: (string | undefined)[]): string | undefined {
  const present = pieces.filter((piece) => piece !== undefined && piece !== '')
  return present.length > 0 ? present.join(separator) : undefined
}

/** Looks up a word of the document in a table; ignores inherited keys such as `toString`. */
export function entryOf<T>(table: Readonly<Record<string, T>>, key: string | undefined): T | undefined {
  return key !== undefined && Object.hasOwn(table, key) ? table[key] : undefined
}
