import { type DistributionQuery, excuses } from './distribution.ts'
import type { ServiceKind } from './faults/faults.ts'
import type { Service } from './inspect.ts'
import type { Ledger } from './ledger.ts'

/** One line of the log of calls. */
export interface CallEntry {
  /** Unique only within one run of the simulator. */
  id: number
  at: number
  service: Service
  of: ServiceKind
  /** The authoriser that received an event. */
  authorizer?: string
  taxId?: string
  query?: DistributionQuery
  cStat?: number
  xMotivo?: string
  ultNSU?: number
  maxNSU?: number
  documents?: number
  /** How many came in a call that was taken. */
  events?: number
  fault?: string
  status?: number
  /** The call was processed and changed the client's state; false: refused or stopped before. */
  counted: boolean
  /** The response did not arrive. */
  lost: boolean
  /** A 656 that a response which did not arrive excuses. */
  excused?: boolean
  /** A 656 for the cursor alone. */
  outOfSequence?: boolean
  /** Places in the ledger of the events that came. */
  sendings?: number[]
}

export interface CallLog {
  add(call: Pick<CallEntry, 'at' | 'service' | 'of' | 'authorizer'>): CallEntry
  list(): readonly CallEntry[]
  /** Undefined when the log no longer has it. */
  find(id: number): CallEntry | undefined
  /** The first one after a call that passes. */
  findAfter(call: CallEntry, passes: (later: CallEntry) => boolean): CallEntry | undefined
}

export function createCallLog(entriesMax = 50_000): CallLog {
  let entries: CallEntry[] = []
  // A run has fewer calls than milliseconds.
  let lastId = Date.now()
  const placeOf = (id: number) => id - (entries[0]?.id ?? 0)
  return {
    add: (call) => {
      const entry: CallEntry = { id: ++lastId, ...call, counted: false, lost: false }
      entries.push(entry)
      if (entries.length > entriesMax * 2) entries = entries.slice(-entriesMax)
      return entry
    },
    list: () => entries,
    find: (id) => entries[placeOf(id)],
    findAfter: (call, passes) => {
      for (let place = Math.max(0, placeOf(call.id) + 1); place < entries.length; place++) {
        const later = entries[place]
        if (later !== undefined && passes(later)) return later
      }
      return undefined
    },
  }
}

/**
 * Marks the response to `call` as lost, possibly much later. Excuses the client's next 656 about
 * the cursor, or after an hour of waiting, unless a later distNSU returned the cursor before.
 */
export function loseResponse(
  { ledger, calls, hourMs }: { ledger: Ledger; calls: CallLog; hourMs: number },
  call: CallEntry,
): void {
  const { service, taxId, query, sendings = [] } = call
  if (call.lost || !call.counted) return
  call.lost = true
  if (call.of === 'events') ledger.append([{ type: 'lost', sendings }])
  if (call.of === 'events' || taxId === undefined || query === undefined) return
  const usage = ledger.usage(service, taxId)
  const isPage = 'ultNSU' in query
  const settles = ({ cStat, query: asked = query }: CallEntry) => cStat === 656 || !isPage || 'ultNSU' in asked
  const settling = calls.findAfter(
    call,
    (one) => one.of === call.of && one.service === service && one.taxId === taxId && one.counted && settles(one),
  )
  if (settling === undefined) usage.answerLost = { of: isPage ? 'page' : 'query', at: call.at }
  else if (
    settling.cStat === 656 &&
    settling.excused !== true &&
    excuses(call.at, { now: settling.at, outOfSequence: settling.outOfSequence === true, hourMs })
  ) {
    settling.excused = true
    usage.misuseExcused++
  }
  ledger.saveUsage(service, taxId)
}
