import { dacte } from './dacte.ts'
import { danfe } from './danfe.ts'
import { plain } from './plain.ts'
import type { PrintOptions } from './printable.ts'

/** Print functions by the name that families use. */
export const forms: Readonly<Record<string, (xml: Uint8Array, options?: PrintOptions) => Uint8Array>> = {
  danfe,
  dacte,
  plain,
}
