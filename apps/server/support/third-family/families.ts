import { cte } from '@vigia/dfe/families/cte'
import type { Family } from '@vigia/dfe/families/family'
import { nfe } from '@vigia/dfe/families/nfe'
import { recibo } from './recibo.ts'

/** In place of packages/dfe/families/all.ts. */
export const families: readonly Family[] = [nfe, cte, recibo]
