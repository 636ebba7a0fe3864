import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { plainHeaders, respond } from './http.ts'
import type { EncodedMessage } from './records.ts'
import type { Times } from './settings.ts'

export type TransportName = 'WebSockets' | 'ServerSentEvents' | 'LongPolling'

/** Callbacks from a transport to its connection. */
export interface TransportListener {
  receive(bytes: Buffer): void
  /** The client closed the connection or timed out. */
  left(why: string): void
  /** All resources are freed; called once. */
  gone(): void
}

/** The way of one connection to its client. */
export interface HubTransport {
  readonly name: TransportName
  /** Bytes written and not yet taken. */
  readonly backlog: number
  write(message: EncodedMessage): void
  /** Resolves true when all written data has arrived; false if the connection ended before. */
  reached(): Promise<boolean>
  /** Ends when everything written has left. */
  end(code: number): void
  /** Ends at once. */
  destroy(): void
  /** Ends a client that reads too slowly: at once, or after `message`. */
  cut(message: EncodedMessage): void
  /** Transport-specific upkeep; true when nothing moves any more. */
  sweep(now: number): boolean
}

/** Text messages; pings of the WebSocket itself find clients that vanished without a word. */
export class WebSocketTransport implements HubTransport {
  readonly name = 'WebSockets'
  readonly #socket: WebSocket
  readonly #listener: TransportListener
  readonly #times: Times
  readonly #flow: Flow
  #beatAt: number
  #beatsMissed = 0
  #marks = 0
  /** Callbacks that wait for the pong of a ping, in order. */
  readonly #waiting: { mark: number; resolve: (reached: boolean) => void }[] = []

  constructor(socket: WebSocket, raw: Duplex, listener: TransportListener, times: Times, now: number) {
    this.#socket = socket
    this.#listener = listener
    this.#times = times
    this.#flow = new Flow(raw as Socket, now)
    this.#beatAt = now
    socket.binaryType = 'nodebuffer'
    socket.on('message', (data) => listener.receive(data as Buffer))
    socket.on('pong', (data) => {
      this.#beatsMissed = 0
      this.#answerUpTo(Number(String(data)), true)
    })
    // A broken frame: ws has already closed the socket.
    socket.on('error', () => listener.left('broken frame or connection'))
    socket.on('close', () => {
      this.#answerUpTo(Infinity, false)
      listener.gone()
    })
  }

  get backlog(): number {
    return this.#socket.bufferedAmount
  }

  write(message: EncodedMessage): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.send(message.record, { binary: false })
  }

  // Every WebSocket answers a ping after earlier messages; of several pings maybe only the last.
  reached(): Promise<boolean> {
    if (this.#socket.readyState !== this.#socket.OPEN) return Promise.resolve(false)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#marks += 1
    this.#waiting.push({ mark: this.#marks, resolve })
    this.#socket.ping(String(this.#marks))
    return promise
  }

  #answerUpTo(mark: number, reached: boolean): void {
    while (this.#waiting[0] && this.#waiting[0].mark <= mark) this.#waiting.shift()?.resolve(reached)
  }

  end(code: number): void {
    this.#socket.close(code)
  }

  destroy(): void {
    this.#socket.terminate()
  }

  cut(): void {
    this.destroy()
  }

  sweep(now: number): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) this.#listener.left('close frame')
    else if (now - this.#beatAt >= this.#times.webSocketPingMs) this.#beat(now)
    return this.#flow.isStalled(now, this.#times.sendMs)
  }

  #beat(now: number): void {
    if (this.#beatsMissed === 2) {
      this.#listener.left('no pong')
      this.destroy()
      return
    }
    this.#beatAt = now
    this.#beatsMissed += 1
    this.#socket.ping()
  }
}

/** One endless response; messages of the client come by POST. */
export class EventStreamTransport implements HubTransport {
  readonly name = 'ServerSentEvents'
  readonly #response: ServerResponse
  readonly #times: Times
  readonly #flow: Flow

  constructor(
    { socket }: IncomingMessage,
    response: ServerResponse,
    listener: TransportListener,
    times: Times,
    now: number,
  ) {
    this.#response = response
    this.#times = times
    this.#flow = new Flow(socket, now)
    response.on('close', () => listener.gone())
    response.writeHead(200, {
      ...plainHeaders,
      'Content-Type': 'text/event-stream',
      'Content-Encoding': 'identity',
      'X-Accel-Buffering': 'no',
    })
    // Some browsers report the stream as open only after its first byte.
    response.write(':\r\n')
  }

  get backlog(): number {
    return this.#response.writableLength
  }

  write(message: EncodedMessage): void {
    this.#response.write(message.event)
  }

