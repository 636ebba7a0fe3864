import { families } from '@vigia/dfe/families/all'
import type { FamilyId } from '@vigia/dfe/families/id'
import { familyOf } from '@vigia/dfe/families/lookup'

/** The conversation with the authority that delivers one family of documents. */
export type Service = FamilyId

export const services: readonly Service[] = families.map(({ id }) => id)

/** Where documents are stored: one service of a company, in one workspace. */
export interface Place {
  workspaceId: number
  companyId: number
  service: Service
}

/** A service as tables and `TipoDFe` write it. */
export type ServiceCode = number

export const serviceCodes = Object.fromEntries(families.map(({ id, code }) => [id, code])) as Record<Service, number>

/** The service with that code; throws for a code that no family has. */
export function serviceOf(code: number): Service {
  return familyOf(code).id
}

/** An NSU as the authority writes it. */
export function nsuText(nsu: bigint): string {
  return String(nsu).padStart(15, '0')
}

/** A conversation that should have asked so long ago is late. */
export const lateMinutes = 15

/** A conversation that is up to date asks again before so long has passed. */
export const waitMinutesMax = 130
