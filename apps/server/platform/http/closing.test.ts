import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { prepareClosing } from './closing.ts'

/** An API with a file that leaves in two parts, the second when it is let go. */
async function open(cutMs: number) {
  const app = Fastify()
  const close = prepareClosing(app, cutMs)
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  app.get('/file', (_, reply) => {
    const parts = async function* () {
      yield 'first '
      await held
      yield 'second'
    }
    return reply.header('content-length', 12).send(Readable.from(parts()))
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const begin = () =>
    new Promise<NodeJS.ReadableStream>((resolve, reject) => {
      request({ port, host: '127.0.0.1', path: '/file' }, resolve).on('error', reject).end()
    })
  return { begin, close, letGo, port }
}

test('a file that is on its way leaves whole after the end was asked for', async () => {
  const { begin, close, letGo } = await open(30_000)
  const file = await begin()
  const closed = close()
  letGo()
  expect(await text(file)).toBe('first second')
  await closed
})

test('a file that takes too long is cut off', async () => {
  const { begin, close } = await open(50)
  const read = text(await begin()).catch((error: NodeJS.ErrnoException) => error.code)
  await close()
  expect(await read).toBe('ECONNRESET')
})

test.each([
  ['nothing', ''],
  ['half of a request', 'GET /'],
])('a connection by which %s came does not hold it up', async (_, text) => {
  const { port, close } = await open(text === '' ? 60_000 : 50)
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(text)
  const ended = new Promise((resolve) => socket.once('close', resolve))
  // It may be cut in the midst of what it says.
  socket.on('error', () => {})
  await close()
  await ended
})
