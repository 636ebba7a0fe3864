import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

const statusTexts: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** A request answered with only a status. */
export class HubRefusal extends Error {
  override name = 'HubRefusal'
  readonly status: number

  constructor(status: number, message = statusTexts[status] ?? '', options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }

  get headers(): Record<string, string> {
    if (this.status === 401) return { 'WWW-Authenticate': 'Bearer' }
    if (this.status === 405) return { Allow: 'GET, POST, DELETE, OPTIONS' }
    if (this.status === 429 || this.status === 503) return { 'Retry-After': '5' }
    // Closes the connection because the rest of the body is not read.
    return this.status === 413 ? { Connection: 'close' } : {}
  }
}

/** The parameters of the address, their names in lower case. */
export function queryOf({ url = '' }: IncomingMessage): Map<string, string> {
  const mark = url.indexOf('?')
  const parameters = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1))
  return new Map([...parameters].map(([name, value]) => [name.toLowerCase(), value]))
}

/** The token of the `Authorization` header, or ''. */
export function bearerOf({ headers }: IncomingMessage): string {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? ''
}

/** Whether `request` comes from a page of this origin, of one of `origins`, or from no page. */
export function isWelcome({ headers }: IncomingMessage, origins: readonly string[]): boolean {
  const { origin, host } = headers
  if (origin === undefined || origins.includes(origin)) return true
  return URL.canParse(origin) && host !== undefined && new URL(origin).host === host.toLowerCase()
}

/** Lets a page of one of `origins` read the response. */
export function allowOrigin(request: IncomingMessage, response: ServerResponse, origins: readonly string[]): void {
  if (origins.length === 0) return
  response.setHeader('Vary', 'Origin')
  const { origin } = request.headers
  if (origin === undefined || !origins.includes(origin)) return
  response.setHeader('Access-Control-Allow-Origin', origin)
  response.setHeader('Access-Control-Allow-Credentials', 'true')
  if (request.method !== 'OPTIONS') return
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST, DELETE')
  response.setHeader(
    'Access-Control-Allow-Headers',
    'authorization, x-requested-with, x-signalr-user-agent, content-type',
  )
  response.setHeader('Access-Control-Max-Age', '600')
}

/** The headers of every response. */
export const plainHeaders = {
  'Cache-Control': 'no-cache, no-store',
  Pragma: 'no-cache',
  Expires: 'Thu, 01 Jan 1970 00:00:00 GMT',
  'X-Content-Type-Options': 'nosniff',
}

/** Answers with a status and, if there is one, a body. */
export function respond(
  response: ServerResponse,
  status: number,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
): void {
  const length: Record<string, string> = status === 204 ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const type: Record<string, string> = body.length > 0 ? { 'Content-Type': 'text/plain; charset=utf-8' } : {}
  response.writeHead(status, { ...plainHeaders, ...length, ...type, ...headers }).end(body)
}

/** Answers a request for an upgrade that is not granted, and ends its socket. */
export function refuseUpgrade(socket: Duplex, { status, message, headers }: HubRefusal): void {
  const lines = Object.entries({
    ...plainHeaders,
    ...headers,
    Connection: 'close',
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(message)),
  }).map(([name, value]) => `${name}: ${value}`)
  socket.once('finish', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${statusTexts[status]}\r\n${lines.join('\r\n')}\r\n\r\n${message}`)
}

/** The whole body. */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > bytesMax) throw new HubRefusal(413)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
