import { z } from 'zod'

/** A whole number, or its digits as forms and some clients write it; `true`, `[4]` and "0x23" are neither. */
export const wholeNumber = (message: string) =>
  z.union(
    [
      z.int(),
      z
        .string()
        .regex(/^[0-9]{1,9}$/)
        .transform(Number),
    ],
    { error: message },
  )

/** A date and time as the specification writes it, without offset: aaaa-MM-ddTHH:mm:ss. */
export const LocalDateTime = (field: string) =>
  z
    .string()
    .regex(/^(?:19|2\d)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/, {
      error: `${field} deve estar no formato aaaa-MM-ddTHH:mm:ss`,
      abort: true,
    })
    .refine((text) => {
      const day = text.slice(0, 10)
      return new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10) === day
    }, `${field} não é uma data válida`)

// Each part of the domain begins where the last dot ended: there is one way to match, so that a long text costs no more than its length.
/** An e-mail address. */
export const emailShape = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/

/** An e-mail that must be given, trimmed (section 5); a blank one counts as missing. */
export const requiredEmail = (message: string) =>
  z
    .string({ error: 'Email é obrigatório' })
    .trim()
    .min(1, { error: 'Email é obrigatório', abort: true })
    .max(254, { error: message, abort: true })
    .regex(emailShape, message)

const badPhone = 'Número de celular deve ter entre 10 e 11 dígitos'

/** A phone (section 5): digits only on the wire; a mask is taken off, and nothing but a mask is no number. */
export const optionalPhone = z
  .string({ error: badPhone })
  .max(30, badPhone)
  .transform((text) => text.replace(/\D/g, '') || undefined)
  .pipe(
    z
      .string()
      .regex(/^\d{10,11}$/, badPhone)
      .optional(),
  )
  .optional()
