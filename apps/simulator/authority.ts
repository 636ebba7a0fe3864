import type { CertificationAuthority } from './certificates.ts'
import type { Clock } from './clock.ts'
import type { Query } from './distribution.ts'
import type { Faults, ServiceKind } from './faults.ts'
import type { Random } from './generate/random.ts'
import type { Service } from './inspect.ts'
import type { Ledger } from './ledger.ts'

/** Everything a call needs: one authority is one ledger, one clock, one certification authority. */
export interface Authority {
  ledger: Ledger
  clock: Clock
  certification: CertificationAuthority
  faults: Faults
  calls: CallLog
  random: Random
  hourMs: number
  tpAmb: 1 | 2
}

/** One line of the log of calls. */
export interface CallEntry {
  at: number
  service: Service
  of: ServiceKind
  /** Who received an event. */
  authorizer?: string
  taxId?: string
  query?: Query
  cStat?: number
  xMotivo?: string
  ultNSU?: number
  maxNSU?: number
  documents?: number
  /** How many came in a call that was taken. */
  events?: number
  fault?: string
  status?: number
}

export interface CallLog {
  add(entry: CallEntry): void
  list(): readonly CallEntry[]
}

export function createCallLog(entriesMax = 50_000): CallLog {
  let entries: CallEntry[] = []
  return {
    add: (entry) => {
      entries.push(entry)
      if (entries.length > entriesMax * 2) entries = entries.slice(-entriesMax)
    },
    list: () => entries,
  }
}
