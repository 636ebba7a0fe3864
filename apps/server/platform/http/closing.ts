import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from '../log.ts'

/** How long a call may take after the end was asked for, and how long a file that is on its way. */
export interface ClosingTimes {
  callMs: number
  fileMs: number
}

/**
 * Returns what closes `app`: no new connection, calls under way end, files that are on their way leave whole. One that would take too long is cut off, which
 * the log tells; its client goes on with it later. Connections that nothing was asked by are cut at once, those that only listen with the calls.
 */
export function prepareClosing(
  app: FastifyInstance,
  log: Logger,
  { callMs, fileMs }: ClosingTimes = { callMs: 5_000, fileMs: 60_000 },
): () => Promise<void> {
  const underway = new Set<ServerResponse>()
  const sockets = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.addHook('onRequest', (_, reply, done) => {
    underway.add(reply.raw)
    reply.raw.once('close', () => underway.delete(reply.raw))
    done()
  })
  return async () => {
    // Browsers open one more than they ask by.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    const cutCalls = setTimeout(() => {
      const files = new Set([...underway].flatMap((response) => (isFile(response) && response.socket) || []))
      for (const socket of sockets) if (!files.has(socket)) socket.destroy()
    }, callMs)
    const cutFiles = setTimeout(() => {
      if (underway.size > 0)
        log.warn({ files: underway.size }, 'files that took too long to leave were cut off at the end')
      app.server.closeAllConnections()
    }, fileMs)
    try {
      await app.close()
    } finally {
      clearTimeout(cutCalls)
      clearTimeout(cutFiles)
    }
  }
}

const isFile = (response: ServerResponse): boolean =>
  response.headersSent && !String(response.getHeader('content-type')).startsWith('text/event-stream')
