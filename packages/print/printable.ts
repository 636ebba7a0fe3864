import { openDocument, type XmlElement } from '@vigia/dfe/document'

/** What the product knows about a document beyond its bytes. */
export interface PrintOptions {
  /** The registered cancelamento (events 110111 and 110112): its protocol and its dhRegEvento. */
  cancelled?: { protocol?: string; at?: string }
}

/** The bytes are not a document this package prints; the message is a sentence for the person. */
export class PrintError extends Error {
  override name = 'PrintError'
}

/** The root element of the file, or a `PrintError`. */
export function openPrintable(bytes: Uint8Array): XmlElement {
  try {
    return openDocument(bytes)
  } catch (cause) {
    throw new PrintError('O arquivo não é um XML bem formado.', { cause })
  }
}

/** Refuses a form whose fixed blocks leave no room on the sheet: only texts longer than the layouts allow can do that. */
export function assertRoom(room: number, least: number): void {
  if (room < least) {
    throw new PrintError('O documento tem textos maiores do que o leiaute permite e não cabe na folha.')
  }
}
