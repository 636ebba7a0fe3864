import { cte } from './cte.ts'
import type { Family } from './family.ts'
import { nfe } from './nfe.ts'

/** The families that the product knows: the one list. */
export const families: readonly Family[] = [nfe, cte]
