/** The bytes are not a document this package prints; the message is a sentence for the person. */
export class PrintError extends Error {
  override name = 'PrintError'
}
