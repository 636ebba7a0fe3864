import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { vi } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import { createHub, type Hub, type HubIdentity, type HubOptions } from './hub.ts'

// A hub on a server of its own, and clients that show every byte; for the tests of this package.

export interface User {
  name: string
  session: string
}

export const path = '/notification-hub'

export interface TestHub {
  hub: Hub<User>
  server: Server
  url: string
  /** Breaks off every connection, without a word. */
  breakOff(): void
  /** The users of the tokens. */
  sessions: Map<string, HubIdentity<User>>
  logged: { level: string; fields: object; message: string }[]
  [Symbol.asyncDispose](): Promise<void>
}

export function identity(name: string, session: string, expiresAt?: number): HubIdentity<User> {
  return { key: name, user: { name, session }, expiresAt }
}

export async function startHub(options: Partial<HubOptions<User>> = {}): Promise<TestHub> {
  const sessions = new Map(['ana-1', 'ana-2', 'bia-1'].map((token) => [token, identity(token.slice(0, 3), token)]))
  const logged: TestHub['logged'] = []
  const logger = (level: string) => (fields: object, message: string) => logged.push({ level, fields, message })
  const hub = createHub<User>({
    path,
    authenticate: async (token) => sessions.get(token) ?? null,
    log: { debug: logger('debug'), info: logger('info'), error: logger('error') },
    ...options,
    // Clients of tests do not always come for their last record.
    times: { shutdownMs: 50, ...options.times },
  })
  const server = createServer((request, response) => {
    if (!hub.handle(request, response)) response.writeHead(404).end('elsewhere')
  })
  server.on('upgrade', (request, socket, head) => {
    if (!hub.upgrade(request, socket, head)) socket.destroy()
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const breakOff = () => {
    for (const socket of sockets) socket.destroy()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    hub,
    server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    breakOff,
    sessions,
    logged,
    [Symbol.asyncDispose]: async () => {
      server.close()
      breakOff()
      await hub.close()
    },
  }
}

/** Waits until `check` holds; as patient as a busy machine needs. */
export async function until<T>(check: () => T): Promise<T> {
  for (let tries = 0; tries < 4_000; tries += 1) {
    const value = check()
    if (value) return value
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`never true: ${check.toString()}`)
}

/** Stops the hub's clock, which then only moves by `pass`; sockets and awaits work as always. */
export function stopClock(): { pass(seconds: number): Promise<void>; [Symbol.dispose](): void } {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'Date'] })
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 1) {
      vi.advanceTimersByTime(1_000)
      // Flushes pending writes.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { pass, [Symbol.dispose]: () => void vi.useRealTimers() }
}

export interface HubResponse {
  status: number
  headers: IncomingMessage['headers']
  body: string
}

interface Ask {
  method?: string
  token?: string
  headers?: Record<string, string>
  body?: string | Buffer
  signal?: AbortSignal
}

/** One request, and its answer when that has come as a whole. */
export function ask(
  url: string,
  { method = 'GET', token = 'ana-1', headers = {}, body, signal }: Ask = {},
): Promise<HubResponse> {
  return new Promise((resolve, reject) => {
    const authorization: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {}
    const request = httpRequest(url, { method, headers: { ...authorization, ...headers }, signal, agent: false })
    request.on('error', reject)
    request.on('response', (response) => {
      text(response).then(
        (read) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: read }),
        reject,
      )
    })
    request.end(body)
  })
}

export async function negotiate(
  url: string,
  options: Ask = {},
): Promise<{ connectionId: string; connectionToken: string; accessToken: string }> {
  const { body } = await ask(`${url}/negotiate?negotiateVersion=1`, { method: 'POST', ...options })
  return JSON.parse(body)
}

export const handshake = '{"protocol":"json","version":1}\x1e'

/** Records as one reads them. */
type Read = Record<string, unknown>

function readAll(frames: readonly string[]): Read[] {
  return frames
    .join('')
    .split('\x1e')
    .filter((record) => record !== '')
    .map((record) => JSON.parse(record))
}

export interface SocketClient {
  socket: WebSocket
  frames: string[]
  records(): Read[]
  say(...records: object[]): void
  /** The code of the close frame, 1006 without one. */
  closed: Promise<number>
}

