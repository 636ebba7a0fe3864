import { cte } from '@vigia/dfe/families/cte'
import type { FamilyId } from '@vigia/dfe/families/id'
import { nfe } from '@vigia/dfe/families/nfe'
import type { AlertFacts } from './facts.ts'
import { cents, dayMs, instantOf } from './values.ts'

// Transport traces that notes should have: S21.

/** Cents from which a note without a trace is worth a look. */
export const tracedMin = 1_000_000
/** How long a CT-e may take to come. */
export const traceMs = 10 * dayMs
/** How long the note that a CT-e cites may take to come. */
export const noteMs = 5 * dayMs

// Interstate sales of goods that travel with the note: no earlier or later delivery (111 to 114,
// 118 to 120, 922), no sale from a vehicle (103, 104), no energy, services or fuel on the road.
const goods = /^6(?:10[125-9]|110|11[67]|40[1-4]|551|910)$/

// 90 days that the authority keeps documents, from `since` on, and 3 for the first capture.
const firstCaptureMs = 93 * dayMs

/** Whether an NF-e of goods from another UF names no carrier; ignores value and later events. */
export function namesNoCarrier({ tpNF, nfe, issuer, recipient }: AlertFacts): boolean {
  if (tpNF === '0' || nfe?.finNFe !== '1' || nfe.transport === undefined) return false
  const [from, to] = [issuer.uf, recipient?.uf]
  if (!from || !to || from === to || from === 'EX' || to === 'EX') return false
  if (nfe.cfops.length === 0 || !nfe.cfops.every((cfop) => goods.test(cfop))) return false
  // Transport in one's own vehicle (3, 4) needs no CT-e.
  if ((nfe.modFrete === '3' || nfe.modFrete === '4') && nfe.transport.plate) return false
  return nfe.modFrete === '9' || !nfe.transport.named
}

/** The instant from which a trace of a note is missed; null: it needs none. */
export function traceDue(facts: AlertFacts): number | null {
  if (!facts.company.captures.cte || cents(facts.amount) < tracedMin || !namesNoCarrier(facts)) return null
  const own = facts.company.establishments.find(({ taxId }) => taxId === facts.recipient?.taxId)
  const at = instantOf(facts.issuedAt)
  // Skips notes before `since`, whose CT-e the authority no longer kept.
  if (own === undefined) return null
  if (own.since === undefined) return at + traceMs
  // The first capture takes days, and old documents arrive in no order.
  return at < instantOf(own.since) ? null : Math.max(at + traceMs, instantOf(own.since) + firstCaptureMs)
}

// Limit of waiting for a stalled capture.
const waitMs = 90 * dayMs

// Companion documents by family: tax id of the party that has both, and when it is missed.
const companions: Partial<
  Record<
    FamilyId,
    { of: FamilyId; taxId(facts: AlertFacts): string | undefined; due(facts: AlertFacts): number | null }
  >
> = {
  nfe: { of: cte.id, taxId: ({ recipient }) => recipient?.taxId, due: traceDue },
  cte: { of: nfe.id, taxId: ({ cte }) => cte?.payer, due: ({ issuedAt }) => instantOf(issuedAt) + noteMs },
}

/** Whether what had not come by an instant did not come because it is not there: the captures of the other kind of document went on until then. */
export function wasCaptured(facts: AlertFacts, due: number): boolean {
  const companion = companions[facts.type]
  const own = facts.company.establishments.find((each) => each.taxId === companion?.taxId(facts))
  if (!companion || own?.until === undefined) return true
  const until = own.until[companion.of]
  return until !== null && instantOf(until) >= due
}

/** When something is missed that should have come with the document, in milliseconds; later than `asOf` as long as nothing can be said of it. NaN: never. */
export function missedAt(facts: AlertFacts, asOf: number): number {
  const due = companions[facts.type]?.due(facts) ?? Number.NaN
  return due <= asOf && asOf < due + waitMs && !wasCaptured(facts, due) ? asOf + dayMs : due
}

// CT-e or MDF-e authorised, passed, or delivered (MOC 7.0, eventos), with the event that undoes
// each; a recorded passage cannot be undone.
const traces = new Map<number, number | null>([
  [110130, 110131],
  [610130, 610131],
  [610600, 610601],
  [610610, 610611],
  [610614, 610615],
  ...[610500, 610510, 610514, 610550, 610552, 610554].map((tpEvento) => [tpEvento, null] as const),
])

/** Whether an event says that the goods were on the road or arrived, and was not taken back; a note may go in several vehicles. */
export function isTraced({ events }: Pick<AlertFacts, 'events'>): boolean {
  const times = (code: number | null) => events.filter(({ tpEvento }) => tpEvento === code).length
  return [...traces].some(([code, undo]) => times(code) > times(undo))
}
