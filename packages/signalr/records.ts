const separator = 0x1e

/** A message to clients, encoded once for all connections. */
export class EncodedMessage {
  /** The JSON text and its separator. */
  readonly record: Buffer
  #event: Buffer | undefined

  constructor(value: object) {
    this.record = Buffer.from(`${JSON.stringify(value)}\x1e`)
  }

  /** The record as an event of `text/event-stream`; JSON has no raw line breaks. */
  get event(): Buffer {
    this.#event ??= Buffer.concat([Buffer.from('data: '), this.record, Buffer.from('\r\n\r\n')])
    return this.#event
  }
}

/** Cuts a stream of bytes into records, wherever its pieces begin and end. */
export class RecordReader {
  /** A record was too long: reading stops. */
  tooLarge = false
  #rest: Buffer = Buffer.alloc(0)
  readonly #bytesMax: number

  /** `bytesMax` counts the separator. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** The records that `piece` completes, without separators. */
  push(piece: Buffer): Buffer[] {
    const records: Buffer[] = []
    let start = 0
    while (!this.tooLarge && start < piece.length) {
      const end = piece.indexOf(separator, start)
      this.#rest = Buffer.concat([this.#rest, piece.subarray(start, end < 0 ? piece.length : end)])
      // Without a separator there is at least one byte to come.
      this.tooLarge = this.#rest.length >= this.#bytesMax
      if (end >= 0 && !this.tooLarge) records.push(this.#rest)
      if (end >= 0 || this.tooLarge) this.#rest = Buffer.alloc(0)
      start = end < 0 ? piece.length : end + 1
    }
    return records
  }
}

/** A record from a client; kinds that the hub ignores are `other`. */
export type IncomingRecord =
  | { kind: 'invocation'; id?: string; target: string }
  | { kind: 'ping' }
  | { kind: 'close' }
  | { kind: 'other' }

/** The client broke the protocol; the message may be sent to it. */
export class ProtocolError extends Error {
  override name = 'ProtocolError'
}

/** Reads any record but the first of a connection. */
export function parseRecord(bytes: Buffer): IncomingRecord {
  const record = parseObject(bytes)
  switch (record.type) {
    case 1:
    case 4:
      return parseInvocation(record)
    case 2:
    case 3:
    case 5:
      requireId(record)
      return { kind: 'other' }
    case 6:
      return { kind: 'ping' }
    case 7:
      return { kind: 'close' }
    default:
      if (typeof record.type !== 'number') throw new ProtocolError('A record has no type.')
      return { kind: 'other' }
  }
}

function parseInvocation(record: Record<string, unknown>): IncomingRecord {
  const { type, target, arguments: args, invocationId } = record
  if (typeof target !== 'string') throw new ProtocolError('An invocation has no target.')
  if (!Array.isArray(args)) throw new ProtocolError('An invocation has no arguments.')
  // Only a stream needs an id.
  if (type === 1 && (invocationId === undefined || invocationId === null)) return { kind: 'invocation', target }
  return { kind: 'invocation', id: requireId(record), target }
}

function requireId({ invocationId }: Record<string, unknown>): string {
  if (typeof invocationId !== 'string' || invocationId === '') throw new ProtocolError('A record has no invocationId.')
  return invocationId
}

const versionMax = 2

/** Checks the handshake record of a connection; returns the error for the client, or null. */
export function refuseHandshake(bytes: Buffer): string | null {
  let handshake: Record<string, unknown>
  try {
    handshake = parseObject(bytes)
  } catch {
    return 'The handshake request is not valid.'
  }
  const { protocol, version } = handshake
  if (typeof protocol !== 'string' || typeof version !== 'number') return 'The handshake request is not valid.'
  if (protocol !== 'json') return `The protocol '${protocol}' is not supported.`
  // Older clients send 0, clients with stateful reconnect send 2; the records are the same.
  if (!Number.isInteger(version) || version < 0 || version > versionMax)
    return `Version ${version} of the protocol 'json' is not supported.`
  return null
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function parseObject(bytes: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw new ProtocolError('A record is not valid JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ProtocolError('A record is not an object.')
  return value as Record<string, unknown>
}
