import type { Authority } from '../authority.ts'
import { parseInstant } from '../clock.ts'
import type { Service } from '../inspect.ts'
import { type ReceivedRecord, responseKey, sendingKey } from '../ledger.ts'
import type { SentEvent } from './event.ts'
import { type KnownDocument, registrationRecord } from './known.ts'
import type { EventService } from './services.ts'

/** The end of the judgement of an event. */
export interface EventVerdict {
  cStat: number
  /** Suffix for the text of the code: `[nProt:…]`. */
  appended?: string
}

const minuteMs = 60_000
/** Tolerated clock difference. */
const toleranceMs = 5 * minuteMs
// NT 2018.002; the same number in the MOC of the CT-e.
const equalRejectionsMax = 20

/** Consumo indevido, by the family of the documents. */
export const misuseCodes: Record<Service, number> = { nfe: 656, cte: 678 }

/** Registered, whatever the document's situation. */
export function isRegistration(cStat: number): boolean {
  return cStat === 134 || cStat === 135 || cStat === 136
}

/** Codes for an event before the emission, before the authorisation and after now. */
export function refuseDate(
  { clock }: Authority,
  event: SentEvent,
  document: KnownDocument | null,
  codes: { beforeIssue: number; beforeAuthorization: number; inFuture: number },
): number | null {
  const at = parseInstant(event.dhEvento) ?? 0
  if (document !== null && at < document.issuedAt - toleranceMs) return codes.beforeIssue
  if (document !== null && at < document.authorizedAt - toleranceMs) return codes.beforeAuthorization
  return at > clock.now() + toleranceMs ? codes.inFuture : null
}

/** A rejection that names the earlier registration which causes it. */
export function refusedBy(
  { ledger }: Authority,
  cStat: number,
  record: ReceivedRecord,
  dateName = 'dhRegEvento',
): EventVerdict {
  const { nProt, dhRegEvento } = registrationRecord(ledger, record)
  const parts = [nProt && `[nProt:${nProt}]`, dhRegEvento && `[${dateName}:${dhRegEvento}]`]
  return { cStat, appended: parts.filter(Boolean).join('') }
}

/** Whether the author is blocked for repeating a rejected event. A retry restarts the hour. */
export function isBlocked({ ledger, clock, hourMs }: Authority, { service }: EventService, event: SentEvent): boolean {
  const at = ledger.lastResponses.get(responseKey({ service, author: event.author, cStat: misuseCodes[service] }))
  return at !== undefined && clock.now() < at + hourMs
}

/** The verdict as it is answered: the twenty-first equal rejection of an event is misuse. */
export function countMisuse(
  { ledger }: Authority,
  service: EventService,
  event: SentEvent,
  verdict: EventVerdict,
): EventVerdict {
  if (isRegistration(verdict.cStat)) return verdict
  const sent = ledger.sendingsByEvent.get(sendingKey({ service: service.service, ...event })) ?? []
  const others = sent.findLastIndex((one) => one.cStat !== verdict.cStat)
  return sent.length - (others + 1) < equalRejectionsMax ? verdict : { cStat: misuseCodes[service.service] }
}
