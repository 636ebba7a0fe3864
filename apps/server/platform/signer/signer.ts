import type { Connection } from '@vigia/sefaz/connection'
import type { Correction, SignedEvent } from '@vigia/sefaz/events'

/** Holds the private keys: it seals them, shows them to the authority and signs with them, and hands none out. */
export interface Signer {
  /** It did not respond a moment ago: what needs a certificate waits. */
  readonly isDown: boolean
  /** Makes sure that it can be asked, that its keys can be opened, and that it knows whom to trust as the authority. */
  check(): Promise<void>
  /** The key of tokens and tickets, which opens nothing of a certificate. */
  tokensKey(): Promise<Buffer>
  /** Seals the private key (PEM) of a certificate of a company with the key of its workspace. */
  seal(workspaceId: number, companyId: number, privateKey: string): Promise<SealedKey>
  /** Opens the key of a certificate and notes the use; null when it was replaced or removed a moment ago. Throws `UnreadableCertificate`. */
  open(workspaceId: number, certificateId: number, use: CertificateUse): Promise<OpenedCertificate | null>
}

export interface SealedKey {
  sealed: Buffer
  /** Names the key of the workspace. */
  keyId: string
}

/** What a key is opened for; its owner can read this. */
export interface CertificateUse {
  service: string
  purpose: string
}

/** A certificate whose key is open, inside the signer. */
export interface OpenedCertificate {
  id: number
  pem: string
  validTo: Date
  /** Shows it to the addresses of the authority, and to no others. Throws `UnreadableCertificate`. */
  connect(): Promise<Connection>
  /** Signs an event that is written down as wanted. Throws `EventError`, and an error when it is not. */
  sign(details: EventDetails): Promise<SignedEvent>
}

/** Which outgoing event is to be signed, and what its row does not say. */
export interface EventDetails {
  id: bigint
  /** Who holds the row. */
  leaseBy: string
  /** The text of the row, as it leaves; undefined: without. */
  text?: string
  /** What the event cites: the protocol of the document, or of the event that it takes back. */
  protocol?: string
  /** Those of the row, after those of the letter before. */
  corrections?: readonly Correction[]
}

/** Nobody wants the event as it is asked for: its row is gone, settled, held by another process, or says something else. */
export class UnwantedEvent extends Error {
  override name = 'UnwantedEvent'
}

/** A certificate cannot be used as it is kept here: its key does not open, or is not its own. */
export class UnreadableCertificate extends Error {
  override name = 'UnreadableCertificate'
}
