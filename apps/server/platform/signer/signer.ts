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

/** Purpose of opening a key; its owner can read this. */
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

/** Outgoing event to sign, with details that its row lacks. */
export interface EventDetails {
  id: bigint
  /** Process that holds the row's lease. */
  leaseBy: string
  /** The text of the row, as it leaves; undefined: without. */
  text?: string
  /** Protocol that the event cites: of the document, or of the event that it cancels. */
  protocol?: string
  /** Corrections of the previous letter, merged with those of the row. */
  corrections?: readonly Correction[]
}

/** Refused to sign: the event's row is gone, settled, leased elsewhere, or says something else. */
export class UnwantedEvent extends Error {
  override name = 'UnwantedEvent'
}

/** A certificate cannot be used as it is kept here: its key does not open, or is not its own. */
export class UnreadableCertificate extends Error {
  override name = 'UnreadableCertificate'
}
