import { SefazError, UnsentError } from '@vigia/sefaz/error'
import { EventError } from '@vigia/sefaz/events'
import { InstallationError } from '../installation.ts'
import { UnreadableCertificate, UnwantedEvent } from './signer.ts'

/** Header of a `relay` call; the message itself is the body. */
export interface RelayHead {
  handle: string
  url: string
  headers: Record<string, string>
  timeoutMs?: number
}

/** The handle of an opened certificate is not known any more: the signer began anew, or it was opened long ago. */
export class HandleGone extends Error {
  override name = 'HandleGone'
}

/** How an error travels. */
export interface WrittenError {
  name: string
  message: string
  sefaz?: Pick<SefazError, 'kind' | 'sent' | 'status' | 'body' | 'detail'>
}

// Classes that survive the socket, because callers handle them.
const classes: Readonly<Record<string, new (message: string) => Error>> = {
  EventError,
  HandleGone,
  InstallationError,
  TypeError,
  UnreadableCertificate,
  UnsentError,
  UnwantedEvent,
}

/** An error as it travels to the client. */
export function writeError(error: unknown): WrittenError {
  if (error instanceof SefazError) {
    const { kind, sent, status, body, detail } = error
    return { name: error.name, message: error.message, sefaz: { kind, sent, status, body, detail } }
  }
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  return { name, message }
}

/** The error that `writeError` wrote. */
export function readError({ name, message, sefaz }: WrittenError): Error {
  if (sefaz) return new SefazError(sefaz.kind, { ...sefaz, body: sefaz.body ? Buffer.from(sefaz.body) : undefined })
  const known = Object.hasOwn(classes, name) ? classes[name] : undefined
  return known ? new known(message) : new Error(`the signer failed: ${name}: ${message}`)
}
