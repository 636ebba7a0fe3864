import type { FamilyId } from '@vigia/dfe/families/id'
import type { Source } from './source.ts'
import { soapSource } from './sources/soap.ts'

/** The source of each family. */
export const sources: Readonly<Record<FamilyId, Source>> = {
  nfe: soapSource('nfe', 'NFeDistribuicaoDFe'),
  cte: soapSource('cte', 'CTeDistribuicaoDFe'),
}
