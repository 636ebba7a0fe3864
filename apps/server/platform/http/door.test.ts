import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { route } from '@vigia/contract/route'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { readConfig } from '../../config.ts'
import type { Context } from '../context.ts'
import { AppError } from '../errors.ts'
import { createLogger } from '../log.ts'
import { testSession } from '../testing.ts'
import { createDoor, type Door, type Visit } from './door.ts'
import { doorLimits } from './door-limits.ts'
import { handle, serveRoutes, sessionOf } from './http.ts'
import { keyStart } from './keys.ts'

const ctx = { config: readConfig({}, '/'), log: createLogger('silent') } as Context
const caller = { address: '192.0.2.1', agent: 'teste' }
const tokenOf = (n: number) => `token-of-person-number-${n}`

describe('the door', () => {
  const socket = new PassThrough()
  // Workspaces from 100 on are new: no certificate has proved a company.
  const open = () => {
    const lookedUp: string[] = []
    const door = createDoor(async (_, workspaceId) => workspaceId < 100)
    const find = door.watch(async (_, token) => {
      lookedUp.push(token)
      await Promise.resolve()
      return token.startsWith('token') ? testSession(Number(/\d+$/.exec(token)![0])) : null
    })
    const enter = (visit: Partial<Visit>) =>
      door.enter({ network: caller.address, token: '', kind: 'open', ...visit }, socket)
    const call = async (token: string) => {
      const refusal = await enter({ token, kind: 'session' })
      return refusal === undefined ? find(ctx, token, caller).catch((error: unknown) => error) : refusal
    }
    return { enter, call, find, lookedUp }
  }
  const times = <T>(n: number, work: (n: number) => T) => Promise.all(Array.from({ length: n }, (_, at) => work(at)))
  const tooMany = expect.objectContaining({ code: 'too-many' })

  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('lets an address make 200 calls at once and twenty a second, and others beside it', async () => {
    const { enter } = open()
    expect(await times(200, () => enter({}))).toEqual(Array(200).fill(undefined))
    const refused = enter({})
    expect(socket.isPaused()).toBe(true)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await refused).toMatchObject({ code: 'too-many', retryAfterMs: 50 })
    expect(socket.isPaused()).toBe(false)
    expect(await times(20, () => enter({}))).toEqual(Array(20).fill(undefined))
    expect(await enter({ network: '192.0.2.2' })).toBeUndefined()
    expect(await enter({ kind: 'file' })).toBeUndefined()
  })

  test('ends the connection when 32 refusals of an address wait already', async () => {
    const { enter } = open()
    await times(200, () => enter({}))
    const waiting = times(32, () => enter({}))
    const ended = enter({})
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await ended).toBeNull()
    expect(await waiting).toEqual(Array(32).fill(tooMany))
  })

  test('does not count who was seen valid within the hour, and looks them up again', async () => {
    const { call, lookedUp } = open()
    await call(tokenOf(1))
    expect(await times(1_000, () => call(tokenOf(1)))).toEqual(Array(1_000).fill(testSession(1)))
    expect(lookedUp).toHaveLength(1_001)
  })

  test('an office of forty that comes back after a restart notices nothing', async () => {
    const { call, lookedUp } = open()
    const pages = await times(40, (person) => times(10, () => call(tokenOf(person))))
    expect(pages).toEqual(pages.map((_, person) => Array(10).fill(testSession(person))))
    expect(lookedUp).toHaveLength(40)
  })

  test('looks up thirty tokens of an address that turn out dead, and each of them once', async () => {
    const { call, lookedUp } = open()
    expect(await times(30, (n) => call(`dead-${n}`))).toEqual(Array(30).fill(null))
    expect(await call('dead-1')).toBeNull()
    const others = times(20, (n) => call(`other-${n}`))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await others).toEqual(Array(20).fill(tooMany))
    expect(lookedUp).toHaveLength(30)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await call(tokenOf(1))).toEqual(testSession(1))
  })

  test('still lets a key in that was shown to the hub as a session', async () => {
    const { find, lookedUp } = open()
    expect(await sessionOf(ctx, `${keyStart}${'0'.repeat(64)}`, caller, find)).toBeNull()
    expect(lookedUp).toEqual([])
  })

  test('counts a new account with its address until a certificate proves one of its companies', async () => {
    const { call } = open()
    for (let n = 0; n < 200; n++) expect(await call(tokenOf(100 + (n % 4)))).toMatchObject({ newcomer: true })
    const refused = call(tokenOf(100))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await refused).toEqual(tooMany)
  })
})

/** A door that learns nothing. */
const doorWith = (enter: Door['enter']): Door => ({ enter, watch: (find) => find, learn: () => {} })

