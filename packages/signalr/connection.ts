import { randomBytes } from 'node:crypto'
import { EncodedMessage, ProtocolError, parseRecord, RecordReader, refuseHandshake } from './records.ts'
import type { Limits, Times } from './settings.ts'
import type { HubTransport, TransportListener } from './transports.ts'

/** The user of a token. */
export interface HubIdentity<User> {
  /** Identifies the user: connections with equal keys belong together. */
  key: string
  user: User
  /** When the token ends, in milliseconds since 1970; absent: never by itself. */
  expiresAt?: number
}

/** A connection that is open, as the hub hands it out. */
export interface Client<User> {
  readonly user: User
  /** Not a secret: it may be sent to others. */
  readonly connectionId: string
  /**
   * Resolves true when all sent data has arrived; false if the connection ended before. Confirmed
   * by a WebSocket or by the next poll; for server-sent events true only means written.
   */
  reached(): Promise<boolean>
}

/** Log of the hub; no field ever holds a token. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** The parts of the hub that a connection uses. */
export interface HubServices<User> {
  times: Times
  limits: Limits
  log: Log
  counters: { opened: number; received: number; sent: number; cut: number }
  /** Its handshake is done. */
  opened(connection: ClientConnection<User>): void
  /** The connection is ending: messages no longer reach it. */
  forget(connection: ClientConnection<User>, wasOpen: boolean): void
  /** Called when its transport has ended. */
  remove(connection: ClientConnection<User>): void
}

const handshakeDone = new EncodedMessage({})
const ping = new EncodedMessage({ type: 6 })
const goodbye = new EncodedMessage({ type: 7 })

/** A Close record; with `allowReconnect` a client that reconnects by itself comes back. */
export function closeRecord(allowReconnect: boolean, error?: string): EncodedMessage {
  return new EncodedMessage({ type: 7, error, allowReconnect })
}

/** Generates an unguessable URL-safe token. */
export const secret = () => randomBytes(24).toString('base64url')

/** The conversation with one client. */
export class ClientConnection<User> implements TransportListener, Client<User> {
  readonly id = secret()
  /** Opens the connection; in version 0 the same as `id`. */
  readonly token: string
  /** Speaks for its user on this connection, in the place of a token. */
  readonly ticket: string
  readonly address: string
  identity: HubIdentity<User>
  transport: HubTransport | undefined
  state: 'waiting' | 'attached' | 'open' | 'ended' = 'waiting'
  /** When it entered its state. */
  since = performance.now()
  readonly #services: HubServices<User>
  readonly #reader: RecordReader
  #turn: Promise<void> = Promise.resolve()
  #pingAt = 0
  // The silence timer starts with the first ping, because long polling clients never ping.
  #hasPinged = false
  #heardAt = 0

  constructor(
    services: HubServices<User>,
    identity: HubIdentity<User>,
    address: string,
    { version, ticket }: { version: number; ticket: string },
  ) {
    this.#services = services
    this.#reader = new RecordReader(services.limits.recordBytesMax)
    this.identity = identity
    this.address = address
    this.token = version === 0 ? this.id : secret()
    this.ticket = ticket
  }

  get user(): User {
    return this.identity.user
  }

  get connectionId(): string {
    return this.id
  }

  async reached(): Promise<boolean> {
    return this.state === 'open' && this.transport !== undefined && this.transport.reached()
  }

  attach(transport: HubTransport): void {
    this.transport = transport
    this.#enter('attached')
  }

  /** A later request with a token of the user renews the identity, unless it expires earlier. */
  renew(identity: HubIdentity<User>): void {
    if ((identity.expiresAt ?? Infinity) >= (this.identity.expiresAt ?? Infinity)) this.identity = identity
  }

  /** Serializes request bodies in order of arrival: wait for `before`, then call `done`. */
  takeTurn(): { before: Promise<void>; done: () => void } {
    const before = this.#turn
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#turn = before.then(() => promise)
    return { before, done: resolve }
  }

