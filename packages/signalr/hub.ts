import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import {
  type Client,
  ClientConnection,
  closeRecord,
  type HubIdentity,
  type HubServices,
  type Log,
  secret,
} from './connection.ts'
import { allowOrigin, bearerOf, HubRefusal, isWelcome, queryOf, readBody, refuseUpgrade, respond } from './http.ts'
import { EncodedMessage } from './records.ts'
import { defaultLimits, defaultTimes, type Limits, type Times } from './settings.ts'
import {
  EventStreamTransport,
  type HubTransport,
  LongPollingTransport,
  type TransportName,
  WebSocketTransport,
} from './transports.ts'

export type { Client, HubIdentity, Log } from './connection.ts'
export { defaultLimits, defaultTimes, type Limits, type Times } from './settings.ts'
export type { TransportName } from './transports.ts'

export interface HubOptions<User> {
  /** Path of the hub, without a slash at the end: `/notification-hub`. */
  path: string
  /** The user of `token`, or null to refuse it. Called on every request; when it throws, the client gets 503 and may retry. */
  authenticate(token: string, request: IncomingMessage): Promise<HubIdentity<User> | null>
  /** Called when messages can reach a client, and when they no longer can. */
  opened?(client: Client<User>): void
  ended?(client: Client<User>): void
  /** Other origins whose pages may connect: `https://app.example`. Behind a proxy that rewrites `Host` also our own. */
  origins?: readonly string[]
  /** The address of the client; by default the peer of its socket. */
  addressOf?(request: IncomingMessage): string
  log: Log
  times?: Partial<Times>
  limits?: Partial<Limits>
}

/** Whether a message or an end is for the connections of `user`. */
export type ClientFilter<User> = (user: User, connectionId: string) => boolean

export interface HubMetrics {
  /** Handshake done and not ended, by transport. */
  open: Record<TransportName, number>
  /** Negotiated or attached, and no handshake yet. */
  waiting: number
  /** Ended, while their Close record is still on its way. */
  ending: number
  opened: number
  /** Records from clients, handshakes left out. */
  received: number
  /** Messages and completions to clients. */
  sent: number
  /** Connections ended because their client takes too little. */
  cut: number
  /** Requests refused, by status. */
  refused: Record<number, number>
}

/** The server side of one SignalR hub. */
export interface Hub<User> {
  /** Handles a request for the hub, its body unread; false: it is not for the hub. */
  handle(request: IncomingMessage, response: ServerResponse): boolean
  /** Handles an `upgrade` request; false: not for the hub, and the caller must end the socket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean
  /** The user of a request that shows the ticket of a connection, or of one that was negotiated. */
  knows(request: IncomingMessage): User | undefined
  /** Calls `target` on clients of a user (key) or filter; returns their number without waiting. */
  send(to: string | ClientFilter<User>, target: string, args: readonly unknown[]): number
  /** Ends connections and repeats pending lookups of a filter; returns how many connections. */
  disconnect(which: ClientFilter<User>, options?: { allowReconnect?: boolean; error?: string }): number
  metrics(): HubMetrics
  /** Refuses new clients, tells all to reconnect, and resolves when the last one was told. */
  close(): Promise<void>
}

/** Makes a hub; nothing listens: hand it the requests of any HTTP server. */
export function createHub<User>(options: HubOptions<User>): Hub<User> {
  return new SignalrHub(options)
}

const minuteMs = 60_000
const authenticationsMax = 3

interface Ticket<User> {
  identity: HubIdentity<User>
  since: number
  /** Connections negotiated with it. */
  connections: Set<ClientConnection<User>>
}

