import { families } from '@vigia/dfe/families/all'
import { otherWeight } from '@vigia/dfe/families/events'
import type { EventKind } from '@vigia/dfe/families/family'
import { status } from '@vigia/dfe/families/statuses'
import type { Proof } from '@vigia/dfe/proof'

// The status of a document from its copies and events in any order of arrival: docs/decisions/0012-what-an-event-does.md.

/** Facts of an event that matter for its document. */
export interface EventClaim {
  tp_evento: number
  sequence: number
  orgao: number
  /** Weight in the displayed status; 0: the authority did not register it. */
  rank: number
  /** The status that it gives the document, when it gives one. */
  status: number | null
  /** Source of the event: a summary, or only the refusal to register it twice. */
  summary: boolean
  stated: boolean
  nsu: bigint
  /** ISO 8601 in UTC. */
  registered_at: string
  protocol: string | null
  /** The code and the protocol of the event that it takes back, as far as it tells them. */
  undoes: number | null
  undoes_protocol: string | null
  /** Roles that it gives the company. */
  roles: number
  /** Our table has words for tp_evento; otherwise the event's own are displayed. */
  known: boolean
  description: string
}

/** Displayed state of a document besides the facts of its best copy. */
export interface DisplayedStanding {
  /** Bit mask of `1 << role`. */
  roles: number
  status: number
  /** Status by the copies alone, without events. */
  base_status: number
  event_code: number
  /** The words of an event that our table does not know. */
  event_text: string | null
  /** The last instant for the answer that is due, ISO 8601 in UTC, and its tpEvento; null: none is. */
  answer_due_at: string | null
  answer_due: number | null
}

const cancellationRank = 100

/** Weight and status of a registered event of that kind; undefined: a kind that is not in our table. */
export function effectOf(kind: EventKind | undefined): { rank: number; status: number | null } {
  return { rank: kind?.weight ?? otherWeight, status: kind?.status ?? null }
}

// Cancelled and denied weigh more than replaced, which weighs more than authorised, no protocol and a bare summary.
const statusWeights: Partial<Record<number, number>> = {
  [status.summary]: 0,
  [status.noProtocol]: 1,
  [status.authorized]: 2,
  [status.denied]: 4,
  [status.cancelled]: 5,
}
const replacedWeight = 3
const weightOf = (status: number) => statusWeights[status] ?? replacedWeight

/** Status by all copies of a document: the heaviest, but only the best copy says that it is authorised. */
export function statusOfCopies(best: number, others: readonly number[]): number {
  return others.reduce(
    (heaviest, other) => (other !== status.authorized && weightOf(other) > weightOf(heaviest) ? other : heaviest),
    best,
  )
}

// Positions below 0 have no NSU, or one that another document took: that document goes first.
const byPosition = (a: bigint, b: bigint) => Number(a < 0n) - Number(b < 0n) || compare(a, b)

interface DocumentCopy {
  complete: boolean
  proof: Proof | null
  /** By the protocol. */
  authorized_at: string | null
  nsu: bigint
}

/** Best of several copies of a document: complete, proved, with protocol, then the first position. */
export function bestCopy<Copy extends DocumentCopy>(copies: readonly Copy[]): Copy {
  return copies.reduce((best, copy) => (byWorth(copy, best) < 0 ? copy : best))
}

// A signature that holds, one of which that cannot be told, one that does not.
const distrust = ({ proof }: DocumentCopy) => (proof === 'proved' ? 0 : proof === null || proof === 'hidden' ? 1 : 2)

const byWorth = (a: DocumentCopy, b: DocumentCopy) =>
  Number(b.complete) - Number(a.complete) ||
  distrust(a) - distrust(b) ||
  Number(a.authorized_at === null) - Number(b.authorized_at === null) ||
  byPosition(a.nsu, b.nsu)

/** The best copy of each event: registered before refused, its own registration before a duplicate, complete first, then the first position. */
export function bestEvents<Event extends EventClaim>(copies: readonly Event[]): Event[] {
  const best = new Map<string, Event>()
  for (const copy of copies) {
    const key = `${copy.tp_evento} ${copy.sequence} ${copy.orgao}`
    const other = best.get(key)
    if (other === undefined || proof(copy, other) < 0) best.set(key, copy)
  }
  return [...best.values()]
}

