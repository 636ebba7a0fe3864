import type { ListRow } from '../../tests/support/client.ts'
import type { AuthorityEvent, AuthorityRow } from './authority.ts'
import type { Receipt, Service } from './records.ts'

/** What the receipts of a company lack, have twice, have too much or have damaged. */
export function compareReceipts(truth: readonly AuthorityRow[], receipts: readonly Receipt[]): string[] {
  const problems: string[] = []
  // What has no NSU of its own stands below zero: responses to events of the company, whole copies of what had arrived damaged.
  const held = new Map(receipts.filter(({ nsu }) => nsu > 0n).map((receipt) => [receipt.nsu, receipt]))
  const others = new Set(receipts.filter(({ nsu, unread }) => nsu < 0n && !unread).map(({ sha256 }) => sha256))
  for (const row of truth) {
    const what = `NSU ${BigInt(row.nsu)} (${row.kind} ${row.tpEvento ?? ''} of ${row.chave}, ${row.at})`
    const receipt = held.get(BigInt(row.nsu))
    held.delete(BigInt(row.nsu))
    if (!receipt) problems.push(`${what} is missing`)
    else if (receipt.unread && others.has(row.sha256)) continue
    else if (receipt.sha256 !== row.sha256)
      problems.push(`${what} is not what the authority holds (unread ${receipt.unread}, problem ${receipt.problem})`)
    else if (receipt.unread) problems.push(`${what} was not read: ${receipt.problem}`)
  }
  for (const { nsu } of held.values()) problems.push(`NSU ${nsu} is not of the authority`)
  return problems
}

/** How the list differs from the documents that the authority holds. */
export function compareList(truth: readonly AuthorityRow[], list: readonly ListRow[]): string[] {
  const problems: string[] = []
  const documents = Map.groupBy(
    truth.filter(({ kind }) => kind === 'document' || kind === 'summary'),
    ({ chave }) => chave!,
  )
  const shown = Map.groupBy(list, ({ chave }) => chave)
  for (const [chave, rows] of documents) {
    const [first, ...more] = shown.get(chave) ?? []
    const complete = rows.some(({ kind }) => kind === 'document')
    if (!first) problems.push(`${chave} is not in the list`)
    else if (more.length > 0) problems.push(`${chave} is in the list ${more.length + 1} times`)
    else if (first.notaCompleta !== complete)
      problems.push(`${chave}: notaCompleta is ${first.notaCompleta}, the XML came: ${complete}`)
  }
  for (const chave of shown.keys()) if (!documents.has(chave)) problems.push(`${chave} is in the list for no reason`)
  return problems
}

const cancellations = [110111, 110112]
const answers = [210200, 210220, 210240]
const acknowledgement = 210210

/** Where the status in the list is not the one that the events give (docs/decisions/0012). */
export function compareStatuses(
  service: Service,
  truth: readonly AuthorityRow[],
  own: readonly AuthorityEvent[],
  list: readonly ListRow[],
): string[] {
  const events = Map.groupBy(
    [
      ...truth
        .filter(({ tpEvento }) => tpEvento !== undefined)
        .map(({ chave, tpEvento, at }) => ({ chave, tpEvento: tpEvento!, at })),
      ...own.filter(({ nProt }) => nProt !== undefined),
      // It stands since somebody registered it with another system, before all of ours.
      ...own
        .filter(({ nProt, cStat }) => nProt === undefined && (cStat === 573 || cStat === 631))
        .map((event) => ({ ...event, at: new Date(0).toISOString() })),
    ],
    ({ chave }) => chave,
  )
  return list.flatMap(({ chave, status: { codigoEvento } }) => {
    const known = events.get(chave) ?? []
    const expected = expectedCodes(service, known)
    if (expected.includes(codigoEvento)) return []
    const told = known.map(({ tpEvento, at }) => `${tpEvento} at ${at}`).join(', ')
    return [`${chave} shows ${codigoEvento}, its events say ${expected.join(' or ')}: ${told}`]
  })
}

function expectedCodes(service: Service, events: readonly { tpEvento: number; at: string }[]): number[] {
  const codes = events.map(({ tpEvento }) => tpEvento)
  const cancelled = codes.filter((code) => cancellations.includes(code))
  if (cancelled.length > 0) return cancelled
  if (service === 'nfe') {
    const given = events.filter(({ tpEvento }) => answers.includes(tpEvento))
    const second = (at: string) => Math.floor(Date.parse(at) / 1000)
    // The last answer counts; the authority tells seconds.
    const last = Math.max(...given.map(({ at }) => second(at)))
    if (given.length > 0) return given.filter(({ at }) => second(at) === last).map(({ tpEvento }) => tpEvento)
    if (codes.includes(acknowledgement)) return [acknowledgement]
  }
  // Without events: authorised, a bare summary, denied.
  return codes.length > 0 ? codes : [100, 0, 302]
}
