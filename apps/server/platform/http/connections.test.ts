import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import Fastify from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLogger } from '../log.ts'
import { connectionLimits, limitConnections } from './connections.ts'

const mebibyte = 1024 ** 2
// More than the kernel keeps for a client that reads nothing.
const body = Buffer.alloc(64 * mebibyte, 'x')
const sizes = { addressBytes: 2.5 * body.length, allBytes: 3.5 * body.length }

let cleanUp: AsyncDisposableStack
beforeEach(() => {
  cleanUp = new AsyncDisposableStack()
})
afterEach(async () => {
  vi.useRealTimers()
  await cleanUp.disposeAsync()
})

/** An API whose calls are counted; clients say with a header which address they have. */
async function open() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const app = cleanUp.adopt(Fastify({ forceCloseConnections: true }), (app) => app.close())
  const addressOf = ({ headers }: { headers: Record<string, unknown> }) => String(headers.from)
  limitConnections(app, { log: createLogger('silent'), addressOf }, { ...connectionLimits, ...sizes })
  const calls = { begun: 0, underway: 0, most: 0 }
  app.get('/call', async () => {
    calls.begun++
    calls.most = Math.max(calls.most, ++calls.underway)
    await new Promise((resolve) => setImmediate(resolve))
    calls.underway--
    return String(calls.begun)
  })
  const order: string[] = []
  app.get('/now', ({ headers }) => {
    order.push(String(headers.from))
    return 'now'
  })
  app.get('/body', () => body)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo

  const client = () => {
    const socket = cleanUp.adopt(connect(port, '127.0.0.1'), (socket) => void socket.destroy())
    // It may be reset in the midst of what it sends.
    socket.on('error', () => {})
    return socket
  }
  /** Asks for the body and reads its beginning only. */
  const ask = async (from: string) => {
    const socket = client()
    socket.write(`GET /body HTTP/1.1\r\nHost: localhost\r\nFrom: ${from}\r\n\r\n`)
    await once(socket, 'readable')
    return socket
  }
  return { calls, order, client, ask }
}

const request = 'GET /call HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** Reads until `bytes` came or the connection is cut; the number of those that came. */
async function read(socket: Socket, bytes = Number.POSITIVE_INFINITY): Promise<number> {
  let count = 0
  try {
    for await (const part of socket.iterator({ destroyOnReturn: false })) {
      count += part.length
      if (count >= bytes) break
    }
  } catch (error) {
    expect(error).toMatchObject({ code: 'ECONNRESET' })
  }
  return count
}

test('requests of one connection are answered one after the other', async () => {
  const { calls, client } = await open()
  const socket = client()
  socket.write(request.repeat(connectionLimits.waiting))
  socket.write(request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
  const parts = await socket.toArray()
  const bodies = [
    ...Buffer.concat(parts)
      .toString()
      .matchAll(/\r\n\r\n(\d+)/g),
  ].map(([, body]) => body)
  expect(bodies).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9'])
  expect(calls).toEqual({ begun: 9, underway: 0, most: 1 })
})

test('a connection with many requests lets another one in between', async () => {
  const { order, client } = await open()
  const [many, one] = [client(), client()]
  await Promise.all([many, one].map((socket) => once(socket, 'connect')))
  const now = (from: string) => `GET /now HTTP/1.1\r\nHost: localhost\r\nFrom: ${from}\r\n\r\n`
  many.write(now('many').repeat(connectionLimits.waiting))
  one.write(now('one'))
  await Promise.all([many, one].map((socket) => once(socket, 'data')))
  await vi.waitFor(() => expect(order).toHaveLength(connectionLimits.waiting + 1))
  expect(order.indexOf('one')).toBeLessThan(connectionLimits.waiting / 2)
})

test('a connection with more than eight waiting requests is cut, and none of them begins', async () => {
  const { calls, client } = await open()
  const sockets = Array.from({ length: 6 }, client)
  for (const socket of sockets) socket.write(request.repeat(1_300))
  await Promise.all(sockets.map((socket) => once(socket, 'close')))
  expect(calls.begun).toBe(0)
})

test('a response of which nothing leaves for half a minute is cut, one that is read slowly is not', async () => {
  const { ask } = await open()
  const [slow, idle] = [await ask('a'), await ask('b')]
  let count = 0
  for (let seconds = 0; seconds < 40; seconds += 20) {
    // More than the kernel keeps, so some of it left after the last time.
    count += await read(slow, 12 * mebibyte)
    // A client that goes on sending reads no more for it.
    idle.write('\r\n')
    vi.advanceTimersByTime(20_000)
  }
  count += await read(slow, body.length - count)
  expect(count).toBeGreaterThanOrEqual(body.length)
  expect(await read(idle)).toBeLessThan(body.length)
})

test('the oldest response goes when too many bytes wait, of one address or of all', async () => {
  const { ask } = await open()
  const sockets = [await ask('a'), await ask('b'), await ask('a')]
  // The third of this address.
  sockets.push(await ask('a'))
  expect(await read(sockets[0]!)).toBeLessThan(body.length)
  // The fourth of all.
  sockets.push(await ask('c'))
  expect(await read(sockets[1]!)).toBeLessThan(body.length)
  for (const socket of sockets.slice(2)) expect(await read(socket, body.length)).toBeGreaterThanOrEqual(body.length)
})
