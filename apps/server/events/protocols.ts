import type { FamilyId } from '@vigia/dfe/families/id'
import { cteProtocol } from './protocols/cte.ts'
import { nfeProtocol } from './protocols/nfe.ts'
import type { EventProtocol } from './protocols/protocol.ts'

/** How the events of each family are written and sent. */
export const protocols: Readonly<Record<FamilyId, EventProtocol>> = { nfe: nfeProtocol, cte: cteProtocol }
