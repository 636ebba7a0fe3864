import { gunzipSync } from 'node:zlib'
import { openDocument, type XmlElement } from '@vigia/dfe/document'
import { readReceived } from '@vigia/dfe/read'
import { parseInstant } from '../clock.ts'
import type { PartyRole } from '../inspect.ts'
import type { Ledger, ReceivedRecord } from '../ledger.ts'

/** Data of the authority about the document of an event. */
export interface KnownDocument {
  protocol?: string
  issuedAt: number
  authorizedAt: number
  /** Start of the deadlines. */
  deadlineFrom: number
  isCancelled: boolean
  isDenied: boolean
  root: XmlElement
  /** Tax ids of the parties with a role. */
  taxIdsOf(role: PartyRole): string[]
}

/** A registration of an event. */
interface Registration {
  nProt?: string
  dhRegEvento?: string
}

export function knownDocument(ledger: Ledger, chave: string): KnownDocument | null {
  const record = ledger.documents.get(chave)
  if (record === undefined) return null
  const bytes = contentOf(ledger, record)
  const { facts } = readReceived(bytes)
  if (facts.kind !== 'document') return null
  // A document from elsewhere may bear a date that this authority's clock has not reached.
  const written = (text: string | undefined) => Math.min(parseInstant(text) ?? record.at, record.at)
  return {
    protocol: facts.protocol,
    issuedAt: written(facts.issuedAt),
    authorizedAt: written(facts.authorizedAt ?? facts.issuedAt),
    deadlineFrom: record.authorizedAt ?? record.at,
    isCancelled: record.facts.situation === 'cancelled' || eventsOf(ledger, chave, 110111).length > 0,
    isDenied: record.facts.situation === 'denied',
    root: openDocument(bytes),
    taxIdsOf: (role) => record.facts.parties.filter((one) => one.role === role).map((one) => one.taxId),
  }
}

/** The registered events of a code about a chave, in order of reception. */
export function eventsOf(ledger: Ledger, chave: string, tpEvento: number): ReceivedRecord[] {
  return (ledger.events.get(chave) ?? []).filter((one) => one.facts.tpEvento === tpEvento)
}

/** Whether an event happened more often than it was undone. */
export function stands(ledger: Ledger, chave: string, tpEvento: number, undoneBy?: number): boolean {
  const undone = undoneBy === undefined ? 0 : eventsOf(ledger, chave, undoneBy).length
  return eventsOf(ledger, chave, tpEvento).length > undone
}

export function registrationRecord(ledger: Ledger, record: ReceivedRecord): Registration {
  const { facts } = readReceived(contentOf(ledger, record))
  return facts.kind === 'event' ? { nProt: facts.protocol, dhRegEvento: facts.registeredAt } : {}
}

export function openReceived(ledger: Ledger, record: ReceivedRecord): XmlElement {
  return openDocument(contentOf(ledger, record))
}

function contentOf(ledger: Ledger, record: ReceivedRecord): Buffer {
  return gunzipSync(ledger.gzip(record.content))
}