test('an upgrade that is refused leaves no connection behind when its client stays', async () => {
  const guest = { path: '/hub', handle: () => false, upgrade: () => false, knows: () => null }
  const door = doorWith(async () => new AppError('too-many', 'x', { retryAfterMs: 50 }))
  const app = await serveRoutes(ctx, [], async () => null, { guest, door })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const accepted = once(app.server, 'connection')
  const socket = connect({ port: (app.server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write('GET /hub HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  const [server] = await accepted
  const answered = once(socket, 'data')
  await once(server, 'close', { signal: AbortSignal.timeout(2_000) })
  expect(String(await answered)).toContain('HTTP/1.1 429 ')
  socket.destroy()
  await app.close()
})

test('the description of the API is no file of the site, however its address is written', async () => {
  const kinds: string[] = []
  const door = doorWith(async ({ kind }) => void kinds.push(kind))
  const app = await serveRoutes(ctx, [], async () => null, { door })
  app.get('/docs/json', async () => '')
  for (const path of ['/docs/json', '/%64ocs/json']) expect((await app.inject(path)).statusCode).toBe(200)
  expect(kinds).toEqual(['open', 'open'])
})

test('a session that has just been opened is let in, whatever tokens failed before at its address', async () => {
  const data = z.object({ token: z.string(), wsId: z.string() })
  const enter = route({ method: 'POST', path: '/v1/api/Entrar', access: 'public', summary: 'x', data })
  const look = route({
    method: 'GET',
    path: '/v1/api/Ver',
    access: 'session',
    atLeast: 'pessoa',
    summary: 'x',
    data: z.null(),
  })
  const app = await serveRoutes(
    ctx,
    [
      handle(enter, async () => ({ data: { token: tokenOf(1), wsId: 'x' } })),
      handle(look, async () => ({ data: null })),
    ],
    async (_, token) => (token === tokenOf(1) ? testSession(1) : null),
  )
  const show = async (token: string) => {
    const response = await app.inject({ url: '/v1/api/Ver', headers: { authorization: `Bearer ${token}` } })
    return response.statusCode
  }
  for (let n = 0; n < doorLimits.failures.burst; n++) expect(await show(`dead-token-of-nobody-${n}`)).toBe(401)
  await app.inject({ method: 'POST', url: '/v1/api/Entrar' })
  expect(await show(tokenOf(1))).toBe(200)
  await app.close()
})

test('a call with a token that cannot be one counts like a call without', async () => {
  const visits: string[] = []
  const door = doorWith(async ({ token }) => void visits.push(token))
  const app = await serveRoutes(ctx, [], async () => null, { door })
  for (const token of ['curto', `${keyStart}curta-demais-para-uma-chave`, tokenOf(1)])
    await app.inject({ url: '/v1/api/Ver', headers: { authorization: `Bearer ${token}` } })
  expect(visits).toEqual(['', '', tokenOf(1)])
  await app.close()
})

describe('a body', () => {
  const body = z.object({ nome: z.string().optional() })
  const words = { method: 'POST', summary: 'x', data: z.null() } as const
  const echo = route({ ...words, path: '/v1/api/Eco', access: 'public', body })
  const upload = route({ ...words, path: '/v1/api/Arquivo', access: 'session', form: body })
  const run = async () => ({ data: null })

  /** The status of a request, and how many bytes of its body were taken. */
  async function send(head: string[], chunk: string, count: number) {
    const app = await serveRoutes(ctx, [handle(echo, run), handle(upload, run)], async () => testSession(1))
    await app.listen({ port: 0, host: '127.0.0.1' })
    const accepted = once(app.server, 'connection')
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8')
    socket.on('error', () => {})
    socket.write(`${head.join('\r\n')}\r\nHost: localhost\r\n\r\n`)
    for (let n = 0; n < count; n++) socket.write(chunk)
    const [answer] = await once(socket, 'data')
    const [server] = await accepted
    if (count > 500) await once(server, 'close')
    const { bytesRead } = server
    socket.destroy()
    await app.close()
    return { status: Number(String(answer).split(' ')[1]), bytesRead }
  }

  test('that says it is too large is refused before it is read, and cut when it comes all the same', async () => {
    const head = ['POST /v1/api/Eco HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${11e6}`]
    expect((await send(head, '', 0)).status).toBe(413)
    const { status, bytesRead } = await send(head, 'x'.repeat(10_000), 1_100)
    expect(status).toBe(413)
    expect(bytesRead).toBeLessThan(doorLimits.unreadBody + 1_000_000)
  })

  test('that does not say how large it is is counted while it is read, a form too', async () => {
    const json = ['POST /v1/api/Eco HTTP/1.1', 'Content-Type: application/json', 'Transfer-Encoding: chunked']
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
    expect((await send(json, chunk('x'.repeat(1_000)), 20)).status).toBe(413)
    const form = [
      'POST /v1/api/Arquivo HTTP/1.1',
      'Authorization: Bearer token-of-person-number-1',
      'Content-Type: multipart/form-data; boundary=x',
      'Transfer-Encoding: chunked',
    ]
    let n = 0
    const field = () => chunk(`--x\r\nContent-Disposition: form-data; name="f${n++}"\r\n\r\n${'x'.repeat(8_000)}\r\n`)
    expect((await send(form, Array.from({ length: 40 }, field).join(''), 1)).status).toBe(413)
  })
})
