import { createHash } from 'node:crypto'
import type { Proof } from '@vigia/dfe/proof'
import type { DocumentFacts, EventFacts } from '@vigia/dfe/read'
import type { Inside } from './contents/inside.ts'
import { openReceived, type Packed } from './received/bytes.ts'

export const damagedProblem = 'O arquivo chegou corrompido da SEFAZ (não é possível descompactá-lo).'

export interface ReceivedDocZip {
  nsu: bigint
  schema: string
  /** The gzip stream as received, or what `receivedContent` gives of a receipt. */
  content: Buffer
}

export interface Arrival extends ReceivedDocZip {
  /** Sentence for people: why it could not be read, or what is odd in it. */
  problem: string | null
  /** The chave that it names as its own; null: none, or nothing was read. */
  chave: string | null
  facts: DocumentFacts | EventFacts | null
  /** Inside of a document, as its company keeps it; null: unreadable; undefined: not read yet. */
  inside?: Inside | null | undefined
  /** Content for the receipt; absent: `content` itself. */
  packed?: Packed | null
  /** Result of verifying a document or an event; null: nothing in it is verified. */
  proof: Proof | null
  /** No thread could read it: a job reads it again after so long. */
  againMs?: number
}

/** A position of ours for a docZip that cannot have the one it came with: a negative number made from a hash of the bytes. */
export function ownNsuOf(content: Buffer): bigint {
  return -1n - (createHash('sha256').update(content).digest().readBigUInt64BE() >> 2n)
}

/** Whether two docZips hold the same document, however it was compressed; null when one of them cannot be opened. */
export function isSameDocument(one: Buffer, other: Buffer): boolean | null {
  if (one.equals(other)) return true
  try {
    return openReceived(one).equals(openReceived(other))
  } catch {
    return null
  }
}
