import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { WebSocket, WebSocketServer } from 'ws'

// The processes that hub.ts starts, each with one part.

/** Requests that a part takes. */
interface PartRequests {
  api: { url: string; memory: number }
  bare: { url: string; memory: number; send: number }
  clients: { open: number; arrivals: number[] }
}

export interface BenchPart<P extends keyof PartRequests> extends AsyncDisposable {
  ask<A extends keyof PartRequests[P] & string>(what: A, about?: unknown): Promise<PartRequests[P][A]>
}

/** Starts a process that plays `part`. */
export function startPart<P extends keyof PartRequests>(part: P, about: unknown = null): BenchPart<P> {
  const child = fork(fileURLToPath(import.meta.url), [part, JSON.stringify(about)])
  const failed = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`the process with the part of ${part} ended with ${code}`)))
  })
  failed.catch(() => {})
  return {
    async ask(what, about = null) {
      const response = Promise.race([once(child, 'message'), failed])
      child.send({ what, about })
      const [value] = await response
      return value
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

/** Milliseconds of a clock that the processes of a machine share. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}

/** Tells a message from another. */
export const markOf = (number: number) => `aviso ${number}.`

const markShape = /aviso \d+\./
const handshake = { request: '{"protocol":"json","version":1}\x1e', response: '{}\x1e' }
const atOnce = 50
const patienceMs = 30_000

type PartHandler = (what: string, about: never) => unknown

const parts: Record<string, (about: never) => Promise<PartHandler>> = {
  async api(environment: Record<string, string>) {
    // Not by the other parts: the memory of each is measured.
    const { readConfig, start } = await import('@vigia/server/start')
    const config = readConfig(environment, environment.DATA_DIR!)
    // All pages of one new workspace come from one address.
    const door = { ...config.door, calls: { perSecond: 100_000, burst: 100_000 } }
    const server = await start({ ...config, door }, { roles: ['api'] })
    return (what) => (what === 'url' ? server.url : memory())
  },

  // WebSockets and nothing else.
  async bare() {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
    server.on('connection', (client) => client.once('message', () => client.send(handshake.response)))
    await once(server, 'listening')
    const send = (text: string) => {
      const bytes = Buffer.from(text)
      for (const client of server.clients) client.send(bytes, { binary: false })
      return server.clients.size
    }
    const { port } = server.address() as { port: number }
    return (what, about) =>
      what === 'url' ? `http://127.0.0.1:${port}` : what === 'memory' ? memory() : send(about as string)
  },

  async clients() {
    const sockets = new Set<WebSocket>()
    const arrivals = new Map<string, number[]>()
    const hear = (text: string) => {
      const mark = markShape.exec(text)?.[0]
      if (!mark) return
      const times = arrivals.get(mark) ?? []
      arrivals.set(mark, times)
      times.push(sharedNow())
    }
    const handlers: Record<string, (about: never) => Promise<unknown>> = {
      async open({ url, tokens }: { url: string; tokens: string[] }) {
        const openNext = async () => {
          for (let token = tokens.pop(); token; token = tokens.pop()) {
            const socket = await openSocket(url, token, hear)
            if (socket) sockets.add(socket.on('close', () => sockets.delete(socket)))
          }
        }
        await Promise.all(Array.from({ length: atOnce }, openNext))
        return sockets.size
      },
      async arrivals(mark: string) {
        for (let waited = 0; waited < patienceMs; waited += 20) {
          if ((arrivals.get(mark)?.length ?? 0) >= sockets.size) break
          await setTimeout(20)
        }
        return arrivals.get(mark) ?? []
      },
    }
    return (what, about) => handlers[what]!(about)
  },
}

function openSocket(url: string, token: string, hear: (text: string) => void): Promise<WebSocket | null> {
  const headers = { Authorization: `Bearer ${token}` }
  const socket = new WebSocket(url, { headers, perMessageDeflate: false, skipUTF8Validation: true })
  return new Promise((resolve) => {
    socket.on('open', () => socket.send(handshake.request))
    socket.on('message', (data) => {
      const text = (data as Buffer).toString()
      if (text.startsWith(handshake.response)) resolve(socket)
      hear(text)
    })
    socket.on('error', () => resolve(null)).on('close', () => resolve(null))
  })
}

function memory(): number {
  globalThis.gc?.()
  return process.memoryUsage.rss()
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const [part = '', about = 'null'] = process.argv.slice(2)
  const handler = parts[part]!(JSON.parse(about) as never)
  const respond = async ({ what, about }: { what: string; about: unknown }) =>
    process.send!(await (await handler)(what, about as never))
  process.on('message', (request: Parameters<typeof respond>[0]) => void respond(request))
  process.on('disconnect', () => process.exit(0))
}