  receive(bytes: Buffer): void {
    try {
      for (const record of this.#reader.push(bytes)) if (this.state !== 'ended') this.#take(record)
      if (this.#reader.tooLarge) throw new ProtocolError('A record is larger than allowed.')
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Whether the message has been written; a client that takes too little is cut. */
  send(message: EncodedMessage): boolean {
    if (this.state !== 'open' || !this.transport) return false
    if (this.transport.backlog + message.record.length > this.#services.limits.backlogBytesMax) {
      this.#cut('takes too little')
      return false
    }
    this.transport.write(message)
    this.#services.counters.sent += 1
    return true
  }

  /** Says `last` and ends when it has left. */
  close(why: string, last: EncodedMessage, code = 1000): void {
    const { state } = this
    if (!this.#end(why)) return
    // Before its handshake a client takes any record for the response to it.
    if (state === 'open') this.transport?.write(last)
    this.transport?.end(code)
  }

  left(why: string): void {
    this.#end(why)
  }

  gone(): void {
    this.#end('connection ended')
    this.#services.remove(this)
  }

  sweep(now: number, date: number): void {
    const { times } = this.#services
    if (this.state === 'waiting') {
      if (now - this.since >= times.detachedMs) this.#end('not attached')
      return
    }
    if (this.transport?.sweep(now)) this.#cut('nothing moves')
    const { expiresAt = Infinity } = this.identity
    if (date >= expiresAt + times.expiryGraceMs) this.close('token ended', closeRecord(true, 'The token has ended.'))
    else if (this.state === 'attached' && now - this.since >= times.handshakeMs) this.#refuse('Handshake was canceled.')
    else if (this.state === 'open' && this.transport?.name !== 'LongPolling') this.#keepAlive(now)
  }

  #keepAlive(now: number): void {
    const { times } = this.#services
    if (this.#hasPinged && now - this.#heardAt >= times.clientSilenceMs) {
      this.close('silence', closeRecord(true, 'The client has said nothing for too long.'))
    } else if (now - this.#pingAt >= times.pingMs) {
      this.#pingAt = now
      if (this.transport?.backlog === 0) this.transport.write(ping)
    }
  }

  #fail(error: unknown): void {
    const told = error instanceof ProtocolError ? error.message : 'The server failed.'
    if (!(error instanceof ProtocolError)) this.#services.log.error({ err: error, ...this.#fields }, 'a record failed')
    if (this.state === 'attached') this.#refuse(told)
    else this.close(told, closeRecord(true, told), error instanceof ProtocolError ? 1000 : 1011)
  }

  #take(bytes: Buffer): void {
    this.#heardAt = performance.now()
    if (this.state === 'attached') {
      const problem = refuseHandshake(bytes)
      if (problem) this.#refuse(problem)
      else this.#open()
      return
    }
    this.#services.counters.received += 1
    const record = parseRecord(bytes)
    if (record.kind === 'invocation') this.#refuseCall(record)
    if (record.kind === 'ping') this.#hasPinged = true
    if (record.kind === 'close') this.close('client said goodbye', goodbye)
  }

  #open(): void {
    this.transport?.write(handshakeDone)
    this.#enter('open')
    this.#pingAt = this.since
    this.#services.counters.opened += 1
    this.#services.log.debug(this.#fields, 'connection opened')
    this.#services.opened(this)
  }

  #refuse(problem: string): void {
    const { transport } = this
    if (!this.#end(problem)) return
    transport?.write(new EncodedMessage({ error: problem }))
    transport?.end(1000)
  }

  // The hub offers no methods; an invocation without an id must get no completion.
  #refuseCall({ id, target }: { id?: string; target: string }): void {
    if (id !== undefined)
      this.send(new EncodedMessage({ type: 3, invocationId: id, error: `Unknown hub method '${target}'` }))
  }

  #cut(why: string): void {
    if (!this.#end(why)) return
    this.#services.counters.cut += 1
    this.#services.log.info({ why, ...this.#fields }, 'connection cut')
    this.transport?.cut(closeRecord(true, 'The client takes too little.'))
  }

  #end(why: string): boolean {
    if (this.state === 'ended') return false
    const wasOpen = this.state === 'open'
    this.#enter('ended')
    this.#services.forget(this, wasOpen)
    this.#services.log.debug({ why, ...this.#fields }, 'connection ends')
    return true
  }

  #enter(state: ClientConnection<User>['state']): void {
    this.state = state
    this.since = performance.now()
  }

  get #fields(): object {
    // An id that opens the connection is written nowhere.
    return { connectionId: this.token === this.id ? undefined : this.id, transport: this.transport?.name }
  }
}
