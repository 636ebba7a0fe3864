import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { type Client, Connection, closeRecord, type House, type Identity, type Log, type Method } from './connection.ts'
import { allowOrigin, answer, bearerOf, isWelcome, queryOf, Refusal, readBody, refuseUpgrade } from './http.ts'
import { Message } from './records.ts'
import { defaultLimits, defaultTimes, type Limits, type Times } from './settings.ts'
import {
  EventStreamTransport,
  LongPollingTransport,
  type Transport,
  type TransportName,
  WebSocketTransport,
} from './transports.ts'

export type { Caller, Client, Identity, Log, Method } from './connection.ts'
export { defaultLimits, defaultTimes, type Limits, type Times } from './settings.ts'
export type { TransportName } from './transports.ts'

export interface HubOptions<User> {
  /** Where clients connect, without a slash at the end: `/notification-hub`. */
  path: string
  /** Whom `token` stands for, or null to refuse it. Asked on every request; when it throws, the client is told to come later. */
  authenticate(token: string, request: IncomingMessage): Promise<Identity<User> | null>
  /** What clients may call, by names that differ in more than case. */
  methods?: Record<string, Method<User>>
  /** Called when a client can be told something, and when it no longer can. */
  opened?(client: Client<User>): void
  ended?(client: Client<User>): void
  /** Other origins whose pages may connect: `https://app.example`. Behind a proxy that rewrites `Host` also our own. */
  origins?: readonly string[]
  /** Where a request comes from; the peer of its socket unless told otherwise. */
  addressOf?(request: IncomingMessage): string
  log: Log
  times?: Partial<Times>
  limits?: Partial<Limits>
}

/** Whether a message or an end is for the connections of `user`. */
export type Filter<User> = (user: User, connectionId: string) => boolean

export interface HubMetrics {
  /** Handshake done and not ended, by transport. */
  open: Record<TransportName, number>
  /** Negotiated or attached, and no handshake yet. */
  waiting: number
  /** Ended, and still being told so. */
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
  /** Takes a request for the hub, its body unread; false: it is for somebody else. */
  handle(request: IncomingMessage, response: ServerResponse): boolean
  /** Takes a request of the `upgrade` event; false: it is for somebody else, who has to end the socket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean
  /** Calls `target` at the clients of one user (by key) or of all whom a filter takes; returns at how many. Waits for nobody. */
  send(to: string | Filter<User>, target: string, args: readonly unknown[]): number
  /** Ends the connections that a filter takes, and has those who just show their token authenticated again; with `allowReconnect` clients come back by themselves. */
  disconnect(which: Filter<User>, options?: { allowReconnect?: boolean; error?: string }): number
  metrics(): HubMetrics
  /** Refuses newcomers, has everybody reconnect elsewhere or later, and is settled when the last one has heard of it. */
  close(): Promise<void>
}

/** Makes a hub; nothing listens: hand it the requests of any HTTP server. */
export function createHub<User>(options: HubOptions<User>): Hub<User> {
  return new SignalrHub(options)
}

const minuteMs = 60_000
const authenticationsMax = 3

