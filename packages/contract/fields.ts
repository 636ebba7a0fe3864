import { families } from '@vigia/dfe/families/all'
import { z } from 'zod'

const digits = z
  .string()
  .regex(/^[0-9]{1,9}$/)
  .transform(Number)

/** A whole number, or its digits as forms write it; not `true`, `[4]` or "0x23". */
export const wholeNumber = (message: string) => z.union([z.int(), digits], { error: message })

/** The code of a family of documents. */
export function familyCode(field: string) {
  const unknown = `${field} deve ser ${families.map(({ code, name }) => `${code} (${name.replace('-', '')})`).join(' ou ')}`
  return wholeNumber(unknown).refine((number) => families.some(({ code }) => code === number), unknown)
}

/** A whole number from `min` to `max`, or its digits. */
export const numberBetween = (min: number, max: number, message: string) => {
  const number = z.int(message).min(min, message).max(max, message)
  return z.union([number, digits.pipe(number)], { error: message })
}

/** The identifier of something, `which` by its article: "a empresa". */
export const idOf = (which: string) => {
  const missing = `Informe ${which}.`
  return z.string({ error: missing }).min(1, missing).max(100, missing)
}

/** Identifiers of chosen companies; absent or null: all. */
export const chosenCompanies = (max: number) =>
  z
    .array(z.string().max(100))
    .min(1, 'Escolha pelo menos uma empresa, ou todas.')
    .max(max, `Escolha até ${max.toLocaleString('pt-BR')} empresas, ou todas.`)
    .nullish()

/** A switch, in the ways in which browsers and other clients write it. */
export const flag = (field: string) =>
  z.union(
    [
      z.boolean(),
      z.literal([0, 1]).transform((number) => number === 1),
      z.stringbool({ truthy: ['true', '1', 'on'], falsy: ['false', '0', 'off'] }),
    ],
    { error: `${field} deve ser true ou false` },
  )

/** An amount in reais as decimal text, because numbers would round; a number is accepted too. */
export const amountText = (field: string) => {
  const message = `${field} deve ser um valor como 1234.56`
  return z
    .union([z.number(), z.string()], { error: message })
    .transform(String)
    .pipe(z.string().regex(/^\d{1,13}(\.\d{1,2})?$/, message))
}

/** A date and time as the specification writes it, without offset: aaaa-MM-ddTHH:mm:ss. */
export const LocalDateTime = (field: string) =>
  z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/, {
      error: `${field} deve estar no formato aaaa-MM-ddTHH:mm:ss`,
      abort: true,
    })
    .refine((text) => isDay(text.slice(0, 10)), `${field} não é uma data válida`)

const isDay = (day: string) => day >= '0001' && new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10) === day

/** A day as aaaa-MM-dd. */
export const LocalDay = (field: string) =>
  z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/, {
      error: `${field} deve estar no formato aaaa-MM-dd`,
      abort: true,
    })
    .refine(isDay, `${field} não é uma data válida`)

// Excludes characters that some servers read as several addresses or another one: lists, routes,
// comments, quotes and invisible characters (\p{C}). Each domain part starts after the last dot,
// because with one way to match a long text takes linear time.
/** An e-mail address that every mail server takes for one mailbox. */
export const emailShape = /^[^\s\p{C}@<>()[\]\\,;:"]+@[^\s\p{C}@<>()[\]\\,;:".]+(\.[^\s\p{C}@<>()[\]\\,;:".]+)+$/u

/** An e-mail that must be given, trimmed (section 5); a blank one counts as missing. */
export const requiredEmail = (message: string) =>
  z
    .string({ error: 'Email é obrigatório' })
    .trim()
    .min(1, { error: 'Email é obrigatório', abort: true })
    .max(254, { error: message, abort: true })
    .regex(emailShape, message)

// A visible letter, digit or sign; excludes blank ones such as Hangul fillers and empty Braille.
const visible = /(?!\u2800)(?=\P{Default_Ignorable_Code_Point})[\p{L}\p{N}\p{P}\p{S}]/u

// Removes direction marks, because they come unnoticed with names pasted from phone contacts.
function asLine(text: string): string {
  const line = text
    .replace(/[\u202A-\u202E\u2066-\u2069]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
  return visible.test(line) ? line : ''
}

/** One line of text: whitespace collapsed, no direction marks; empty if nothing is visible. */
export const line = (field: string, missing?: string) =>
  z
    .string(missing && { error: missing })
    .overwrite(asLine)
    .refine((text) => !/\p{Cc}/u.test(text), {
      error: `${field} tem caracteres que não podem ser usados`,
      abort: true,
    })

// Exceeds any text of a hundred characters, because normalizing a very long text takes long.
const passwordUnitsMax = 1_000

/** Counts characters of a password, equal for every keyboard: a letter with accent is one. */
export function passwordLength(text: string): number {
  return text.length > passwordUnitsMax ? Number.POSITIVE_INFINITY : [...text.normalize('NFC')].length
}

/** Whether two passwords are equal; different code points of the same letter are equal. */
export function isSamePassword(one: string, other: string): boolean {
  if (one === other) return true
  if (Math.max(one.length, other.length) > passwordUnitsMax) return false
  return one.normalize('NFC') === other.normalize('NFC')
}

/** A password (section 5), kept as it was typed. */
export const password = (words: { missing: string; short: string; long: string }) =>
  z
    .string({ error: words.missing })
    .min(1, { error: words.missing, abort: true })
    .refine((text) => passwordLength(text) >= 6, words.short)
    .refine((text) => passwordLength(text) <= 100, words.long)
    .meta({ minLength: 6, maxLength: 100 })

const badPhone = 'Número de celular deve ter entre 10 e 11 dígitos'

/** A phone (section 5): digits only on the wire; a mask is taken off. */
export const optionalPhone = z
  .string({ error: badPhone })
  .max(30, badPhone)
  // Nothing but the signs of a mask is no number.
  .transform((text) => (/^[\s()+\-._]*$/.test(text) ? undefined : text.replace(/\D/g, '')))
  .pipe(
    z
      .string()
      .regex(/^\d{10,11}$/, badPhone)
      .optional(),
  )
  .optional()
