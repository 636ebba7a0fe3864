import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fetchOutside, isPublic, type OutboundError, postOutside } from './outbound.ts'

let asked: string[] = []
const pages: Record<string, RequestListener> = {
  '/elsewhere': (_, response) => response.writeHead(302, { location: '/list' }).end(),
  '/silent': () => {},
  '/gone': (_, response) => response.writeHead(404).end('gone'),
  '/endless': (_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(1 << 20)));
    }
    response.on('drain', more)
    more()
  },
  '/cut': (request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half')
    request.socket.destroySoon()
  },
}
const server = createServer((request, response) => {
  asked.push(request.url!)
  pages[request.url!]!(request, response)
})
let host: string

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  host = `localhost:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const { signal: stop } = new AbortController()
const problemOf = (sent: Promise<unknown>) =>
  sent.then(
    () => null,
    (error: OutboundError) => error.problem,
  )
const post = (path: string, { to = host, exempt = [host], until = stop } = {}) =>
  postOutside(`http://${to}${path}`, '{}', { headers: {}, exempt, stop: until })

test.each([
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0/',
  'http://10.1.2.3/',
  'http://169.254.169.254/latest/meta-data',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[fd00::1]/',
  'http://localhost/',
  'https://localhost/',
])('%s is not public', async (address) => {
  expect(await problemOf(fetchOutside(address))).toBe('not-public')
})

test.each(['ftp://exemplo.com.br/', 'file:///etc/passwd', 'http://ana:senha@exemplo.com.br/', 'lista.crl', ''])(
  '"%s" is no address to fetch from',
  async (address) => {
    expect(await problemOf(fetchOutside(address))).toBe('no-address')
  },
)

test('what goes on is ended when it is told to stop', async () => {
  const ending = new AbortController()
  const sent = post('/silent', { until: ending.signal })
  await expect.poll(() => asked.includes('/silent')).toBe(true)
  ending.abort()
  await expect(sent).rejects.toMatchObject({ name: 'OutboundError', problem: 'unreachable' })
})

test('who answers that the protocol changes is not waited for', async () => {
  const tcp = createTcpServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'))
  })
  await once(tcp.listen(0, '127.0.0.1'), 'listening')
  using _ = { [Symbol.dispose]: () => void tcp.close() }
  const switching = `localhost:${(tcp.address() as AddressInfo).port}`
  expect(await problemOf(post('/', { to: switching, exempt: [switching] }))).toBe('unreachable')
})

test('what is sent has any answer, of which the beginning is read, and goes to public addresses only', async () => {
  expect(await post('/gone')).toEqual({ status: 404, text: 'gone' })
  expect(await post('/elsewhere')).toEqual({ status: 302, text: '' })
  expect(await post('/endless')).toEqual({ status: 200, text: '' })
  expect(await problemOf(post('/cut'))).toBe('unreachable')
  expect(await problemOf(post('/', { to: 'localhost:1', exempt: ['localhost:1'] }))).toBe('unreachable')
  asked = []
  expect(await problemOf(post('/gone', { exempt: [] }))).toBe('not-public')
  expect(await problemOf(post('/gone', { exempt: ['localhost:1'] }))).toBe('not-public')
  expect(await problemOf(post('/gone', { to: host.replace('localhost', '127.0.0.1') }))).toBe('not-public')
  expect(await problemOf(post('/', { to: 'nome.invalid', exempt: [] }))).toBe('unreachable')
  expect(asked).toEqual([])
})

test.each([
  ['200.198.239.21', true],
  ['172.32.0.1', true],
  ['172.31.255.255', false],
  ['100.127.0.1', false],
  ['198.19.0.1', false],
  ['239.1.1.1', false],
  ['255.255.255.255', false],
  ['2804:14d::1', true],
  ['2001:4860:4860::8888', true],
  ['::', false],
  ['fe80::1', false],
  ['ff02::1', false],
  ['64:ff9b::7f00:1', false],
  ['::ffff:200.198.239.21', false],
  ['2001:0:7f00:1::', false],
  ['2002:7f00:1::', false],
  ['2001:db8::1', false],
])('%s: %s', (address, expected) => {
  expect(isPublic(address)).toBe(expected)
})
