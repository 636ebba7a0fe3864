import type { AuthorityCall } from './authority.ts'
import type { LedgerCall } from './records.ts'

/** A call of the distribution, and what the product wrote of it: nothing when it was killed before. */
export interface Matched {
  call: AuthorityCall
  at: number
  row: LedgerCall | null
}

/** The calls of each conversation in order, by service and CNPJ, with the rows of the product's ledger. */
export function matchCalls(calls: readonly AuthorityCall[], ledger: readonly LedgerCall[]): Map<string, Matched[]> {
  const rows = Map.groupBy(ledger, lineOf)
  const conversations = new Map<string, Matched[]>()
  const ofLines = Map.groupBy(
    calls.filter((call) => call.of === 'distribution' && call.taxId !== undefined),
    ({ service, taxId }) => `${service} ${taxId}`,
  )
  for (const [line, list] of ofLines) {
    const sorted = list.map((call) => ({ call, at: Date.parse(call.at) })).sort((a, b) => a.at - b.at)
    const written = [...(rows.get(line) ?? [])].sort((a, b) => a.at - b.at)
    const matched = sorted.map(({ call, at }, index) => {
      // A row is written after its call came and before the next one leaves; both clocks are of this machine.
      const next = sorted[index + 1]?.at ?? Number.POSITIVE_INFINITY
      const place = written.findIndex((row) => row.at >= at && row.at <= next)
      return { call, at, row: place < 0 ? null : written.splice(place, 1)[0]! }
    })
    conversations.set(line, matched)
  }
  return conversations
}

/** The answers that were given, counted, and never written down. */
export function unwritten(conversations: ReadonlyMap<string, Matched[]>): AuthorityCall[] {
  return [...conversations.values()]
    .flat()
    .filter(({ call, row }) => call.counted && row?.cStat !== call.cStat)
    .map(({ call }) => call)
}

/** The calls during a block that was known. */
export function callsWhileBlocked(conversation: readonly Matched[], hourMs: number): string[] {
  return conversation.flatMap(({ call, at, row }) => {
    if (call.cStat !== 656 || row?.cStat !== 656) return []
    const later = conversation.filter((one) => one.at > at && one.at < at + hourMs)
    return later.map((one) => `${one.call.at} ${ask(one.call)} although blocked since ${call.at}`)
  })
}

/** The queries by NSU that were one too many in an hour. */
export function queriesTooMany(conversation: readonly Matched[], hourMs: number, max: number): string[] {
  const queries = conversation.filter(({ call }) => call.counted && call.query && 'nsu' in call.query)
  return queries
    .filter(({ at }, index) => at - (queries[index - max]?.at ?? Number.NEGATIVE_INFINITY) < hourMs)
    .map(({ call }) => `${call.at} ${ask(call)} is number ${max + 1} of an hour`)
}

/** The calls that came while another one of the same conversation was under way. */
export function overlaps(conversation: readonly Matched[], answerMs: number): string[] {
  return conversation.flatMap(({ call, at, row }, index) => {
    const next = conversation[index + 1]
    if (!next) return []
    // What ended without a row was waited for as long as a delayed answer is.
    const end = row?.at ?? (call.fault === 'delay' ? at + answerMs : at)
    return next.at < end ? [`${next.call.at} ${ask(next.call)} while ${ask(call)} of ${call.at} was under way`] : []
  })
}

function ask({ query }: AuthorityCall): string {
  if (!query) return 'a query'
  return Object.entries(query)
    .map(([name, value]) => `${name} ${value}`)
    .join()
}

function lineOf({ service, cnpj }: LedgerCall): string {
  return `${service} ${cnpj}`
}
