import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A door to a server on this machine, which can hold back or delay what the server says, and cut what is open. */
export interface Door extends AsyncDisposable {
  port: number
  /** Nothing that the server says gets through for `ms`; then all of it does. */
  stall(ms: number): void
  /**
   * The same from the next moment in which a query or an event was announced: its transaction is committed, and who did it does not hear so.
   * Resolves when it does, or with false when the connection ended before.
   */
  stallAnnouncement(ms: number): Promise<boolean>
  /** What the server says comes `delayMs` later, for `ms`. */
  slow(delayMs: number, ms: number): void
  /** Ends all connections, without a word. */
  cut(): void
}

// What the product writes of a query, of an event.
const announcement = /"asked_at" = now\(\)|"sent_at" = (now|coalesce)\(/

export async function openDoor(serverPort: number): Promise<Door> {
  const connections = new Set<{ client: Socket; server: Socket }>()
  let timer: NodeJS.Timeout | undefined
  let slow = { delayMs: 0, until: 0 }
  let onAnnouncement: (() => (isHeard: boolean) => void) | null = null
  const stall = (ms: number) => {
    for (const { server } of connections) server.pause()
    clearTimeout(timer)
    timer = setTimeout(() => {
      timer = undefined
      for (const { server } of connections) server.resume()
    }, ms)
  }
  const listener = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1')
    const connection = { client, server }
    connections.add(connection)
    let settle = (_isHeard: boolean) => {}
    const end = () => {
      settle(false)
      client.destroy()
      server.destroy()
      connections.delete(connection)
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    let announces = false
    client.on('data', (chunk) => {
      server.write(chunk)
      if (onAnnouncement === null) return
      announces ||= announcement.test(chunk.toString('latin1'))
      if (!announces || !chunk.includes('commit')) return
      announces = false
      settle = onAnnouncement()
      onAnnouncement = null
    })
    // What comes while something is held back comes after it.
    let late: Buffer[] | null = null
    server.on('data', (chunk) => {
      if (late) return void late.push(chunk)
      if (performance.now() >= slow.until) {
        client.write(chunk)
        return settle(true)
      }
      late = [chunk]
      setTimeout(() => {
        for (const one of late!) client.write(one)
        late = null
        settle(true)
      }, slow.delayMs)
    })
    if (timer) server.pause()
  })
  const cut = () => {
    for (const { client, server } of connections) {
      client.destroy()
      server.destroy()
    }
  }
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    stall,
    stallAnnouncement(ms) {
      return new Promise((resolve) => {
        onAnnouncement = () => {
          stall(ms)
          return resolve
        }
      })
    },
    slow(delayMs, ms) {
      slow = { delayMs, until: performance.now() + ms }
    },
    cut,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer)
      cut()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}
