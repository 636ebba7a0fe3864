import type { Authority } from './authority.ts'
import { excuses, type Query } from './distribution.ts'
import type { ServiceKind } from './faults.ts'
import type { Service } from './inspect.ts'

/** One line of the log of calls. */
export interface CallEntry {
  /** Of another run of the simulator it is another number. */
  id: number
  at: number
  service: Service
  of: ServiceKind
  /** Who received an event. */
  authorizer?: string
  taxId?: string
  query?: Query
  cStat?: number
  xMotivo?: string
  /** Null: the answer told none. */
  ultNSU?: number | null
  maxNSU?: number | null
  documents?: number
  /** How many came in a call that was taken. */
  events?: number
  fault?: string
  status?: number
  /** It changed what the authority knows of who called: it was not refused or stopped before. */
  counted: boolean
  /** The answer did not arrive. */
  lost: boolean
  /** A 656 that an answer which did not arrive excuses. */
  excused?: boolean
  /** A 656 for the cursor alone. */
  outOfSequence?: boolean
  /** Places in the ledger of the events that came. */
  sendings?: number[]
}

export interface CallLog {
  add(call: Pick<CallEntry, 'at' | 'service' | 'of' | 'authorizer'>): CallEntry
  list(): readonly CallEntry[]
  /** Undefined when it is older than what the log keeps. */
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
 * The answer of a call did not reach who called, whenever that is learned: the first 656 it runs into is not its fault when it is for the
 * cursor, or comes although an hour passed, unless an answer to distNSU, which tells the cursor again, arrived before.
 */
export function loseAnswer(
  { ledger, calls, hourMs }: Pick<Authority, 'ledger' | 'calls' | 'hourMs'>,
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
