import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from '../log.ts'

/** Memory and time that clients can hold by sending without reading. docs/security.md names each. */
export const connectionLimits = {
  /** Requests of one connection that wait for an earlier response. */
  waiting: 8,
  /** A response of which no byte leaves for this long is cut. */
  stalledMs: 30_000,
  /** Bytes of responses that wait for the clients of one address. */
  addressBytes: 32 * 1024 ** 2,
  /** Bytes of responses that wait for all clients. */
  allBytes: 256 * 1024 ** 2,
}

/** A response on its way to its client. */
interface Response {
  request: FastifyRequest
  address: string
  bytes: number
  left: string
  movedAt: number
}

// A stream is read as fast as the client takes it: about this much of it is in memory.
const streamBytes = 256 * 1024

/**
 * Answers the requests of a connection one after the other, and cuts connections whose clients send or ask for more than they read. The hooks have to be
 * the first of `app`: a request that waits has caused no work.
 */
export function limitConnections(
  app: FastifyInstance,
  { log, addressOf }: { log: Logger; addressOf(request: FastifyRequest): string },
  limits: typeof connectionLimits = connectionLimits,
): void {
  queueRequests(app, limits)
  limitResponses(app, { log, addressOf }, limits)
}

function queueRequests(app: FastifyInstance, limits: typeof connectionLimits): void {
  // Present while a request of the connection is being answered.
  const queues = new WeakMap<Socket, (() => void)[]>()
  app.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    if (socket.destroyed) return
    const queue = queues.get(socket) ?? []
    const begin = () => {
      if (socket.destroyed) return
      reply.raw.once('close', () => {
        const next = queue.shift()
        // In a later turn of the event loop: other connections come between.
        if (next) setImmediate(next)
        else queues.delete(socket)
      })
      done()
    }
    if (queues.has(socket)) {
      queue.push(begin)
      if (queue.length > limits.waiting) socket.destroy()
      return
    }
    queues.set(socket, queue)
    // After the other requests of the same packet were counted.
    process.nextTick(begin)
  })
}

function limitResponses(
  app: FastifyInstance,
  { log, addressOf }: { log: Logger; addressOf(request: FastifyRequest): string },
  limits: typeof connectionLimits,
): void {
  // In the order in which they began.
  const responses = new Map<ServerResponse, Response>()
  const bytesOf = new Map<string, number>()
  let allBytes = 0
  const count = ({ address }: Response, bytes: number) => {
    allBytes += bytes
    const sum = (bytesOf.get(address) ?? 0) + bytes
    if (sum > 0) bytesOf.set(address, sum)
    else bytesOf.delete(address)
  }
  const forget = (raw: ServerResponse) => {
    const response = responses.get(raw)
    if (!response) return
    responses.delete(raw)
    count(response, -response.bytes)
  }
  const cut = (raw: ServerResponse, { request }: Response, why: string) => {
    forget(raw)
    log.info({ requestId: request.id, route: request.routeOptions.url }, why)
    request.raw.socket.destroy()
  }
  const cutOldest = (newest: ServerResponse, isOver: () => boolean, address?: string) => {
    for (const [raw, response] of responses) {
      if (!isOver() || raw === newest) return
      if (address === undefined || response.address === address)
        cut(raw, response, 'a response was cut: too many bytes wait for their readers')
    }
  }
  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = reply
    // An error on the way begins a response anew.
    forget(raw)
    const address = addressOf(request)
    const response = { request, address, bytes: sizeOf(payload), left: '', movedAt: performance.now() }
    responses.set(raw, response)
    count(response, response.bytes)
    raw.once('close', () => forget(raw))
    cutOldest(raw, () => (bytesOf.get(address) ?? 0) > limits.addressBytes, address)
    cutOldest(raw, () => allBytes > limits.allBytes)
    done()
  })
  const sweep = setInterval(() => {
    const now = performance.now()
    for (const [raw, response] of responses) {
      const { socket } = response.request.raw
      const left = leftOf(socket)
      if (socket.writableLength === 0 || left !== response.left) Object.assign(response, { left, movedAt: now })
      else if (now - response.movedAt >= limits.stalledMs) cut(raw, response, 'a response was cut: nothing of it moved')
    }
  }, limits.stalledMs / 6).unref()
  app.addHook('onClose', async () => clearInterval(sweep))
}

function sizeOf(payload: unknown): number {
  if (payload instanceof Readable) return streamBytes
  return typeof payload === 'string' || payload instanceof Uint8Array ? Buffer.byteLength(payload) : 0
}

// Changes whenever bytes leave. Node counts a buffer when all of it has left, its handle also parts. A timeout of the socket would begin anew with each byte
// that the client sends.
function leftOf(socket: Socket): string {
  const { writeQueueSize } = (socket as { _handle?: { writeQueueSize?: number } | null })._handle ?? {}
  return `${socket.bytesWritten} ${socket.writableLength} ${writeQueueSize}`
}
