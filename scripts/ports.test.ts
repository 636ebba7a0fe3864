import { createServer, type Server } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { StartError } from './lifetime.ts'
import { freePort, requirePort } from './ports.ts'

let server: Server | undefined
afterEach(() => server?.close())

function occupy(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server = createServer()
    server.once('error', reject)
    server.listen(0, host, () => {
      const address = server?.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    })
  })
}

test.each(['127.0.0.1', '0.0.0.0'])(
  'a port that is busy on %s is refused with its number and variable',
  async (host) => {
    const port = await occupy(host)
    const refusal = expect(requirePort(port, 'SIMULATOR_PORT')).rejects
    await refusal.toThrow(StartError)
    await expect(requirePort(port, 'SIMULATOR_PORT')).rejects.toThrow(
      new RegExp(`porta ${port} .*SIMULATOR_PORT=${port + 1} npm start`),
    )
  },
)

test('a busy port is passed over, a free one is taken', async () => {
  const port = await occupy('127.0.0.1')
  const free = await freePort(port)
  expect(free).toBeGreaterThan(port)
  await requirePort(free, 'PORT')
})

test('a free port passes, and so does "any port"', async () => {
  const port = await occupy('127.0.0.1')
  await new Promise((resolve) => server?.close(resolve))
  await requirePort(port, 'PORT')
  await requirePort(0, 'PORT')
})
