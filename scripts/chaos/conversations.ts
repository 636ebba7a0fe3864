import type { AuthorityCall } from './authority.ts'
import type { LedgerCall } from './records.ts'

/** A call of the distribution, and what the product wrote of it: nothing when it was killed before. */
interface Matched {
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
    const matched: Matched[] = sorted.map(({ call, at }, index) => {
      // A row is written after its call came and before the next one leaves; both clocks are of this machine.
      const next = sorted[index + 1]?.at ?? Number.POSITIVE_INFINITY
      const place = written.findIndex((row) => row.at >= at && row.at <= next)
      return { call, at, row: place < 0 ? null : written.splice(place, 1)[0]! }
    })
    // But on a busy machine a call may come only after the product gave up waiting for its response.
    for (const one of matched.filter(({ row }) => row === null)) {
      const place = written.findLastIndex((row) => row.cStat === null && row.at < one.at)
      if (place >= 0) one.row = written.splice(place, 1)[0]!
    }
    conversations.set(line, matched)
  }
  return conversations
}

/** The calls that the authority counted and whose response the product did not write down. */
export function unwritten(conversations: ReadonlyMap<string, Matched[]>): AuthorityCall[] {
  return [...conversations.values()]
    .flat()
    .filter(({ call, row }) => call.counted && row?.cStat !== call.cStat)
    .map(({ call }) => call)
}

/** The responses that came in time and that the product noted as something else. */
export function misread(conversation: readonly Matched[]): string[] {
  return conversation.flatMap(({ call, row }) => {
    if (!call.counted || call.fault !== undefined || row === null || row.cStat === call.cStat) return []
    const excused = row.error !== null && /^(timeout|interrupted)/.test(row.error)
    return excused
      ? []
      : [`${call.at} ${queryText(call)} was answered ${call.cStat}, noted as ${row.cStat ?? row.error}`]
  })
}

/** The responses 656 that the product is to blame for. */
export function misuse(conversation: readonly Matched[], hourMs: number): string[] {
  return conversation.flatMap(({ call, at }, index) => {
    if (call.cStat !== 656 || call.excused === true) return []
    const before = conversation.slice(0, index).findLast((one) => one.call.counted)
    if (before && hasPaused(before, at, hourMs)) return []
    return [`${call.at} 656 to ${queryText(call)}, after ${before ? matchText(before) : 'nothing'}`]
  })
}

function matchText({ call, row }: Matched): string {
  const noted = row
    ? `${new Date(row.at).toISOString()} ${row.cStat ?? row.error} in ${row.durationMs} ms, pause ${row.pauseMs} ms, clock set by ${row.clockMs} ms`
    : 'nothing'
  return `${queryText(call)} of ${call.at} (answered ${call.cStat}${call.lost ? ', lost' : ''}; noted: ${noted})`
}

// Whether the product kept an hour's pause after it gave up on this call, or after the worker that sent it was killed. If the authority's
// hour was not over then, the machine had delivered the call late.
function hasPaused({ row }: Matched, at: number, hourMs: number): boolean {
  if (row === null || row.cStat !== null) return false
  const gaveUpAt = row.error?.startsWith('interrupted') ? row.at - row.durationMs : row.at
  return at >= gaveUpAt + hourMs
}

/** The calls during a block that was known. */
export function callsWhileBlocked(conversation: readonly Matched[], hourMs: number): string[] {
  return conversation.flatMap(({ call, at, row }) => {
    if (call.cStat !== 656 || row?.cStat !== 656) return []
    const later = conversation.filter((one) => one.at > at && one.at < at + hourMs)
    return later.map((one) => `${one.call.at} ${queryText(one.call)} although blocked since ${call.at}`)
  })
}

/** The queries for one position or one note that were one too many in an hour. */
export function queriesTooMany(conversation: readonly Matched[], hourMs: number, max: number): string[] {
  const queries = conversation.filter(({ call }) => call.counted && call.query && !('ultNSU' in call.query))
  return queries
    .filter(({ at }, index) => at - (queries[index - max]?.at ?? Number.NEGATIVE_INFINITY) < hourMs)
    .map(({ call }) => `${call.at} ${queryText(call)} is number ${max + 1} of an hour`)
}

/** The calls that came while another one of the same conversation was under way. */
export function overlaps(conversation: readonly Matched[], answerMs: number): string[] {
  return conversation.flatMap(({ call, at, row }, index) => {
    const next = conversation[index + 1]
    if (!next) return []
    // The product waited for a delayed response although no row tells so.
    const end = row?.at ?? (call.fault === 'delay' ? at + answerMs : at)
    return next.at < end
      ? [`${next.call.at} ${queryText(next.call)} while ${queryText(call)} of ${call.at} was under way`]
      : []
  })
}

function queryText({ query }: AuthorityCall): string {
  if (!query) return 'a query'
  return Object.entries(query)
    .map(([name, value]) => `${name} ${value}`)
    .join()
}

function lineOf({ service, cnpj }: LedgerCall): string {
  return `${service} ${cnpj}`
}
