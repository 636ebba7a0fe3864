import type { FamilyId } from '@vigia/dfe/families/id'
import { cteProtocol } from './protocols/cte.ts'
import { nfeProtocol } from './protocols/nfe.ts'
import type { EventProtocol } from './protocols/protocol.ts'

/** Event protocol of each family. */
export const protocols: Readonly<Record<FamilyId, EventProtocol>> = { nfe: nfeProtocol, cte: cteProtocol }
