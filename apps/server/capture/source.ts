import type { Connection } from '@vigia/sefaz/connection'
import { type DistributionRequest, type DistributionResponse, queryDistribution } from '@vigia/sefaz/distribution'
import type { Endpoints } from '@vigia/sefaz/endpoints'

/** Web service that delivers the documents of a family, and the way to query it. */
export interface Source {
  /** The web service, as the authority calls it. */
  webService: string
  url(endpoints: Endpoints): string
  ask(connection: Connection, request: Omit<DistributionRequest, 'service'>): Promise<DistributionResponse>
}

/** Distribution by NSU over SOAP (NT 2014.002 for NF-e, NT 2015.002 for CT-e). */
export function soapSource(service: DistributionRequest['service'], webService: string): Source {
  return {
    webService,
    url: ({ distribution }) => distribution[service],
    ask: (connection, request) => queryDistribution(connection, { ...request, service }),
  }
}