/** A WebSocket that is open; `query` as `id=…`. */
export async function openSocket(
  url: string,
  query: string,
  token = 'ana-1',
  options: ClientOptions = {},
): Promise<SocketClient> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}?${query}`, {
    headers: token ? { Authorization: `Bearer ${token}` } : {},
    ...options,
  })
  const frames: string[] = []
  socket.on('message', (data) => frames.push(String(data)))
  const closed = new Promise<number>((resolve) => {
    socket.on('close', resolve)
  })
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
  })
  return {
    socket,
    frames,
    closed,
    records: () => readAll(frames),
    say: (...records) => socket.send(records.map((record) => `${JSON.stringify(record)}\x1e`).join('')),
  }
}

/** The status with which an upgrade is refused. */
export function refusedUpgrade(url: string, query: string, token = 'ana-1', origin?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {}
    const socket = new WebSocket(`${url.replace('http', 'ws')}?${query}`, { headers, origin })
    socket.on('unexpected-response', (request, response) => {
      response.resume()
      request.destroy()
      resolve(response.statusCode ?? 0)
    })
    socket.on('error', reject)
    socket.on('open', () => {
      socket.terminate()
      reject(new Error('the upgrade was granted'))
    })
  })
}

/** Negotiates, attaches by WebSocket and shakes hands. */
export async function connectSocket(
  url: string,
  token = 'ana-1',
): Promise<SocketClient & { connectionId: string; id: string }> {
  const { connectionId, connectionToken } = await negotiate(url, { token })
  const client = await openSocket(url, `id=${connectionToken}`, token)
  client.socket.send(handshake)
  await until(() => client.frames.length > 0)
  return { ...client, connectionId, id: connectionToken }
}

interface StreamClient {
  id: string
  headers: IncomingMessage['headers']
  status: number
  text(): string
  records(): Read[]
  post(body: string | Buffer): Promise<HubResponse>
  ended: Promise<void>
  /** Breaks the connection off. */
  leave(): void
  pause(): void
}

/** An event stream, without a handshake. */
export async function openStream(url: string, token = 'ana-1', id?: string): Promise<StreamClient> {
  const use = id ?? (await negotiate(url, { token })).connectionToken
  const address = `${url}?id=${use}&access_token=${encodeURIComponent(token)}`
  const request = httpRequest(address, { headers: { Accept: 'text/event-stream' }, agent: false })
  request.end()
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', reject)
  })
  request.on('error', () => {})
  let read = ''
  response.setEncoding('utf8')
  response.on('data', (piece: string) => {
    read += piece
  })
  response.on('error', () => {})
  const ended = new Promise<void>((resolve) => {
    response.on('close', resolve)
  })
  return {
    id: use,
    headers: response.headers,
    status: response.statusCode ?? 0,
    text: () => read,
    records: () => readAll([...read.matchAll(/^data: (.*)\r\n\r\n/gm)].map(([, data = '']) => data)),
    post: (body) => ask(`${url}?id=${use}`, { method: 'POST', token, body }),
    ended,
    leave: () => request.destroy(),
    pause: () => response.pause(),
  }
}

export async function connectStream(url: string, token = 'ana-1'): Promise<StreamClient> {
  const client = await openStream(url, token)
  await client.post(handshake)
  await until(() => client.records().length > 0)
  return client
}

export interface PollClient {
  id: string
  connectionId: string
  poll(signal?: AbortSignal): Promise<HubResponse>
  post(body: string | Buffer): Promise<HubResponse>
  remove(): Promise<HubResponse>
}

/** Long polling, handshake done. */
export async function connectPolling(url: string, token = 'ana-1'): Promise<PollClient> {
  const { connectionId, connectionToken } = await negotiate(url, { token })
  const address = `${url}?id=${connectionToken}`
  const client: PollClient = {
    id: connectionToken,
    connectionId,
    poll: (signal) => ask(address, { token, signal }),
    post: (body) => ask(address, { method: 'POST', token, body }),
    remove: () => ask(address, { method: 'DELETE', token }),
  }
  await client.poll()
  await client.post(handshake)
  await client.poll()
  return client
}
