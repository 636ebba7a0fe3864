import type { FamilyId } from '@vigia/dfe/families/id'
import type { WithConfig } from '../platform/context.ts'
import { type ServiceCode, serviceOf } from '../platform/service.ts'
import type { Source } from './source.ts'
import { soapSource } from './sources/soap.ts'

/** The source of each family. */
export const sources: Readonly<Record<FamilyId, Source>> = {
  nfe: soapSource('nfe', 'NFeDistribuicaoDFe'),
  cte: soapSource('cte', 'CTeDistribuicaoDFe'),
}

/** Where the questions of a service go. */
export function distributionUrl({ config }: Pick<WithConfig, 'config'>, service: ServiceCode): string {
  return sources[serviceOf(service)].url(config.sefaz.endpoints)
}
