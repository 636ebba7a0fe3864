import type { ChangeKind } from '../../documents/changes.ts'

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
