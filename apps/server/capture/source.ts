import type { Connection } from '@vigia/sefaz/connection'
import { type DistributionRequest, type DistributionResponse, queryDistribution } from '@vigia/sefaz/distribution'
import type { Endpoints } from '@vigia/sefaz/endpoints'

/** Web service that delivers the documents of a family, and the way to query it. */
export interface Source {
  /** The web service, as the authority calls it. */
  webService: string
  url(endpoints: Endpoints): string
  ask(connection: Connection, request: Omit<DistributionRequest, 'service'>): Promise<DistributionResponse>
  /** Whether one document can be asked for by its chave. */
  findsByChave: boolean
}

/** Distribution by NSU over SOAP (NT 2014.002 for NF-e, NT 2015.002 for CT-e). */
export function soapSource(
  service: DistributionRequest['service'],
  rest: Pick<Source, 'webService' | 'findsByChave'>,
): Source {
  return {
    ...rest,
    url: ({ distribution }) => distribution[service],
    ask: (connection, request) => queryDistribution(connection, { ...request, service }),
  }
}
