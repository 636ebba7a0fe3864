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
