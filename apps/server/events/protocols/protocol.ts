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

/** How the events of a family are written, and where they are sent; it knows no row of ours. */
export interface EventProtocol {
  /** How many events of one author leave together. */
  eventsMax: number
  url(endpoints: Endpoints, chave: string): string
  /** Whether the address of an outgoing event `o` is not paused. */
  isUp(endpoints: Endpoints, isPaused: (url: string) => boolean): RawBuilder<boolean>
  /** What a certificate is used for when these events leave, in words of their author. */
  use(cnpj: string, events: readonly { chave: string; tpEvento: number }[]): CertificateUse
  /** By tpEvento, what an event cites of its document besides the text of the person. */
  cites: Readonly<Record<number, 'authorization' | 'disagreement' | 'corrections'>>
  /** Throws an `EventError` for what the person can mend, and a `TypeError` for an event that does not leave from here. */
  sign(order: EventOrder, certificate: SigningCertificate): SignedEvent
  send(connection: Connection, url: string, lote: Lote): Promise<Answered>
  outcome(cStat: number): ResponseVerdict
  /** Codes of a dhEvento in the authority's future, and before the emission or authorisation. It admits five minutes of difference. */
  clock: { ahead: number; behind: readonly number[] }
  /** The registered event as it is stored. */
  receipt: { schema: string; write: typeof processedEvent }
  words: EventWords
}

/** What an event says, whatever its kind. */
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

/** What the authority says of an event; of a lote that it did not look into, code, text and the number of its events. */
export type Said = Pick<EventResult, 'cStat' | 'xMotivo'> &
  Partial<Pick<EventResult, 'protocol' | 'registeredAt' | 'xml'>> & { ofLoteWith?: number }

export interface Answered {
  whole: Said
  of(event: SignedEvent): Said | undefined
}

type Plural = readonly [one: string, many: string]

export interface EventWords {
  /** So many were registered, alone and before others that were not. */
  registered: Plural
  registeredBesides: Plural
  alreadyRegistered: string
}
