import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A door to a server on this machine, which can hold back what the server says. */
export interface Door extends AsyncDisposable {
  port: number
  /** Nothing that the server says gets through for `ms`; then all of it does. */
  stall(ms: number): void
}

export async function openDoor(serverPort: number): Promise<Door> {
  const connections = new Set<{ client: Socket; server: Socket }>()
  let timer: NodeJS.Timeout | undefined
  const listener = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1')
    const connection = { client, server }
    connections.add(connection)
    const end = () => {
      client.destroy()
      server.destroy()
      connections.delete(connection)
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    client.pipe(server)
    server.on('data', (chunk) => client.write(chunk))
    if (timer) server.pause()
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    stall(ms) {
      for (const { server } of connections) server.pause()
      clearTimeout(timer)
      timer = setTimeout(() => {
        timer = undefined
        for (const { server } of connections) server.resume()
      }, ms)
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer)
      for (const { client, server } of connections) {
        client.destroy()
        server.destroy()
      }
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}