  reached(): Promise<boolean> {
    return new Promise((resolve) => {
      const closed = () => resolve(false)
      this.#response.once('close', closed)
      this.#response.write(':\r\n', (error) => {
        this.#response.off('close', closed)
        resolve(!error)
      })
    })
  }

  end(): void {
    this.#response.end()
  }

  destroy(): void {
    this.#response.destroy()
  }

  cut(): void {
    this.destroy()
  }

  sweep(now: number): boolean {
    return this.#flow.isStalled(now, this.#times.sendMs)
  }
}

/** One request after the other, each held until there is something to say. */
export class LongPollingTransport implements HubTransport {
  readonly name = 'LongPolling'
  readonly #listener: TransportListener
  readonly #times: Times
  #queue: EncodedMessage[] = []
  #queuedBytes = 0
  #started = false
  #ending = false
  #gone = false
  /** The request that waits for something to say, and since when. */
  #poll: ServerResponse | undefined
  #pollAt = 0
  /** The response that is on its way, and the time of the last sign of life. */
  #leaving: ServerResponse | undefined
  #aliveAt: number
  /** Callbacks for queued messages, and for messages of the last response. */
  #waiting: ((reached: boolean) => void)[] = []
  #answered: ((reached: boolean) => void)[] = []

  constructor(listener: TransportListener, times: Times, now: number) {
    this.#listener = listener
    this.#times = times
    this.#aliveAt = now
  }

  get backlog(): number {
    return this.#queuedBytes + (this.#leaving?.writableLength ?? 0)
  }

  /** Holds a request, or answers it. */
  poll(response: ServerResponse, now: number): void {
    if (this.#poll) this.#endPoll(this.#poll, 204)
    for (const resolve of this.#answered.splice(0)) resolve(true)
    this.#poll = response
    this.#pollAt = now
    response.on('close', () => this.#closed(response))
    if (this.#ending && this.#queue.length === 0) this.drop()
    // The client sends nothing before its first poll is answered.
    else if (!this.#started) this.#endPoll(response, 200)
    else this.#deliver()
    this.#started = true
  }

  /** Answers the held poll with 204: the client has ended the connection. */
  drop(): void {
    this.#queue = []
    this.#queuedBytes = 0
    if (this.#poll) this.#endPoll(this.#poll, 204)
    this.#tellGone()
  }

  write(message: EncodedMessage): void {
    this.#queue.push(message)
    this.#queuedBytes += message.record.length
    this.#deliver()
  }

  reached(): Promise<boolean> {
    if (this.#gone) return Promise.resolve(false)
    return new Promise((resolve) => {
      ;(this.#queue.length > 0 ? this.#waiting : this.#answered).push(resolve)
    })
  }

  /** Queued messages go to the held poll or to the next one. */
  end(): void {
    this.#ending = true
    if (this.#queue.length === 0 && !this.#leaving) this.drop()
  }

  destroy(): void {
    this.#leaving?.destroy()
    this.drop()
  }

  cut(message: EncodedMessage): void {
    this.#queue = []
    this.#queuedBytes = 0
    this.write(message)
    this.end()
  }

  sweep(now: number): boolean {
    if (this.#poll && now - this.#pollAt >= this.#times.pollMs) this.#endPoll(this.#poll, 200)
    else if (this.#poll) this.#aliveAt = now
    else if (!this.#leaving && now - this.#aliveAt >= this.#times.detachedMs) {
      this.#listener.left('no poll')
      this.destroy()
    }
    if (!this.#leaving || now - this.#aliveAt < this.#times.sendMs) return false
    this.#leaving.destroy()
    return true
  }

  #deliver(): void {
    if (!this.#poll || this.#queue.length === 0) return
    const body = Buffer.concat(this.#queue.map(({ record }) => record))
    this.#queue = []
    this.#queuedBytes = 0
    this.#answered.push(...this.#waiting.splice(0))
    this.#endPoll(this.#poll, 200, body)
  }

  #endPoll(poll: ServerResponse, status: number, body?: Buffer): void {
    this.#poll = undefined
    this.#leaving = poll
    this.#aliveAt = performance.now()
    respond(poll, status, body)
  }

  #closed(response: ServerResponse): void {
    if (this.#poll === response) this.#poll = undefined
    if (this.#leaving === response) this.#leaving = undefined
    this.#aliveAt = performance.now()
    if (this.#ending && this.#queue.length === 0) this.#tellGone()
  }

  #tellGone(): void {
    if (this.#gone) return
    this.#gone = true
    for (const resolve of [...this.#answered.splice(0), ...this.#waiting.splice(0)]) resolve(false)
    this.#listener.gone()
  }
}

/** Whether anything still moves on a socket. */
class Flow {
  readonly #socket: Socket
  #left = 0
  #movedAt: number

  constructor(socket: Socket, now: number) {
    this.#socket = socket
    this.#movedAt = now
  }

  isStalled(now: number, sendMs: number): boolean {
    const { bytesWritten, writableLength } = this.#socket
    const left = bytesWritten - writableLength
    if (writableLength === 0 || left !== this.#left) this.#movedAt = now
    this.#left = left
    return now - this.#movedAt >= sendMs
  }
}
