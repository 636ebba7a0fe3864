import { X509Certificate } from 'node:crypto'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import type { Authority } from './authority.ts'
import { issuerPath } from './certificates.ts'
import { respondToControl } from './control.ts'
import { respondToDistribution } from './distribution-service.ts'
import { respondToEvents } from './events/service.ts'
import { eventServices } from './events/services.ts'
import { tlsOptionsOf } from './faults/host-mode.ts'
import { distributionServices } from './message.ts'
import { htmlError } from './pages.ts'
import { releaseDue } from './publication.ts'
import type { Reply } from './reply.ts'
import { type HttpResponse, wsdl } from './soap.ts'

interface Listening {
  port: number
  close(): Promise<void>
}

const tlsHandshakeByte = 0x16
const bodyBytesMax = 1_000_000
const controlBodyBytesMax = 50_000_000

const services = [...distributionServices, ...eventServices]

function pathsOf(service: (typeof services)[number]): string[] {
  return 'otherPaths' in service ? [service.path, ...service.otherPaths] : [service.path]
}

/** TCP connections by remote end, because a TLS socket cannot be reset. */
type Connections = Map<string, Socket>

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`
}

/** Serves the authority over mutual TLS and its control interface, on the loopback addresses only. */
export async function listen(authority: Authority, port: number): Promise<Listening> {
  const sockets: Connections = new Map()
  const http = createHttpServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    respond(authority, sockets, request, response).catch((error: unknown) => {
      console.error('simulator:', error)
      if (!response.headersSent) response.writeHead(500)
      response.end()
    })
  })
  const { certification, hostMode } = authority
  const own = await certification.issueServer(authority.clock.now())
  const tls = createTlsServer(tlsOptionsOf(hostMode, own, certification))
  tls.on('secureConnection', (socket) => http.emit('connection', socket))
  tls.on('tlsClientError', () => {})

  const accept = (socket: Socket) => {
    const peer = peerOf(socket)
    sockets.set(peer, socket)
    socket.once('close', () => sockets.delete(peer))
    socket.on('error', () => socket.destroy())
    socket.once('data', (first) => {
      socket.pause()
      socket.unshift(first)
      const target = first[0] === tlsHandshakeByte && hostMode !== 'plainHttp' ? tls : http
      target.emit('connection', socket)
      process.nextTick(() => socket.resume())
    })
  }
  const main = await bind(createNetServer(accept), port, '127.0.0.1')
  const bound = main.address()
  if (bound === null || typeof bound === 'string') throw new Error('the simulator has no port')
  // Machines without IPv6 are served on 127.0.0.1 alone.
  const second = await bind(createNetServer(accept), bound.port, '::1').catch(() => null)

  return {
    port: bound.port,
    close: async () => {
      const closed = [main, second].map(
        (server) => new Promise<void>((done) => (server ? server.close(() => done()) : done())),
      )
      for (const socket of sockets.values()) socket.destroy()
      await Promise.all(closed)
    },
  }
}

function bind(server: NetServer, port: number, host: string): Promise<NetServer> {
  return new Promise((done, fail) => {
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      done(server)
    })
  })
}

async function respond(
  authority: Authority,
  connections: Connections,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'https://localhost')
  releaseDue(authority.ledger, authority.clock)
  if (url.pathname.startsWith('/_control')) {
    const call = {
      method: request.method ?? 'GET',
      url,
      isJson: /^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''),
      readBody: () => readBody(request, controlBodyBytesMax),
    }
    const reply = isOwnCall(request) ? await respondToControl(authority, call) : htmlError(403)
    return send(response, reply)
  }
  const list = issuerCertificate(authority, url.pathname)
  if (list) return send(response, list)
  // Reads the body before any refusal, because the connection must stay usable.
  const body = await readBody(request, bodyBytesMax)
  if (authority.hostMode === 'afterRequest') await askForCertificate(request)
  const certificate = authority.hostMode === 'iis403' ? null : acceptedCertificate(authority, request)
  if (certificate === null) return send(response, htmlError(403))
  const path = url.pathname.toLowerCase()
  const service = services.find((one) => pathsOf(one).some((own) => own.toLowerCase() === path))
  if (service === undefined) return send(response, htmlError(404))
  if (request.method === 'GET') {
    const origin = `https://${request.headers.host ?? 'localhost'}`
    const description = Buffer.from(wsdl(service, origin))
    return send(response, { status: 200, contentType: 'text/xml; charset=utf-8', body: description })
  }
  if (body === null) return send(response, htmlError(413))
  const contentType = request.headers['content-type'] ?? ''
  const action = request.headers.soapaction
  const soapAction = Array.isArray(action) ? action[0] : action
  const call = { contentType, soapAction, body, certificate }
  const reply =
    'authorizer' in service
      ? await respondToEvents(authority, service, call)
      : await respondToDistribution(authority, service, call)
  if (authority.responseMs > 0) await sleep(authority.responseMs)
  if (reply === 'reset') connections.get(peerOf(request.socket))?.resetAndDestroy()
  else send(response, reply)
}

async function askForCertificate({ socket }: IncomingMessage): Promise<void> {
  if (!(socket instanceof TLSSocket)) return
  await new Promise<void>((done, fail) => {
    socket.renegotiate({ requestCert: true, rejectUnauthorized: false }, (error) => (error ? fail(error) : done()))
  })
}

// For everybody, as the real ones are.
function issuerCertificate({ certification }: Authority, path: string): HttpResponse | null {
  if (path === issuerPath)
    return {
      status: 200,
      contentType: 'application/pkix-cert',
      body: new X509Certificate(certification.intermediate).raw,
    }
  return null
}

function acceptedCertificate(authority: Authority, request: IncomingMessage): X509Certificate | null {
  const { socket } = request
  if (!(socket instanceof TLSSocket)) return null
  const certificate = socket.getPeerX509Certificate()
  if (!(certificate instanceof X509Certificate)) return null
  return authority.certification.check(certificate, authority.clock.now()) === 'ok' ? certificate : null
}

// Accepts local calls, but not from pages in a local browser: those send an origin, and may point
// their own host name to this machine.
function isOwnCall({ socket, headers, headersDistinct }: IncomingMessage): boolean {
  const address = socket.remoteAddress ?? ''
  const isLoopback = address === '::1' || /^(?:::ffff:)?127\./.test(address)
  const isOwnName = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(headers.host ?? '')
  return isLoopback && isOwnName && headersDistinct.host?.length === 1 && headers.origin === undefined
}

/** The body, or null when it is larger than accepted. */
async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const piece = Buffer.from(chunk)
    size += piece.length
    if (size <= bytesMax) chunks.push(piece)
  }
  return size > bytesMax ? null : Buffer.concat(chunks)
}

function send(response: ServerResponse, reply: Exclude<Reply, 'reset'>): void {
  const { status, contentType, body, sendBytes, lost } = { sendBytes: undefined, lost: undefined, ...reply }
  if (lost !== undefined) {
    response.once('close', () => {
      if (!response.writableFinished) lost()
    })
    // The client may have hung up before the response was ready.
    if (response.destroyed) lost()
  }
  response.writeHead(status, {
    'Cache-Control': 'private, max-age=0',
    'Content-Type': contentType,
    'Content-Length': body.length,
    Server: 'Microsoft-IIS/10.0',
    'X-AspNet-Version': '4.0.30319',
    'X-Powered-By': 'ASP.NET',
  })
  if (sendBytes === undefined) response.end(body)
  else response.write(body.subarray(0, sendBytes), () => response.socket?.destroy())
}
