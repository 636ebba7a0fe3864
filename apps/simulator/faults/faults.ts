import type { Clock } from '../clock.ts'
import type { Random } from '../generate/random.ts'
import type { Service } from '../inspect.ts'

/** The faults that can be switched on; `before` ones stop a call unprocessed, `after` ones spoil the response of a processed call. */
export const faultStages = {
  '108': 'before',
  '109': 'before',
  '999': 'before',
  http403: 'before',
  http500: 'before',
  http503: 'before',
  soapFault: 'before',
  reset: 'before',
  resetAfter: 'after',
  truncated: 'after',
  empty: 'after',
  emptyResult: 'after',
  corruptedDocZip: 'after',
  unknownSchema: 'after',
  maxNsuZero: 'after',
  delay: 'after',
  '280': 'before',
  '281': 'before',
  '282': 'before',
  '283': 'before',
  '284': 'before',
  '285': 'before',
  '286': 'before',
} as const

/** Rejections because of the certificate; rare in practice. */
export const certificateFaults: readonly FaultName[] = ['280', '281', '282', '283', '284', '285', '286']

/** The two kinds of services a fault may be limited to. */
export type ServiceKind = 'distribution' | 'events'

// Faults that only affect responses of the distribution.
export const distributionOnly: ReadonlySet<FaultName> = new Set<FaultName>([
  'corruptedDocZip',
  'unknownSchema',
  'maxNsuZero',
])

export type FaultName = keyof typeof faultStages

export interface Fault {
  id: number
  fault: FaultName
  /** Probability for each call; default 1. */
  probability: number
  service?: Service
  of?: ServiceKind
  cnpj?: string
  /** How many calls it strikes; without limit when absent. */
  times?: number
  /** Authority time at which it ends. */
  until?: number
  /** Delay of the fault `delay`. */
  delayMs: number
}

export interface FaultOrder {
  fault: FaultName
  probability?: number
  service?: Service
  of?: ServiceKind
  cnpj?: string
  times?: number
  durationMs?: number
  delayMs?: number
}

interface StruckCall {
  service: Service
  of: ServiceKind
  taxId: string | undefined
}

export interface Faults {
  add(order: FaultOrder): Fault
  list(): Fault[]
  clear(id?: number): void
  /** The fault that strikes this call at this stage, if any. */
  strike(stage: 'before' | 'after', call: StruckCall): Fault | undefined
}

export function createFaults(clock: Clock, random: Random): Faults {
  let active: Fault[] = []
  let lastId = 0
  const current = () => {
    active = active.filter((one) => (one.until ?? Number.POSITIVE_INFINITY) > clock.now() && one.times !== 0)
    return active
  }
  return {
    add: ({ durationMs, probability = 1, delayMs = 70_000, ...order }) => {
      const until = durationMs === undefined ? undefined : clock.now() + durationMs
      const fault: Fault = { ...order, id: ++lastId, probability, delayMs, until }
      active.push(fault)
      return fault
    },
    list: () => [...current()],
    clear: (id) => {
      active = id === undefined ? [] : active.filter((one) => one.id !== id)
    },
    strike: (stage, { service, of, taxId }) => {
      for (const one of current()) {
        if (faultStages[one.fault] !== stage) continue
        if (of === 'events' && distributionOnly.has(one.fault)) continue
        if (one.of !== undefined && one.of !== of) continue
        if (one.service !== undefined && one.service !== service) continue
        if (one.cnpj !== undefined && one.cnpj !== taxId) continue
        if (random.next() >= one.probability) continue
        if (one.times !== undefined) one.times--
        return one
      }
      return undefined
    },
  }
}