class SignalrHub<User> implements Hub<User>, House<User> {
  readonly times: Times
  readonly limits: Limits
  readonly log: Log
  readonly methods: ReadonlyMap<string, Method<User>>
  readonly counters = { opened: 0, received: 0, sent: 0, cut: 0 }
  readonly #options: HubOptions<User>
  readonly #origins: readonly string[]
  readonly #refused: Record<number, number> = {}
  readonly #sockets: WebSocketServer
  /** By token. */
  readonly #connections = new Map<string, Connection<User>>()
  /** Negotiated and not attached. */
  readonly #waiting = new Set<Connection<User>>()
  readonly #byKey = new Map<string, Set<Connection<User>>>()
  readonly #byAddress = new Map<string, number>()
  /** Ended, and their transports not yet, by token. */
  readonly #ending = new Map<string, Connection<User>>()
  /** Filters of the disconnects since each authentication that is under way began. */
  readonly #authenticating = new Set<Filter<User>[]>()
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
    this.methods = new Map(Object.entries(options.methods ?? {}).map(([name, run]) => [name.toLowerCase(), run]))
    this.#sockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: this.limits.bodyBytesMax,
      handleProtocols: () => false,
    })
    // After what has arrived: when the process was held up, clients are not to blame for the time it took.
    this.#sweep = setInterval(() => setImmediate(() => this.#look()), this.times.sweepMs).unref()
  }

  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const place = this.#placeOf(request)
    if (!place) return false
    this.#serve(place, request, response).catch((error: unknown) => {
      const refusal = this.#refusalOf(error)
      if (response.headersSent) response.destroy()
      else answer(response, refusal.status, refusal.message, refusal.headers)
    })
    return true
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    if (this.#placeOf(request) !== 'hub') return false
    // Until ws listens; a client that is gone needs no answer.
    const ignore = () => socket.destroy()
    socket.on('error', ignore)
    void this.#attachSocket(request, socket, head)
      .catch((error: unknown) => refuseUpgrade(socket, this.#refusalOf(error)))
      .finally(() => {
        if (!socket.writableEnded) socket.off('error', ignore)
      })
    return true
  }

  send(to: string | Filter<User>, target: string, args: readonly unknown[]): number {
    let message: Message | undefined
    let count = 0
    for (const connection of this.#matching(to)) {
      if (connection.state !== 'open') continue
      message ??= new Message({ type: 1, target, arguments: args })
      if (connection.send(message)) count += 1
    }
    return count
  }

  disconnect(which: Filter<User>, options: { allowReconnect?: boolean; error?: string } = {}): number {
    for (const filters of this.#authenticating) filters.push(which)
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

  opened(connection: Connection<User>): void {
    this.#options.opened?.(connection)
  }

  forget(connection: Connection<User>, wasOpen: boolean): void {
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

  bury(connection: Connection<User>): void {
    this.#ending.delete(connection.token)
    if (this.#ending.size === 0) this.#whenEmpty?.()
  }

  *#matching(to: string | Filter<User>): Iterable<Connection<User>> {
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

  #refusalOf(error: unknown): Refusal {
    const refusal = error instanceof Refusal ? error : new Refusal(500, undefined, { cause: error })
    this.#refused[refusal.status] = (this.#refused[refusal.status] ?? 0) + 1
    if (refusal.cause) this.log.error({ err: refusal.cause, status: refusal.status }, 'hub request failed')
    return refusal
  }

  async #serve(place: 'hub' | 'negotiate', request: IncomingMessage, response: ServerResponse): Promise<void> {
    allowOrigin(request, response, this.#origins)
    const { method } = request
    if (method === 'OPTIONS') return answer(response, 204)
    const query = queryOf(request)
    if (place === 'negotiate') {
      const identity = await this.#identify(request, '')
      if (method !== 'POST') throw new Refusal(405)
      return this.#negotiate(request, response, query, identity)
    }
    if (method === 'POST') return this.#post(request, response, query)
    const streams = method === 'GET' && request.headers.accept?.includes('text/event-stream') === true
    const identity = await this.#identify(request, streams ? (query.get('access_token') ?? '') : '')
    if (streams) return this.#attachStream(request, response, this.#find(query, identity))
    if (method === 'GET') return this.#poll(request, response, this.#findPolling(query, identity))
    if (method === 'DELETE') return this.#delete(response, this.#findPolling(query, identity))
    throw new Refusal(405)
  }

  #negotiate(
    request: IncomingMessage,
    response: ServerResponse,
    query: Map<string, string>,
    identity: Identity<User>,
  ): void {
    const offer = this.#offer(request, query.get('negotiateversion') ?? '0', identity)
    answer(response, 200, JSON.stringify(offer), { 'Content-Type': 'application/json; charset=utf-8' })
  }

  #offer(request: IncomingMessage, asked: string, identity: Identity<User>): object {
    if (!/^\d+$/.test(asked)) return { error: 'The client asked for a version of the protocol that is no number.' }
    const version = Math.min(1, Number(asked))
    const { id, token } = this.#admit(request, identity, version)
    return {
      negotiateVersion: version,
      connectionId: id,
      connectionToken: version === 0 ? undefined : token,
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
      const identity = await this.#identify(request, '')
      await turn?.before
      const connection = this.#find(query, identity)
      if (!connection.transport) throw new Refusal(400, 'Attach first')
      if (connection.transport.name === 'WebSockets') throw new Refusal(405)
      const body = await this.#readPost(request, connection)
      if (connection.state === 'ended') throw new Refusal(404)
      connection.receive(body)
      await connection.roomy()
      answer(response, 200)
    } finally {
      turn?.done()
    }
  }

  async #readPost(request: IncomingMessage, connection: Connection<User>): Promise<Buffer> {
    try {
      return await readBody(request, this.limits.bodyBytesMax)
    } catch (error) {
      const told = 'A request was larger than allowed.'
      if (error instanceof Refusal) connection.close(told, closeRecord(true, told))
      // Otherwise the client has broken off: it takes that for a failed send, and nothing of it counts.
      throw error instanceof Refusal ? error : new Refusal(400)
    }
  }

  #attachStream(request: IncomingMessage, response: ServerResponse, connection: Connection<User>): void {
    if (connection.transport) throw new Refusal(connection.transport.name === 'ServerSentEvents' ? 409 : 400)
    if (request.socket.destroyed) return
    this.#attach(connection, new EventStreamTransport(request, response, connection, this.times, performance.now()))
  }

  #poll(request: IncomingMessage, response: ServerResponse, connection: Connection<User>): void {
    if (request.socket.destroyed) return
    const now = performance.now()
    if (!connection.transport) this.#attach(connection, new LongPollingTransport(connection, this.times, now))
    const { transport } = connection
    if (transport instanceof LongPollingTransport) transport.poll(response, now)
  }

  #delete(response: ServerResponse, { transport }: Connection<User>): void {
    if (!(transport instanceof LongPollingTransport)) throw new Refusal(400)
    transport.drop()
    answer(response, 202)
  }

  async #attachSocket(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (!isWelcome(request, this.#origins)) throw new Refusal(403)
    const query = queryOf(request)
    const identity = await this.#identify(request, query.get('access_token') ?? '')
    // Without negotiation; a slot is taken as if by version 0.
    const connection = query.has('id') ? this.#find(query, identity) : this.#admit(request, identity, 0)
    if (connection.transport) throw new Refusal(connection.transport.name === 'WebSockets' ? 409 : 400)
    this.#sockets.handleUpgrade(request, socket, head, (accepted) =>
      this.#attach(connection, new WebSocketTransport(accepted, socket, connection, this.times, performance.now())),
    )
  }

  #attach(connection: Connection<User>, transport: Transport): void {
    this.#waiting.delete(connection)
    connection.attach(transport)
  }

  // Whose sessions end while they are being looked up is looked up again.
  async #identify(request: IncomingMessage, inAddress: string): Promise<Identity<User>> {
    const token = bearerOf(request) || inAddress
    for (let attempt = 0; token !== '' && attempt < authenticationsMax; attempt += 1) {
      const filters: Filter<User>[] = []
      this.#authenticating.add(filters)
      try {
        const identity = await this.#options.authenticate(token, request)
        if (!identity || (identity.expiresAt ?? Infinity) <= Date.now()) break
        if (!filters.some((filter) => filter(identity.user, ''))) return identity
      } catch (error) {
        throw new Refusal(503, undefined, { cause: error })
      } finally {
        this.#authenticating.delete(filters)
      }
    }
    throw new Refusal(401)
  }

  #find(query: Map<string, string>, identity: Identity<User>, also?: Map<string, Connection<User>>): Connection<User> {
    const id = query.get('id')
    if (!id) throw new Refusal(400, 'The id is missing')
    const connection = this.#connections.get(id) ?? also?.get(id)
    if (!connection) throw new Refusal(404)
    if (connection.identity.key !== identity.key) throw new Refusal(403)
    connection.renew(identity)
    return connection
  }

  // One that has ended by long polling is found until its last record is fetched.
  #findPolling(query: Map<string, string>, identity: Identity<User>): Connection<User> {
    const connection = this.#find(query, identity, this.#ending)
    const { transport, state } = connection
    if (transport && transport.name !== 'LongPolling') throw new Refusal(state === 'ended' ? 404 : 400)
    return connection
  }

  #admit(request: IncomingMessage, identity: Identity<User>, version: number): Connection<User> {
    const { limits } = this
    const address = this.#options.addressOf?.(request) ?? request.socket.remoteAddress ?? ''
    const negotiations = (this.#negotiations.get(identity.key) ?? 0) + 1
    this.#negotiations.set(identity.key, negotiations)
    const siblings = this.#byKey.get(identity.key) ?? new Set()
    const neighbours = (this.#byAddress.get(address) ?? 0) + 1
    const isFull = this.#connections.size >= limits.connectionsMax || this.#waiting.size >= limits.waitingMax
    if (this.#closing || isFull) throw new Refusal(503)
    if (
      negotiations > limits.negotiationsPerMinuteMax ||
      siblings.size >= limits.connectionsPerUserMax ||
      neighbours > limits.connectionsPerAddressMax
    )
      throw new Refusal(429)
    const connection = new Connection(this, identity, address, version)
    this.#connections.set(connection.token, connection)
    this.#waiting.add(connection)
    this.#byKey.set(identity.key, siblings.add(connection))
    this.#byAddress.set(address, neighbours)
    return connection
  }

  #look(): void {
    const now = performance.now()
    const date = Date.now()
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
