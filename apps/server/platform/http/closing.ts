import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Returns a function that closes `app`: calls and files under way may end, and are cut off after `cutMs`; clients resume files later. */
export function prepareClosing(app: FastifyInstance, cutMs = 20_000): () => Promise<void> {
  const sockets = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return async () => {
    // Browsers open one more than they ask by.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    const cut = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, cutMs)
    try {
      await app.close()
    } finally {
      clearTimeout(cut)
    }
  }
}
