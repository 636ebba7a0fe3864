import type { Connection } from '@vigia/sefaz/connection'
import type { Endpoints } from '@vigia/sefaz/endpoints'
import type { SefazError } from '@vigia/sefaz/error'

/** A question about a CNPJ: for the page after the cursor, for one position, or for one document by its chave. */
export type Question = { after: bigint } | { at: bigint } | { note: string }

/** A document of an answer, not opened; `nsu` null: the answer names no position. */
export interface Delivered {
  nsu: bigint | null
  schema: string
  content: Buffer
}

/** Words and numbers of the authority that every answer has, for the ledger. */
interface Said {
  /** cStat. */
  code: number
  /** xMotivo. */
  words: string
  /** The time of the authority; null: it cannot be read. */
  respondedAt: Date | null
  /** The authority compared the certificate with the CNPJ before it answered. */
  proves: boolean
  documents: Delivered[]
  bytes: number
  durationMs: number
}

/** An answer of the authority, whatever protocol it came by. */
export type Told = Said &
  (
    | { kind: 'page'; cursor: bigint | null; max: bigint | null }
    | { kind: 'end'; cursor: bigint | null; max: bigint | null }
    /** The position or note is not there, yet or for ever. */
    | { kind: 'absent'; forever: boolean; why: string }
    /** The CNPJ is blocked; `cursor`: where the authority stands. */
    | { kind: 'pause'; whom: 'line'; cursor: bigint | null }
    /** The service is down; `forAll`: it said so itself, and no line asks meanwhile. */
    | { kind: 'pause'; whom: 'service'; hours: number; forAll: boolean }
    /** `passing`: the same question may be accepted later. */
    | { kind: 'refused'; what: 'certificate' | 'line' | 'us'; passing: boolean; why: string }
  )

/** No answer came. */
export interface Lost {
  kind: 'lost'
  /** The authority may have counted the question. */
  counted: boolean
  /** `unclear`: of the host or of the certificate; servers also refuse one by cutting the connection, or with an HTML page. */
  fault: 'host' | 'certificate' | 'unclear' | 'ours'
  /** How it may end when nothing was counted: by itself, by itself but late, or by a person. */
  mends: 'soon' | 'late' | 'person'
  /** Sentence for people. */
  why: string
  /** For the ledger. */
  detail: string
  /** Null: the process ended, or failed by itself. */
  error: SefazError | null
  durationMs: number
}

export type Answer = Told | Lost

/** The CNPJ that a question is about. */
interface Subject {
  url: string
  tpAmb: 1 | 2
  uf: number
  cnpj: string
}

/** A web service that delivers the documents of a family, and the protocol to ask it. */
export interface Source {
  /** The web service, as the authority calls it. */
  webService: string
  url(endpoints: Endpoints): string
  ask(connection: Connection, subject: Subject, question: Question): Promise<Answer>
}
