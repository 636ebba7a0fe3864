import type { FamilyId } from '@vigia/dfe/families/id'
import { type Source, soapSource } from './source.ts'

/** The source of each family. */
export const sources: Readonly<Record<FamilyId, Source>> = {
  nfe: soapSource('nfe', 'NFeDistribuicaoDFe'),
  cte: soapSource('cte', 'CTeDistribuicaoDFe'),
}
