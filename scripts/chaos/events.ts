import type { AuthorityCall, AuthorityEvent, AuthorityRow } from './authority.ts'
import type { RegisteredCompany } from './installation.ts'
import type { SentRequest } from './people.ts'
import type { OutgoingEventRow } from './records.ts'

const registrations = [134, 135, 136]
// Registered before, or an answer that says more than the ciência would.
const already = [573, 631, 655]
// The whole message was refused, not the event: it may come again.
const passing = [108, 109, 999, 656, 678]
const acknowledgement = 210210

const keyOf = (one: { service: string; author: string; chave: string; tpEvento: number; sequence: number }) =>
  [one.service, one.author, one.chave, one.tpEvento, one.sequence].join(' ')

const sentKey = (event: AuthorityEvent) => keyOf({ ...event, sequence: event.nSeqEvento })
const outgoingKey = (event: OutgoingEventRow) => keyOf({ ...event, author: event.cnpj })

/** Events that the authority did not register as the product says. */
export function wronglyTold(outgoing: readonly OutgoingEventRow[], sent: readonly AuthorityEvent[]): string[] {
  const byKey = new Map(sent.map((event) => [sentKey(event), event]))
  return outgoing.flatMap((event) => {
    const { state, cStat, protocol, message } = event
    const key = outgoingKey(event)
    const there = byKey.get(key)
    const told = `${key} is ${state} (${cStat}, ${protocol}, ${message})`
    // It was not answered for a day of the authority's, and says so.
    if (state === 'unconfirmed' && cStat === null) return []
    if (state !== 'registered' && state !== 'rejected') return [`${told}, and not decided`]
    if (!there) {
      // Given up here, before it came to be judged there: its document was cancelled meanwhile, say.
      const judged = event.calls.some((call) => call.cStat !== null && !passing.includes(call.cStat))
      return state === 'rejected' && !judged ? [] : [`${told}, and never reached the authority`]
    }
    // Of a company in two workspaces one may have sent what the other did not.
    const byOther = outgoing.some((other) => other.state === 'registered' && outgoingKey(other) === key)
    // It had been registered, and then another answer to the same document took its place.
    const overtaken = cStat === 573 && sent.some((other) => isLaterAnswer(other, there))
    if (state === 'rejected')
      return there.nProt === undefined || byOther || overtaken ? [] : [`${told}, but has the protocol ${there.nProt}`]
    // Somebody registered it before us, with another system.
    if (there.nProt === undefined)
      return already.includes(there.cStat) ? [] : [`${told}, but was answered ${there.cStat}`]
    return protocol === null || protocol === there.nProt ? [] : [`${told}, but has the protocol ${there.nProt}`]
  })
}

const answers = [210200, 210220, 210240]

function isLaterAnswer(other: AuthorityEvent, event: AuthorityEvent): boolean {
  return (
    other.chave === event.chave &&
    other.author === event.author &&
    other.tpEvento !== event.tpEvento &&
    answers.includes(other.tpEvento) &&
    other.nProt !== undefined &&
    other.at >= event.at
  )
}

/** Events that the authority registered more than once. */
export function registeredTwice(sent: readonly AuthorityEvent[]): string[] {
  return sent
    .filter(({ sendings }) => sendings.filter(({ cStat }) => registrations.includes(cStat)).length > 1)
    .map((event) => `${sentKey(event)} was registered more than once`)
}

/** Events at the authority, or on their way to it, that nobody asked for. */
export function unwanted(
  outgoing: readonly OutgoingEventRow[],
  sent: readonly AuthorityEvent[],
  requests: readonly SentRequest[],
  companies: readonly RegisteredCompany[],
): string[] {
  const requested = new Set(
    requests.map(({ company, service, chave, tpEvento }) => [service, company.cnpj, chave, tpEvento].join(' ')),
  )
  const acknowledging = new Set(companies.filter((one) => one.acknowledges).map(({ cnpj }) => cnpj))
  const ours = new Set(outgoing.map(outgoingKey))
  // An answer of which another system took the first number left with the second.
  for (const event of outgoing) if (event.sequence === 2) ours.add(outgoingKey({ ...event, sequence: 1 }))
  return [
    ...sent.map(sentKey).filter((key) => !ours.has(key)),
    ...outgoing
      .filter(({ automatic, service, cnpj, chave, tpEvento }) =>
        automatic
          ? tpEvento !== acknowledgement || !acknowledging.has(cnpj)
          : !requested.has([service, cnpj, chave, tpEvento].join(' ')),
      )
      .map(outgoingKey),
  ].map((key) => `${key} was wanted by nobody`)
}

