import { type AddressInfo, createServer } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { keepListening } from './listen.ts'
import { createLogger } from './log.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('a database that takes a connection and says nothing is asked again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.on('error', () => {}).resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `postgres://vigia@127.0.0.1:${(server.address() as AddressInfo).port}/vigia`
  const ear = { channels: ['vigia_test'], listening: () => {}, heard: () => {} }
  const listening = keepListening(url, ear, createLogger('silent'))
  const moreThan = async (count: number) => {
    while (connections <= count) await new Promise((resolve) => setImmediate(resolve))
  }
  await moreThan(0)
  await vi.advanceTimersByTimeAsync(10_000)
  await moreThan(1)
  await Promise.all([listening[Symbol.asyncDispose](), vi.advanceTimersByTimeAsync(10_000)])
  expect(connections).toBe(2)
  await new Promise((resolve) => server.close(resolve))
})
