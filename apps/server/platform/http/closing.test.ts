import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { createLogger } from '../log.ts'
import { prepareClosing } from './closing.ts'

/** An API with a file that leaves in two parts, the second when it is let go, and a call that never ends. */
async function open(times: { callMs: number; fileMs: number }) {
  const lines: string[] = []
  const app = Fastify()
  const close = prepareClosing(app, createLogger('warn', { write: (line) => lines.push(line) }), times)
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  app.get('/file', (_, reply) => {
    const parts = async function* () {
      yield 'first '
      await held
      yield 'second'
    }
    return reply.header('content-length', 12).send(Readable.from(parts()))
  })
  app.get('/never', () => new Promise(() => {}))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const begin = (path: string) =>
    new Promise<NodeJS.ReadableStream>((resolve, reject) => {
      request({ port, host: '127.0.0.1', path }, resolve).on('error', reject).end()
    })
  return { begin, close, letGo, lines, port }
}

test('a file that is on its way leaves whole after the end was asked for; a call that never ends is cut off', async () => {
  const { begin, close, letGo, lines } = await open({ callMs: 50, fileMs: 30_000 })
  const file = await begin('/file')
  const cut = begin('/never').then(
    () => 'answered',
    (error: NodeJS.ErrnoException) => error.code,
  )
  const closed = close()
  expect(await cut).toBe('ECONNRESET')
  letGo()
  expect(await text(file)).toBe('first second')
  await closed
  expect(lines).toEqual([])
})

test.each([
  ['nothing', ''],
  ['half of a request', 'GET /'],
])('a connection by which %s came does not hold it up', async (_, text) => {
  const { port, close } = await open({ callMs: text === '' ? 60_000 : 50, fileMs: 60_000 })
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(text)
  const ended = new Promise((resolve) => socket.once('close', resolve))
  // It may be cut in the midst of what it says.
  socket.on('error', () => {})
  await close()
  await ended
})

test('a file that takes too long is cut off, and the log says so', async () => {
  const { begin, close, lines } = await open({ callMs: 10, fileMs: 50 })
  const file = await begin('/file')
  const read = text(file).catch((error: NodeJS.ErrnoException) => error.code)
  await close()
  expect(await read).toBe('ECONNRESET')
  expect(lines).toEqual([expect.stringContaining('files that took too long')])
})