/** Events that the product accepted and that are not on record. */
export function forgotten(outgoing: readonly OutgoingEventRow[], requests: readonly SentRequest[]): string[] {
  const known = new Set(
    outgoing.map(({ service, cnpj, chave, tpEvento }) => [service, cnpj, chave, tpEvento].join(' ')),
  )
  return [
    ...new Set(
      requests
        .filter(({ accepted }) => accepted)
        .map(({ company, service, chave, tpEvento }) => [service, company.cnpj, chave, tpEvento].join(' '))
        .filter((key) => !known.has(key)),
    ),
  ].map((key) => `${key} was promised and is not on record`)
}

/** Summaries that came while Ciência was to be given automatically, and that got none. */
export function unacknowledged(
  company: RegisteredCompany,
  truth: readonly AuthorityRow[],
  outgoing: readonly OutgoingEventRow[],
  since: number,
): string[] {
  if (!company.acknowledges) return []
  const answered = new Set(outgoing.filter(({ cnpj }) => cnpj === company.cnpj).map(({ chave }) => chave))
  const more = new Set(truth.filter(({ kind }) => kind !== 'summary').map(({ chave }) => chave))
  return truth
    .filter(({ kind, at, chave }) => kind === 'summary' && Date.parse(at) > since && !more.has(chave))
    .filter(({ chave }) => !answered.has(chave!))
    .map(({ chave, nsu, at }) => `${company.cnpj} NSU ${BigInt(nsu)} of ${at}: ${chave} has no Ciência`)
}

/** Sendings after the response to the event had been written. */
export function sentAgain(outgoing: readonly OutgoingEventRow[], sent: readonly AuthorityEvent[]): string[] {
  const byKey = new Map(sent.map((event) => [sentKey(event), event]))
  // Several workspaces may hold the same certificate, and want the same: each of them sends for itself.
  const owners = Map.groupBy(outgoing, outgoingKey)
  return [...owners].flatMap(([key, events]) => {
    // Number 2 leaves after a 573 to number 1.
    const decidedAt = events.map(
      ({ calls, sequence }) =>
        calls.find(({ cStat }) => cStat !== null && !passing.includes(cStat) && !(cStat === 573 && sequence > 1))?.at,
    )
    if (decidedAt.some((at) => at === undefined)) return []
    const last = Math.max(...decidedAt.map((at) => at!))
    const late = (byKey.get(key)?.sendings ?? []).filter(({ at }) => Date.parse(at) > last)
    const repeated = events.filter(({ calls }, index) => calls.some(({ at }) => at > decidedAt[index]!))
    return [
      ...late.map(({ at }) => `${key} was sent at ${at}, after its answer had been written`),
      ...repeated.map(({ id }) => `${key} (${id}) has a call after its answer`),
    ]
  })
}

/** Responses to events that say consumo indevido. */
export function eventMisuse(calls: readonly AuthorityCall[], sent: readonly AuthorityEvent[]): string[] {
  return [
    ...calls
      .filter(({ of, cStat }) => of === 'events' && (cStat === 656 || cStat === 678))
      .map(({ at, taxId, cStat }) => `${at} ${taxId} was answered ${cStat}`),
    ...sent.flatMap((event) =>
      event.sendings
        .filter(({ cStat }) => cStat === 656 || cStat === 678)
        .map(({ at, cStat }) => `${at} ${sentKey(event)} was answered ${cStat}`),
    ),
  ]
}
