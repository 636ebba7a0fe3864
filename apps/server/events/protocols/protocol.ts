import type { Connection } from '@vigia/sefaz/connection'
import type { Endpoints } from '@vigia/sefaz/endpoints'
import type {
  Correction,
  EventResult,
  processedEvent,
  ResponseVerdict,
  SignedEvent,
  SigningCertificate,
} from '@vigia/sefaz/events'
import type { RawBuilder } from 'kysely'
import type { CertificateUse } from '../../platform/signer/signer.ts'

/** Format and address of the events of a family. It reads no table. */
export interface EventProtocol {
  /** Events of one author that are sent together at most. */
  eventsMax: number
  url(endpoints: Endpoints, chave: string): string
  /** Condition for an outgoing event `o` whose address is not paused. */
  isUp(endpoints: Endpoints, isPaused: (url: string) => boolean): RawBuilder<boolean>
  /** Entry for the log of certificate uses, in Portuguese. */
  use(cnpj: string, events: readonly { chave: string; tpEvento: number }[]): CertificateUse
  /** Data of the document that an event repeats, by tpEvento; none for other events. */
  cites: Readonly<Record<number, 'authorization' | 'disagreement' | 'corrections'>>
  /**
   * Throws an `EventError` for what the person can mend, and a `TypeError` for an event that does not
   * leave from here. Called only in the signer (operations/signer/wanted.ts).
   */
  sign(order: EventOrder, certificate: SigningCertificate): SignedEvent
  send(connection: Connection, url: string, lote: Lote): Promise<AuthorityResponse>
  outcome(cStat: number): ResponseVerdict
  /** Codes of a dhEvento in the authority's future, and before the emission or authorisation. It admits five minutes of difference. */
  clock: { ahead: number; behind: readonly number[] }
  /** The registered event as it is stored. */
  receipt: { schema: string; write: typeof processedEvent }
  words: {
    /** Words after a count of registered events: when all were registered, and when others were not. */
    registered: Plural
    registeredBesides: Plural
    alreadyRegistered: string
  }
}

type Plural = readonly [one: string, many: string]

/** Contents of an event to sign; unused fields are ignored. */
export interface EventOrder {
  tpAmb: 1 | 2
  cnpj: string
  chave: string
  tpEvento: number
  nSeqEvento: number
  at: Date
  text?: string | undefined
  protocol?: string | undefined
  corrections?: readonly Correction[] | undefined
}

/** Events of one author; `id` is a number of ours. */
export interface Lote {
  id: string
  events: readonly SignedEvent[]
}

/** Response to an event; for a lote that was not processed only code, text and the number of its events. */
export type Said = Pick<EventResult, 'cStat' | 'xMotivo'> &
  Partial<Pick<EventResult, 'protocol' | 'registeredAt' | 'xml'>> & { ofLoteWith?: number }

export interface AuthorityResponse {
  whole: Said
  of(event: SignedEvent): Said | undefined
}