class SignalrHub<User> implements Hub<User>, HubServices<User> {
  readonly times: Times
  readonly limits: Limits
  readonly log: Log
  readonly counters = { opened: 0, received: 0, sent: 0, cut: 0 }
  readonly #options: HubOptions<User>
  readonly #origins: readonly string[]
  readonly #refused: Record<number, number> = {}
  readonly #sockets: WebSocketServer
  /** By token. */
  readonly #connections = new Map<string, ClientConnection<User>>()
  /** Negotiated and not attached. */
  readonly #waiting = new Set<ClientConnection<User>>()
  /** Tickets without an open connection; a client whose transport failed negotiates by it again. */
  readonly #tickets = new Map<string, Ticket<User>>()
  readonly #byKey = new Map<string, Set<ClientConnection<User>>>()
  readonly #byAddress = new Map<string, number>()
  /** Ended, and their transports not yet, by token. */
  readonly #ending = new Map<string, ClientConnection<User>>()
  /** Filters of the disconnects since each authentication that is under way began. */
  readonly #authenticating = new Set<ClientFilter<User>[]>()
  readonly #negotiations = new Map<string, number>()
  #minuteAt = performance.now()
  readonly #sweep: NodeJS.Timeout
  #closing: Promise<void> | undefined
  #whenEmpty: (() => void) | undefined

