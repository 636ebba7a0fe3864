import type { XmlElement } from '@vigia/xml/parse'
import type { DocumentFacts, EventFacts, Problem, UnknownFacts } from '../facts.ts'
import type { FamilyId } from './id.ts'

/**
 * A family of fiscal documents: data and pure functions, the same for the browser, the server and the threads. It knows no HTTP, no SQL and no
 * certificate. Every family is a row of `families/all.ts`.
 */
export interface Family {
  id: FamilyId
  /** How tables and `TipoDFe` write the family. */
  code: number
  /** As people write it: NF-e. */
  name: string
  /** "Uma NF-e nova", "um CT-e novo". */
  feminine: boolean
  /** Path of its list in the browser. */
  list: string
  /** Models in the chaves of delivered documents; empty if chaves contain no model. */
  models: readonly string[]
  namespace: string
  /** Root elements of its files, and what they hold; the namespace decides together with the root. */
  roots: Readonly<Record<string, 'document' | 'summary' | 'event'>>
  key: KeyFormat
  /** Facts of a parsed file whose root is one of `roots`; it never throws. */
  read(root: XmlElement, problems: Problem[]): DocumentFacts | EventFacts | UnknownFacts
  /** Roles of a company in a document. The first one it has is shown; each has a switch. */
  roles: readonly Role[]
  statuses: readonly Status[]
  /** Event kinds by code; a code newer than the table has no effect. */
  events: ReadonlyMap<number, EventKind>
  /** Registration of an event by the cStat of its response. */
  registration(cStat: string | undefined): Registration
  /** Status of a document that another one replaces; null: replacement is reported by an event. */
  replacedStatus: number | null
  /** Answers of a company to a document, in the order of the menu. */
  answers: readonly Answer[]
  /** The next answer with a deadline that has not passed, or null. */
  open(subject: AnswerSubject, now: Date): DueAnswer | null
  /** Summaries delivered before the whole document; null: documents always arrive whole. */
  summary: {
    /** The role of a company that receives a summary. */
    role: number
    /** Registered events that release the whole document, and the usual wait until it arrives. */
    releasedBy: readonly number[]
    waitHours: number
  } | null
  /** Layout for `proofOf`; null if it cannot verify the signatures of this family. */
  signed: SignedLayout | null
  /** The printed form in packages/print, by the model of the chave; null: it has none. */
  form(key: DocumentKey): PrintedForm | null
  files: {
    /** Folder in exports. */
    folder: string
    /** Name of the XML file. */
    name(chave: string, complete: boolean): string
  }
}

/** The names in which the event layouts of the families differ. */
export interface EventLayout {
  event: string
  response: string
  chave: string
}

/** The signed parts of a family's files and the fields that must agree with them. */
export interface SignedLayout extends EventLayout {
  /** The signed group of a document; its Id is `prefix` and the chave. */
  group: string
  prefix: string
  protocol: string
  /** Whether the chave agrees with the fields of the signed group. */
  agrees(chave: string, group: XmlElement): boolean
  /** Text that masks hidden parts in some copies after signing; null: nothing is masked. */
  mask: string | null
}

/** How the chaves of a family are written. */
export interface KeyFormat {
  /** Finds a chave in pasted text, a QR Code address or damaged bytes; null if there is none. */
  find(text: string): string | null
  /** Parses a chave by shape; a wrong check digit makes `valid` false. Null: not of this family. */
  parse(text: string): DocumentKey | null
  /** In groups, as printed forms show it. */
  format(chave: string): string
}

/** Data read from a chave de acesso. */
export interface DocumentKey {
  family: FamilyId
  text: string
  /** Whether the check digit agrees. */
  valid: boolean
  model: string | null
  series: number | null
  number: number
  /** CNPJ of 14 positions or CPF of 11. */
  issuer: string
  /** AAAA-MM. */
  month: string
  /** IBGE code of the UF (2 digits) or of the municipality (7). */
  place: string
}

/** A role that a company may have in a document. */
export interface Role {
  code: number
  name: string
  /** Direction of a document for a company with the role. */
  side: 'issued' | 'received' | 'paid' | 'other'
}

/** A status of documents. The same code means the same in every family. */
export interface Status {
  code: number
  name: string
  /** Whether documents with it count in sums. */
  stands: boolean
  /** Nothing changes or answers the document any more. */
  final: boolean
  /** Whether the filter of the list offers it. */
  filter: boolean
  /** The code shown in place of an event when no event says more; 0: none. */
  eventCode: number
}

export type Registration = 'registered' | 'duplicate' | 'none'

/** An event code and its effect on the document. */
export interface EventKind {
  tpEvento: number
  /** In Portuguese, for people. */
  description: string
  effect: EventEffect
  /** Weight in the shown status: the heaviest standing event is shown. */
  weight: number
  /** Status that the event gives the document, if any. */
  status: number | null
  /** The description is not published: the text inside the event says more. */
  ownWords?: true
  /** Code of the event that this one undoes; 110001 names it by code and protocol instead. */
  undoes?: number
}

export type EventEffect =
  | 'cancels'
  | 'acknowledged'
  | 'confirmed'
  | 'unknown-operation'
  | 'not-performed'
  | 'corrected'
  | 'replaced'
  | 'disputed'
  | 'unfit'
  | 'trail'
  | 'undoes'
  | 'none'

/** An answer of a company to a document. */
export interface Answer {
  tpEvento: number
  /** `tipoManifestacao` of the call. */
  choice: number
  /** In the menu. */
  name: string
  /** With its article, as in "a justificativa …". */
  of: string
  /** Use of the person's text: required, optional, not sent, or turned into corrections. */
  text: 'demanded' | 'taken' | 'none' | 'corrections'
  /** Answers that override each other (the last one counts), including this one. */
  rivals: readonly number[]
  /** The kind of deadline that lists show; null: the answer is never due. */
  due: DueAnswer['answer'] | null
  /** Whether it may be sent now, apart from its deadline; a refusal explains the reason. */
  may(subject: AnswerSubject): { sequence: number } | { refusal: string }
  /** The last instant in which it may be registered; null when none is known. */
  until(subject: Pick<AnswerSubject, 'model' | 'authorizedAt' | 'deadlineLifted'>): Date | null
}

/** An answer that is due, and the last instant for it. */
export interface DueAnswer {
  answer: 'ciencia' | 'manifestacao' | 'desacordo'
  tpEvento: number
  until: Date
}

/** The state of a document that decides which answers are possible. */
export interface AnswerSubject {
  model: string | null
  /** Bit mask of `1 << role`. */
  roles: number
  status: number
  complete: boolean
  authorizedAt: Date | null
  /** The Fisco allowed a late cancellation (event 240170 of the CT-e). */
  deadlineLifted: boolean
  /** Answers of the company, oldest first. */
  own: readonly OwnAnswer[]
}

export interface OwnAnswer {
  tpEvento: number
  sequence: number
  pending: boolean
  /** `untold`: maybe registered; `elsewhere`: other system's, maybe undone. Uses its number. */
  doubt?: 'untold' | 'elsewhere' | null
  protocol?: string | null
}

/** A form of packages/print. */
export interface PrintedForm {
  form: string
  name: string
}