const proof = (a: EventClaim, b: EventClaim) =>
  Number(a.rank === 0) - Number(b.rank === 0) ||
  Number(a.stated) - Number(b.stated) ||
  Number(a.summary) - Number(b.summary) ||
  byPosition(a.nsu, b.nsu)

/** The events of one chave that others of them take back. */
export function undoneOf<Event extends EventClaim>(events: readonly Event[]): Set<Event> {
  const undone = new Set<Event>()
  const undos = events.filter(canUndo)
  if (undos.length === 0) return undone
  const candidates = events.filter(canBeUndone)
  const nameless = undos.filter((undo) => {
    const named = candidates.filter((event) => names(undo, event))
    for (const event of named) undone.add(event)
    return named.length === 0
  })
  // An undo that names no event that we have undoes the last one registered no later than itself, if one of the two states no protocol.
  for (const undo of nameless.sort(byRegistration)) {
    const open = candidates.filter(
      (event) =>
        event.tp_evento === undo.undoes &&
        !undone.has(event) &&
        event.registered_at <= undo.registered_at &&
        (event.protocol === null || undo.undoes_protocol === null),
    )
    // Events of the same second with a greater protocol are undone only if there is no earlier candidate.
    const before = open.filter((event) => !isLaterInSameSecond(event, undo))
    const last = (before.length > 0 ? before : open).sort(byRegistration).at(-1)
    if (last) undone.add(last)
  }
  return undone
}

const isUndo = (event: EventClaim) => event.undoes !== null || event.undoes_protocol !== null
const canUndo = (event: EventClaim) => event.rank > 0 && isUndo(event)
// A cancellation of the document is final, and an undo is not undone itself.
const canBeUndone = (event: EventClaim) => event.rank > 0 && event.rank < cancellationRank && !isUndo(event)
const names = (undo: EventClaim, event: EventClaim) =>
  event.protocol !== null &&
  event.protocol === undo.undoes_protocol &&
  (undo.undoes === null || undo.undoes === event.tp_evento)

function isLaterInSameSecond(event: EventClaim, undo: EventClaim): boolean {
  const own = protocolNumber(event)
  const of = protocolNumber(undo)
  return event.registered_at === undo.registered_at && own !== null && of !== null && own > of
}

// The order in which the authority registered. nProt is compared as the number that it is (TProt: 15 digits). An event whose protocol is
// unknown sorts first within its second. The other comparisons only make the order deterministic.
const byRegistration = (a: EventClaim, b: EventClaim) =>
  compare(a.registered_at, b.registered_at) ||
  compare(protocolNumber(a) ?? -1n, protocolNumber(b) ?? -1n) ||
  a.tp_evento - b.tp_evento ||
  a.sequence - b.sequence ||
  a.orgao - b.orgao

const protocolNumber = ({ protocol }: EventClaim) =>
  protocol !== null && /^[0-9]+$/.test(protocol) ? BigInt(protocol) : null

const compare = <Value extends string | bigint>(a: Value, b: Value) => (a < b ? -1 : a > b ? 1 : 0)

/** Displayed state of a document with that status and those roles of its copies, and these events. */
export function standingOf<Event extends EventClaim>(
  base: Pick<DisplayedStanding, 'base_status' | 'roles'>,
  events: readonly Event[],
  undone: ReadonlySet<Event>,
): Omit<DisplayedStanding, 'answer_due_at' | 'answer_due'> {
  const { base_status } = base
  const registered = events.filter((event) => event.rank > 0)
  // Undone events give no status, but their roles still count: the documents did arrive.
  const roles = registered.reduce((mask, event) => mask | event.roles, base.roles)
  const standing = registered
    .filter((event) => !undone.has(event))
    .sort((a, b) => b.rank - a.rank || byRegistration(b, a))
  const [heaviest] = standing
  // A document that arrived cancelled or denied stays so.
  if (heaviest === undefined || base_status === status.cancelled || base_status === status.denied)
    return { roles, base_status, status: base_status, event_code: codeOf(base_status), event_text: null }
  return {
    roles,
    base_status,
    status: standing.find((event) => event.status !== null)?.status ?? base_status,
    event_code: heaviest.tp_evento,
    event_text: heaviest.known ? null : heaviest.description,
  }
}

// The code displayed when no event says more; 0 for a summary and for what has no protocol.
const codeOf = (status: number) =>
  families.flatMap(({ statuses }) => statuses).find(({ code }) => code === status)?.eventCode ?? 0
