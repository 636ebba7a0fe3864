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
 * Returns a function that closes `app`: cuts unused connections, lets calls under way end and files
 * leave whole. Cuts other connections after `callMs`, slow files after `fileMs` with a warning;
 * clients resume those later.
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
