import type { Connection } from '@vigia/sefaz/connection'
import type { DistributionRequest, DistributionResponse } from '@vigia/sefaz/distribution'
import { SefazError } from '@vigia/sefaz/error'
import type { Context, WithConfig } from '../platform/context.ts'
import { nsuText, type ServiceCode, serviceOf } from '../platform/service.ts'
import { noteAnswer, noteFailure } from '../sefaz/circuit.ts'
import type { QueryOutcome } from '../sefaz/ledger.ts'
import { sources } from './sources.ts'

/** How long a service that says it is down is left alone: 108 is for a short while, 109 for an unknown one (NT 2014.002). */
export const closedForHours: Readonly<Record<number, number>> = { 108: 1 / 6, 109: 1 / 2 }

export function distributionUrl({ config }: Pick<Context, 'config'>, service: ServiceCode): string {
  return sources[serviceOf(service)].url(config.sefaz.endpoints)
}

/** A query to the distribution. */
export type Query = { ultNSU: bigint } | { NSU: bigint } | { chNFe: string }

/** Sends a query that was announced, or one for an unregistered CNPJ. */
export async function send(
  ctx: Pick<Context, 'config'>,
  line: { service: ServiceCode; cnpj: string },
  holder: { uf: number },
  connection: Connection,
  query: Query,
): Promise<QueryOutcome> {
  const { sefaz } = ctx.config
  const startedAt = performance.now()
  try {
    const response = await sources[serviceOf(line.service)].ask(connection, {
      url: distributionUrl(ctx, line.service),
      tpAmb: sefaz.tpAmb,
      cUFAutor: holder.uf,
      cnpj: line.cnpj,
      query: textOf(query),
    })
    return { response, durationMs: response.durationMs }
  } catch (error) {
    if (!(error instanceof SefazError)) throw error
    return { error, durationMs: performance.now() - startedAt }
  }
}

function textOf(query: Query): DistributionRequest['query'] {
  if ('chNFe' in query) return query
  return 'NSU' in query ? { NSU: nsuText(query.NSU) } : { ultNSU: nsuText(query.ultNSU) }
}

/** Notes for all lines what a response says about its service. */
export async function reportResponse(
  ctx: WithConfig,
  service: ServiceCode,
  { cStat, xMotivo }: Pick<DistributionResponse, 'cStat' | 'xMotivo'>,
): Promise<void> {
  const url = distributionUrl(ctx, service)
  const closedHours = closedForHours[cStat]
  if (closedHours === undefined) await noteAnswer(ctx, url)
  else await noteFailure(ctx, url, xMotivo, closedHours * ctx.config.sefaz.hourMs)
}
