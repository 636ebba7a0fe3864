import type { WithConfig } from '../platform/context.ts'
import { type ServiceCode, serviceOf } from '../platform/service.ts'
import { sources } from './sources.ts'

/** Where the questions of a service go. */
export function distributionUrl({ config }: Pick<WithConfig, 'config'>, service: ServiceCode): string {
  return sources[serviceOf(service)].url(config.sefaz.endpoints)
}