  constructor(options: HubOptions<User>) {
    this.#options = options
    this.#origins = options.origins ?? []
    this.log = options.log
    this.times = { ...defaultTimes, ...options.times }
    this.limits = { ...defaultLimits, ...options.limits }
    this.#sockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: this.limits.bodyBytesMax,
      handleProtocols: () => false,
    })
    // Runs after pending input is read, because a stall of this process is not client silence.
    this.#sweep = setInterval(() => setImmediate(() => this.#look()), this.times.sweepMs).unref()
  }

  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const place = this.#placeOf(request)
    if (!place) return false
    this.#serve(place, request, response).catch((error: unknown) => {
      const refusal = this.#refusalOf(error)
      if (response.headersSent) response.destroy()
      else respond(response, refusal.status, refusal.message, refusal.headers)
    })
    return true
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    if (this.#placeOf(request) !== 'hub') return false
    // Until ws listens; a client that is gone needs no response.
    const ignore = () => socket.destroy()
    socket.on('error', ignore)
    void this.#attachSocket(request, socket, head)
      .catch((error: unknown) => refuseUpgrade(socket, this.#refusalOf(error)))
      .finally(() => {
        if (!socket.writableEnded) socket.off('error', ignore)
      })
    return true
  }

  knows(request: IncomingMessage): User | undefined {
    const query = queryOf(request)
    const token = bearerOf(request) || (query.get('access_token') ?? '')
    const connection = this.#connections.get(query.get('id') ?? '')
    return (this.#tickets.get(token) ?? (connection?.ticket === token ? connection : undefined))?.identity.user
  }

  send(to: string | ClientFilter<User>, target: string, args: readonly unknown[]): number {
    let message: EncodedMessage | undefined
    let count = 0
    for (const connection of this.#matching(to)) {
      if (connection.state !== 'open') continue
      message ??= new EncodedMessage({ type: 1, target, arguments: args })
      if (connection.send(message)) count += 1
    }
    return count
  }

  disconnect(which: ClientFilter<User>, options: { allowReconnect?: boolean; error?: string } = {}): number {
    for (const filters of this.#authenticating) filters.push(which)
    for (const [ticket, { identity }] of this.#tickets) if (which(identity.user, '')) this.#tickets.delete(ticket)
    const last = closeRecord(options.allowReconnect ?? false, options.error)
    let count = 0
    for (const connection of this.#matching(which)) {
      connection.close('disconnected', last)
      count += 1
    }
    return count
  }

  metrics(): HubMetrics {
    const open = { WebSockets: 0, ServerSentEvents: 0, LongPolling: 0 }
    for (const { state, transport } of this.#connections.values())
      if (state === 'open' && transport) open[transport.name] += 1
    const waiting = this.#connections.size - open.WebSockets - open.ServerSentEvents - open.LongPolling
    return { open, waiting, ending: this.#ending.size, ...this.counters, refused: { ...this.#refused } }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const last = closeRecord(true)
    for (const connection of [...this.#connections.values()]) connection.close('the hub closes', last)
    if (this.#ending.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#whenEmpty = resolve
      const timer = setTimeout(resolve, this.times.shutdownMs)
      await promise
      clearTimeout(timer)
    }
    for (const { transport } of [...this.#ending.values()]) transport?.destroy()
    clearInterval(this.#sweep)
  }

  opened(connection: ClientConnection<User>): void {
    const ticket = this.#tickets.get(connection.ticket)
    this.#tickets.delete(connection.ticket)
    // The ticket was visible in URLs: no other connection negotiated with it may open.
    for (const other of ticket?.connections ?? [])
      if (other !== connection) other.close('another connection opened by its ticket', closeRecord(false))
    this.#options.opened?.(connection)
  }

  forget(connection: ClientConnection<User>, wasOpen: boolean): void {
    this.#connections.delete(connection.token)
    this.#waiting.delete(connection)
    const { identity, address } = connection
    const siblings = this.#byKey.get(identity.key)
    siblings?.delete(connection)
    if (siblings?.size === 0) this.#byKey.delete(identity.key)
    const neighbours = (this.#byAddress.get(address) ?? 0) - 1
    if (neighbours > 0) this.#byAddress.set(address, neighbours)
    else this.#byAddress.delete(address)
    if (connection.transport) this.#ending.set(connection.token, connection)
    if (wasOpen) this.#options.ended?.(connection)
  }

  remove(connection: ClientConnection<User>): void {
    this.#ending.delete(connection.token)
    if (this.#ending.size === 0) this.#whenEmpty?.()
  }

  *#matching(to: string | ClientFilter<User>): Iterable<ClientConnection<User>> {
    if (typeof to === 'string') yield* this.#byKey.get(to) ?? []
    else
      for (const connection of this.#connections.values())
        if (to(connection.identity.user, connection.id)) yield connection
  }

  #placeOf({ url = '' }: IncomingMessage): 'hub' | 'negotiate' | null {
    const path = url.split('?', 1)[0]
    if (path === this.#options.path) return 'hub'
    return path === `${this.#options.path}/negotiate` ? 'negotiate' : null
  }

  #refusalOf(error: unknown): HubRefusal {
    const refusal = error instanceof HubRefusal ? error : new HubRefusal(500, undefined, { cause: error })
    this.#refused[refusal.status] = (this.#refused[refusal.status] ?? 0) + 1
    if (refusal.cause) this.log.error({ err: refusal.cause, status: refusal.status }, 'hub request failed')
    return refusal
  }

  async #serve(place: 'hub' | 'negotiate', request: IncomingMessage, response: ServerResponse): Promise<void> {
    allowOrigin(request, response, this.#origins)
    const { method } = request
    if (method === 'OPTIONS') return respond(response, 204)
    const query = queryOf(request)
    if (place === 'negotiate') {
      const identity = this.#tickets.get(bearerOf(request))?.identity ?? (await this.#identify(request, query, ''))
      if (method !== 'POST') throw new HubRefusal(405)
      const offer = this.#offer(request, query.get('negotiateversion') ?? '0', identity)
      return respond(response, 200, JSON.stringify(offer), { 'Content-Type': 'application/json; charset=utf-8' })
    }
    if (method === 'POST') return this.#post(request, response, query)
    const streams = method === 'GET' && request.headers.accept?.includes('text/event-stream') === true
    const identity = await this.#identify(request, query, streams ? (query.get('access_token') ?? '') : '')
    if (streams) return this.#attachStream(request, response, this.#find(query, identity))
    if (method === 'GET') return this.#poll(request, response, this.#findPolling(query, identity))
    if (method === 'DELETE') return this.#delete(response, this.#findPolling(query, identity))
    throw new HubRefusal(405)
  }

  #offer(request: IncomingMessage, asked: string, identity: HubIdentity<User>): object {
    if (!/^\d+$/.test(asked)) return { error: 'The client asked for a version of the protocol that is no number.' }
    const version = Math.min(1, Number(asked))
    const shown = bearerOf(request)
    const ticket = this.#tickets.has(shown) ? shown : secret()
    const connection = this.#admit(request, identity, { version, ticket })
    if (version > 0) {
      const connections = this.#tickets.get(ticket)?.connections ?? new Set()
      this.#tickets.set(ticket, { identity, since: performance.now(), connections: connections.add(connection) })
    }
    return {
      negotiateVersion: version,
      connectionId: connection.id,
      connectionToken: version === 0 ? undefined : connection.token,
      // Official clients use it instead of their token from now on, also in WebSocket and event
      // stream URLs. Other clients keep using their token.
      accessToken: version === 0 ? undefined : ticket,
      // In the order in which the client tries them.
      availableTransports: ['WebSockets', 'ServerSentEvents', 'LongPolling'].map((transport) => ({
        transport,
        transferFormats: ['Text'],
      })),
    }
  }

  async #post(request: IncomingMessage, response: ServerResponse, query: Map<string, string>): Promise<void> {
    const turn = this.#connections.get(query.get('id') ?? '')?.takeTurn()
    try {
      const identity = await this.#identify(request, query, '')
      await turn?.before
      const connection = this.#find(query, identity)
      if (!connection.transport) throw new HubRefusal(400, 'Attach first')
      if (connection.transport.name === 'WebSockets') throw new HubRefusal(405)
      const body = await this.#readPost(request, connection)
      if (connection.state === 'ended') throw new HubRefusal(404)
      connection.receive(body)
      respond(response, 200)
    } finally {
      turn?.done()
    }
  }

  async #readPost(request: IncomingMessage, connection: ClientConnection<User>): Promise<Buffer> {
    try {
      return await readBody(request, this.limits.bodyBytesMax)
    } catch (error) {
      const told = 'A request was larger than allowed.'
      if (error instanceof HubRefusal) connection.close(told, closeRecord(true, told))
      // The client has broken off: it treats the request as failed, and nothing of it is used.
      throw error instanceof HubRefusal ? error : new HubRefusal(400)
    }
  }

  #attachStream(request: IncomingMessage, response: ServerResponse, connection: ClientConnection<User>): void {
    if (connection.transport) throw new HubRefusal(connection.transport.name === 'ServerSentEvents' ? 409 : 400)
    if (request.socket.destroyed) return
    this.#attach(connection, new EventStreamTransport(request, response, connection, this.times, performance.now()))
  }

  #poll(request: IncomingMessage, response: ServerResponse, connection: ClientConnection<User>): void {
    if (request.socket.destroyed) return
    const now = performance.now()
    if (!connection.transport) this.#attach(connection, new LongPollingTransport(connection, this.times, now))
    const { transport } = connection
    if (transport instanceof LongPollingTransport) transport.poll(response, now)
  }

  #delete(response: ServerResponse, { transport }: ClientConnection<User>): void {
    if (!(transport instanceof LongPollingTransport)) throw new HubRefusal(400)
    transport.drop()
    respond(response, 202)
  }

  async #attachSocket(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (!isWelcome(request, this.#origins)) throw new HubRefusal(403)
    const query = queryOf(request)
    const identity = await this.#identify(request, query, query.get('access_token') ?? '')
    // Without negotiation; a slot is taken as if by version 0.
    const connection = query.has('id')
      ? this.#find(query, identity)
      : this.#admit(request, identity, { version: 0, ticket: secret() })
    if (connection.transport) throw new HubRefusal(connection.transport.name === 'WebSockets' ? 409 : 400)
    this.#sockets.handleUpgrade(request, socket, head, (accepted) =>
      this.#attach(connection, new WebSocketTransport(accepted, socket, connection, this.times, performance.now())),
    )
  }

  #attach(connection: ClientConnection<User>, transport: HubTransport): void {
    this.#waiting.delete(connection)
    connection.attach(transport)
  }

  // Authenticates a request, and again if the user's sessions were ended during the lookup.
  async #identify(request: IncomingMessage, query: Map<string, string>, inAddress: string): Promise<HubIdentity<User>> {
    const token = bearerOf(request) || inAddress
    // A ticket replaces a second lookup: its client was authenticated at negotiate, revoking rights
    // disconnects it, and only one transport attaches to a connection.
    const id = query.get('id') ?? ''
    const own = this.#connections.get(id) ?? this.#ending.get(id)
    if (own && token === own.ticket) {
      const { expiresAt = Infinity } = own.identity
      if (Date.now() < expiresAt + this.times.expiryGraceMs) return own.identity
    }
    for (let attempt = 0; token !== '' && attempt < authenticationsMax; attempt += 1) {
      const filters: ClientFilter<User>[] = []
      this.#authenticating.add(filters)
      try {
        const identity = await this.#options.authenticate(token, request)
        if (!identity || (identity.expiresAt ?? Infinity) <= Date.now()) break
        if (!filters.some((filter) => filter(identity.user, ''))) return identity
      } catch (error) {
        throw new HubRefusal(503, undefined, { cause: error })
      } finally {
        this.#authenticating.delete(filters)
      }
    }
    throw new HubRefusal(401)
  }

  #find(
    query: Map<string, string>,
    identity: HubIdentity<User>,
    also?: Map<string, ClientConnection<User>>,
  ): ClientConnection<User> {
    const id = query.get('id')
    if (!id) throw new HubRefusal(400, 'The id is missing')
    const connection = this.#connections.get(id) ?? also?.get(id)
    if (!connection) throw new HubRefusal(404)
    if (connection.identity.key !== identity.key) throw new HubRefusal(403)
    connection.renew(identity)
    return connection
  }

  // One that has ended by long polling is found until its last record is fetched.
  #findPolling(query: Map<string, string>, identity: HubIdentity<User>): ClientConnection<User> {
    const connection = this.#find(query, identity, this.#ending)
    const { transport, state } = connection
    if (transport && transport.name !== 'LongPolling') throw new HubRefusal(state === 'ended' ? 404 : 400)
    return connection
  }

  #admit(
    request: IncomingMessage,
    identity: HubIdentity<User>,
    slot: { version: number; ticket: string },
  ): ClientConnection<User> {
    const { limits } = this
    const address = this.#options.addressOf?.(request) ?? request.socket.remoteAddress ?? ''
    const negotiations = (this.#negotiations.get(identity.key) ?? 0) + 1
    this.#negotiations.set(identity.key, negotiations)
    const siblings = this.#byKey.get(identity.key) ?? new Set()
    const neighbours = (this.#byAddress.get(address) ?? 0) + 1
    const isFull = this.#connections.size >= limits.connectionsMax || this.#waiting.size >= limits.waitingMax
    if (this.#closing || isFull) throw new HubRefusal(503)
    if (
      negotiations > limits.negotiationsPerMinuteMax ||
      siblings.size >= limits.connectionsPerUserMax ||
      neighbours > limits.connectionsPerAddressMax
    )
      throw new HubRefusal(429)
    const connection = new ClientConnection(this, identity, address, slot)
    this.#connections.set(connection.token, connection)
    this.#waiting.add(connection)
    this.#byKey.set(identity.key, siblings.add(connection))
    this.#byAddress.set(address, neighbours)
    return connection
  }

  #look(): void {
    const now = performance.now()
    const date = Date.now()
    for (const [ticket, { since }] of this.#tickets)
      if (now - since >= this.times.ticketMs) this.#tickets.delete(ticket)
    for (const connection of this.#connections.values()) connection.sweep(now, date)
    for (const { since, transport } of this.#ending.values()) {
      const patience = transport?.name === 'LongPolling' ? this.times.detachedMs : this.times.closeMs
      if (now - since >= patience) transport?.destroy()
    }
    if (now - this.#minuteAt < minuteMs) return
    this.#minuteAt = now
    this.#negotiations.clear()
  }
}
