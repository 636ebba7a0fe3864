import { nfe } from '@vigia/dfe/families/nfe'
import { sql } from 'kysely'

/** Facts of an NF-e in a row `f` of `alert_fact`, in the words of its index. */
export const nfeFacts = sql`f.facts -> ${sql.lit(nfe.id)}`
