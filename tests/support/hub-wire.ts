import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { vi } from 'vitest'
import { WebSocket } from 'ws'

// Clients of the hub that show every byte, written from the description of the protocol and from nothing of ours.

export const hubPath = '/notification-hub'
export const handshake = '{"protocol":"json","version":1}\x1e'
const patience = { timeout: 20_000, interval: 10 }

export interface Asked {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

export interface Asking {
  method?: string
  token?: string
  headers?: Record<string, string>
  body?: string | Buffer
}

/** One request, and its answer as a whole. */
export async function ask(address: string, asking: Asking = {}): Promise<Asked> {
  const response = await send(address, asking)
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }
}

function send(
  address: string,
  { method = 'GET', token, headers, body, signal }: Asking & { signal?: AbortSignal },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const own = { ...(token && { authorization: `Bearer ${token}` }), ...headers }
    httpRequest(address, { method, headers: own, agent: false, signal })
      .on('response', resolve)
      .on('error', reject)
      .end(body)
  })
}

/** Records as one reads them; all that was read must end with a separator. */
export function recordsOf(read: string): Record<string, unknown>[] {
  if (read !== '' && !read.endsWith('\x1e')) throw new Error(`a record is not complete: ${read}`)
  return read
    .split('\x1e')
    .slice(0, -1)
    .map((record) => JSON.parse(record) as Record<string, unknown>)
}

/** What a client was told, however it came. */
interface Hearing {
  records(): Record<string, unknown>[]
  /** Waits until `count` records for which `test` holds have come. */
  heard(test: (record: Record<string, unknown>) => boolean, count?: number): Promise<Record<string, unknown>[]>
}

function hearing(read: () => string): Hearing {
  const records = () => recordsOf(read())
  return {
    records,
    heard: (test, count = 1) =>
      vi.waitFor(() => {
        const found = records().filter(test)
        if (found.length < count) throw new Error(`only heard ${read()}`)
        return found
      }, patience),
  }
}

export interface Socket extends Hearing {
  ws: WebSocket
  frames: string[]
  say(...records: object[]): void
  /** The code of the close frame; 1006: there was none. */
  closed: Promise<number>
}

/** A WebSocket, or the status with which it was refused. */
export function openSocket(
  address: string,
  { token, origin }: { token?: string; origin?: string } = {},
): Promise<Socket | number> {
  const headers = token ? { authorization: `Bearer ${token}` } : {}
  const ws = new WebSocket(address.replace('http', 'ws'), { headers, origin })
  const frames: string[] = []
  ws.on('message', (data, isBinary) => frames.push(isBinary ? 'a binary frame' : (data as Buffer).toString()))
  const closed = new Promise<number>((resolve) => {
    ws.on('close', resolve)
  })
  const say = (...records: object[]) => ws.send(records.map((record) => `${JSON.stringify(record)}\x1e`).join(''))
  return new Promise((resolve, reject) => {
    ws.on('open', () => resolve({ ws, frames, say, closed, ...hearing(() => frames.join('')) }))
    ws.on('unexpected-response', (request, response) => {
      request.destroy()
      resolve(response.statusCode ?? 0)
    })
    ws.on('error', reject)
  })
}

export interface Stream extends Hearing {
  status: number
  headers: IncomingHttpHeaders
  read(): string
  ended: Promise<void>
  leave(): void
}

/** An event stream. */
export async function openStream(address: string, token: string): Promise<Stream> {
  const abort = new AbortController()
  const url = `${address}&access_token=${encodeURIComponent(token)}`
  const response = await send(url, { headers: { accept: 'text/event-stream' }, signal: abort.signal })
  let read = ''
  response.setEncoding('utf8').on('data', (piece: string) => {
    read += piece
  })
  const ended = new Promise<void>((resolve) => {
    response.on('close', resolve)
  })
  response.on('error', () => {})
  const events = () => [...read.matchAll(/^data: (.*)\r\n\r\n/gm)].map(([, data]) => data).join('')
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    read: () => read,
    ended,
    leave: () => abort.abort(),
    ...hearing(events),
  }
}
