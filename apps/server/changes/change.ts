/** A document is new, its complete XML came, an event changed what it shows, it was cancelled, an answer of ours to it was settled. */
export type ChangeKind = 'new' | 'completed' | 'standing' | 'cancelled' | 'answered'

/** A change of a document, with what the reader needs to fetch it. */
export interface Change {
  version: number
  kind: ChangeKind
  at: Date
  documentId: bigint
  chave: string
  type: number
  companyId: number
  companyPublicId: string
  /** Of `answered`. */
  answer: { tpEvento: number; state: 'registered' | 'rejected' | 'unconfirmed'; message: string } | null
}
