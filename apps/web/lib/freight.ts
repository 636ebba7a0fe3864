import { getFreight, listFreight } from '@vigia/contract/workspace'
import { ownQuery } from './response-adapter.ts'

// Apart from the other queries: the first list that somebody opens needs none of this.

export const freightQuery = ownQuery(listFreight, { items: [], proximo: null, somas: [], total: {} })
export const freightOfQuery = ownQuery(getFreight, [])
