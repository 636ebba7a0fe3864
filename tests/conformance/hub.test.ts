import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpTransportType, type HubConnection, HubConnectionBuilder, LogLevel } from '@microsoft/signalr'
import { operate, readConfig, tellWorkspace } from '@vigia/server/start'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createDatabase } from '../support/database.ts'
import {
  type Asked,
  type Asking,
  ask,
  handshake,
  hubPath,
  openSocket,
  openStream,
  recordsOf,
  type Socket,
  type Stream,
} from '../support/hub-wire.ts'

// The hub of the product as its description says it must be, on the wire and by the official client. Its times are a tenth of what they
// are; whatever must not happen within a time is measured at its lower end only, since a busy machine is late and never early. The program is
// a process of its own, so that it can be killed, and so that all it writes can be looked through for what was secret.
const times = { ping: 1_500, silence: 3_000, handshake: 1_500, poll: 3_000, detached: 1_500 }
const patience = { timeout: 20_000, interval: 10 }
const friend = 'https://painel.example'
const recordBytesMax = 32_768
const bodyBytesMax = 1_048_576

interface Person {
  email: string
  senha: string
  /** Of the first session. */
  token: string
  wsId: string
}

const stack = new AsyncDisposableStack()
const secrets = new Set<string>()
let environment: Record<string, string>
let program: ChildProcess
let output = ''
let api: string
let hub: string
let ana: Person
let bruno: Person
/** She is told nothing. */
let carla: Person
let dora: Person
let owner: pg.Client
let tell: (person: Person, body: string) => Promise<void>

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'vigia-hub-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const database = stack.use(await createDatabase())
  owner = new pg.Client({ connectionString: database.url })
  await owner.connect()
  stack.defer(() => owner.end())
  environment = {
    PORT: '0',
    DATA_DIR: directory,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'debug',
    CORS_ORIGINS: friend,
    HUB_PING_MS: String(times.ping),
    HUB_CLIENT_TIMEOUT_MS: String(times.silence),
    HUB_HANDSHAKE_TIMEOUT_MS: String(times.handshake),
    HUB_POLL_MS: String(times.poll),
    HUB_DETACHED_MS: String(times.detached),
  }
  await startProgram()
  stack.defer(() => killProgram())
  ana = await signUp('ana@exemplo.com.br')
  bruno = await signUp('bruno@exemplo.com.br')
  carla = await signUp('carla@exemplo.com.br')
  dora = await signUp('dora@exemplo.com.br')
  tell = await openAnnouncer()
})
afterAll(() => stack.disposeAsync())

async function startProgram(): Promise<void> {
  const code = `
    import { readConfig, start } from ${JSON.stringify(new URL('../../apps/server/start.ts', import.meta.url).href)}
    const { url } = await start(readConfig(process.env, process.cwd()), { roles: ['api'] })
    console.log('listening at ' + url)`
  const file = join(environment.DATA_DIR!, 'program.mjs')
  await writeFile(file, code)
  const from = output.length
  program = spawn(process.execPath, [file], { env: { ...process.env, ...environment } })
  for (const stream of [program.stdout, program.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => {
      output += part
    })
  const listening = () => /listening at (\S+)/.exec(output.slice(from))?.[1]
  await vi.waitFor(() => expect(listening(), output.slice(from)).toBeDefined(), { timeout: 50_000 })
  api = listening()!
  hub = api + hubPath
}

async function killProgram(): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return
  const ended = once(program, 'exit')
  program.kill('SIGKILL')
  await ended
}

async function call<T>(path: string, body: object, token?: string): Promise<T> {
  const response = await fetch(new URL(path, api), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as { success: boolean; message: string; data: T }
  if (!answer.success) throw new Error(`${path}: ${answer.message}`)
  return answer.data
}

async function signUp(email: string): Promise<Person> {
  const account = { nome: 'Ana Souza', email, senha: 'notas-em-dia-2026', tipoPlano: 2 }
  await call('/v1/api/Usuarios', account)
  return { ...account, ...(await logIn(account)) }
}

async function logIn({ email, senha }: { email: string; senha: string }): Promise<{ token: string; wsId: string }> {
  const session = await call<{ token: string; wsId: string }>('/v1/api/Auth', { email, senha })
  secrets.add(session.token)
  return session
}

/** What somebody at the command line has, kept open: each call would check the installation anew. */
async function openAnnouncer(): Promise<typeof tell> {
  const over = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<typeof tell>()
  const operating = operate(readConfig({ ...environment, LOG_LEVEL: 'error' }, environment.DATA_DIR!), (ctx) => {
    ready.resolve(async ({ wsId }, body) => {
      const announcement = { topic: 'aviso', kind: 'alert', header: 'Atenção', body } as const
      expect(await tellWorkspace(ctx, wsId, announcement, 1)).toBe(true)
    })
    return over.promise
  })
  stack.defer(() => operating)
  stack.defer(() => over.resolve())
  return Promise.race([ready.promise, operating.then(() => Promise.reject(new Error('no announcer')))])
}

/** Waits until it is written down that the sessions of `tokens` have had everything they were told. */
async function noted({ wsId }: Person, tokens: string[]): Promise<void> {
  const count = `
    select count(*)::int as n from session s join announcement_position p on p.session_id = s.public_id
     where s.token_hash in (select sha256(convert_to(t, 'UTF8')) from unnest($2::text[]) t)
       and p.announcement_id = (select max(a.id) from announcement a join workspace w on w.id = a.workspace_id where w.public_id = $1)`
  await vi.waitFor(
    async () => expect((await owner.query(count, [wsId, tokens])).rows).toEqual([{ n: tokens.length }]),
    patience,
  )
}

interface Slot {
  connectionId: string
  connectionToken: string
}

async function negotiate(token: string): Promise<Slot> {
  const { status, body } = await ask(`${hub}/negotiate?negotiateVersion=1`, { method: 'POST', token })
  expect(status, body).toBe(200)
  const slot = JSON.parse(body) as Slot
  secrets.add(slot.connectionToken)
  return slot
}

async function attach(token: string, slot?: Slot): Promise<Socket> {
  const socket = await openSocket(slot ? `${hub}?id=${slot.connectionToken}` : hub, { token })
  if (typeof socket === 'number') throw new Error(`the upgrade was refused with ${socket}`)
  return socket
}

/** A WebSocket with its handshake done. */
async function connect(token = carla.token, slot?: Slot): Promise<Socket> {
  const socket = await attach(token, slot)
  socket.ws.send(handshake)
  await vi.waitFor(() => expect(socket.frames.join('').startsWith('{}\x1e')).toBe(true), patience)
  return socket
}

interface Connected {
  slot: Slot
  post: (body: string | Buffer) => Promise<Asked>
}

async function connectStream(token = carla.token): Promise<Connected & { stream: Stream }> {
  const slot = await negotiate(token)
  const stream = await openStream(`${hub}?id=${slot.connectionToken}`, token)
  const post = (body: string | Buffer) => ask(`${hub}?id=${slot.connectionToken}`, { method: 'POST', token, body })
  expect((await post(handshake)).status).toBe(200)
  await stream.heard((record) => Object.keys(record).length === 0)
  return { slot, stream, post }
}

interface Poller extends Connected {
  poll(): Promise<Asked>
  remove(): Promise<Asked>
}

async function connectPolling(token = carla.token): Promise<Poller> {
  const slot = await negotiate(token)
  const address = `${hub}?id=${slot.connectionToken}`
  const poller = {
    slot,
    poll: () => ask(address, { token }),
    post: (body: string | Buffer) => ask(address, { method: 'POST', token, body }),
    remove: () => ask(address, { method: 'DELETE', token }),
  }
  // Before the client has said anything: it waits for this.
  expect(await poller.poll()).toMatchObject({ status: 200, body: '' })
  expect((await poller.post(handshake)).status).toBe(200)
  const answered = await poller.poll()
  expect(answered.status).toBe(200)
  expect(recordsOf(answered.body)[0]).toEqual({})
  return poller
}

const isClose = ({ type }: Record<string, unknown>) => type === 7
const isPing = ({ type }: Record<string, unknown>) => type === 6
const isMessage = ({ type }: Record<string, unknown>) => type === 1
const bodiesOf = (records: Record<string, unknown>[]) =>
  records.filter(isMessage).map(({ arguments: args }) => (args as string[])[1])

/** Says something that is answered, and waits for that: what came before was worked off. */
async function echo(socket: Socket): Promise<void> {
  const invocationId = crypto.randomUUID()
  socket.say({ type: 1, target: 'Eco', arguments: [], invocationId })
  await socket.heard((record) => record.invocationId === invocationId)
}

/** Whether the server ended the connection as if it were welcome to come back. */
async function expectSentAway(socket: Socket): Promise<void> {
  const [close] = await socket.heard(isClose)
  expect(close).toEqual({ type: 7, error: expect.any(String), allowReconnect: true })
  expect(await socket.closed).toBe(1000)
}

describe.concurrent('time', () => {
  test('a client is pinged in time, and only after its handshake', async () => {
    const socket = await attach(carla.token)
    const began = performance.now()
    socket.ws.send(handshake)
    await socket.heard(isPing, 2)
    expect(performance.now() - began).toBeGreaterThanOrEqual(2 * times.ping)
    expect(socket.records()[0]).toEqual({})
    socket.ws.terminate()
  })

  test('an event stream is pinged too, and a poll is not', async () => {
    const [{ stream }, poller] = [await connectStream(carla.token), await connectPolling(carla.token)]
    const held = poller.poll()
    const first = await Promise.race([stream.heard(isPing).then(() => 'ping'), held.then(() => 'poll')])
    expect(first).toBe('ping')
    stream.leave()
    expect((await poller.remove()).status).toBe(202)
    expect(await held).toMatchObject({ status: 204, body: '' })
  })

  test('an idle poll is answered empty, late enough', async () => {
    const poller = await connectPolling(carla.token)
    const began = performance.now()
    const { status, body, headers } = await poller.poll()
    expect({ status, body }).toEqual({ status: 200, body: '' })
    expect(performance.now() - began).toBeGreaterThanOrEqual(times.poll)
    expect(headers).toMatchObject({ 'cache-control': expect.stringContaining('no-store'), pragma: 'no-cache' })
    await poller.remove()
  })

  test('a client that pinged once and fell silent is sent away, one that never pinged is not', async () => {
    const [silent, dribbling, quiet] = [await connect(), await connect(), await connect()]
    const began = performance.now()
    silent.say({ type: 6 })
    dribbling.say({ type: 6 })
    // Bytes that are no record are no sign of life.
    const dribble = setInterval(() => dribbling.ws.send(' '), 200)
    await Promise.all([expectSentAway(silent), expectSentAway(dribbling)])
    clearInterval(dribble)
    expect(performance.now() - began).toBeGreaterThanOrEqual(times.silence)
    await echo(quiet)
    quiet.ws.terminate()
  })

  test('a client that goes on pinging stays', async () => {
    const socket = await connect()
    const began = performance.now()
    const pinging = setInterval(() => socket.say({ type: 6 }), 300)
    await socket.heard(() => performance.now() - began > 1.5 * times.silence)
    clearInterval(pinging)
    await echo(socket)
    expect(socket.records().filter(isClose)).toEqual([])
    socket.ws.terminate()
  })

  test('without a handshake a connection ends, and a slot that nobody attaches to is forgotten', async () => {
    const slot = await negotiate(carla.token)
    const address = `${hub}?id=${slot.connectionToken}`
    const socket = await attach(carla.token)
    const began = performance.now()
    await socket.closed
    expect(performance.now() - began).toBeGreaterThanOrEqual(times.handshake)
    expect(socket.frames).toEqual(['{"error":"Handshake was canceled."}\x1e'])
    const gone = async () => expect(await openSocket(address, { token: carla.token })).toBe(404)
    // The other transports would find it as well.
    await vi.waitFor(
      async () => expect((await ask(address, { method: 'DELETE', token: carla.token })).status).toBe(404),
      patience,
    )
    await gone()
  })

  test('a poller that comes no more is forgotten', async () => {
    const poller = await connectPolling()
    await vi.waitFor(async () => expect((await poller.post('{"type":6}\x1e')).status).toBe(404), patience)
    expect((await poller.poll()).status).toBe(404)
  })
})

describe.concurrent('negotiation', () => {
  const offer = async (query: string, asking: Asking = {}) => {
    const answer = await ask(`${hub}/negotiate${query}`, { method: 'POST', token: carla.token, ...asking })
    const body = JSON.parse(answer.body) as Record<string, unknown>
    if (typeof body.connectionToken === 'string') secrets.add(body.connectionToken)
    return { status: answer.status, type: answer.headers['content-type'], body }
  }
  const unreserved = /^[\w.~-]{22,}$/

  test.each(['?negotiateVersion=1', '?negotiateVersion=2', '?negotiateVersion=99', '?NegotiateVersion=1&x=y'])(
    'version 1 for %s',
    async (query) => {
      const { status, type, body } = await offer(query)
      expect(status).toBe(200)
      expect(type).toContain('application/json')
      expect(body).toEqual({
        negotiateVersion: 1,
        connectionId: expect.stringMatching(unreserved),
        connectionToken: expect.stringMatching(unreserved),
        availableTransports: ['WebSockets', 'ServerSentEvents', 'LongPolling'].map((transport) => ({
          transport,
          transferFormats: expect.arrayContaining(['Text']),
        })),
      })
      expect(body.connectionId).not.toBe(body.connectionToken)
    },
  )

  test.each(['', '?negotiateVersion=0'])('version 0 for "%s": the id opens the connection', async (query) => {
    const { body } = await offer(query)
    expect(body).toMatchObject({ negotiateVersion: 0, connectionId: expect.stringMatching(unreserved) })
    expect(body).not.toHaveProperty('connectionToken')
    secrets.add(String(body.connectionId))
    const socket = await connect(carla.token, { connectionId: '', connectionToken: String(body.connectionId) })
    socket.ws.terminate()
  })

  test.each(['x', '1.5', '', '1x'])('the version "%s" is an error and no connection', async (version) => {
    const { status, body } = await offer(`?negotiateVersion=${version}`)
    expect(status).toBe(200)
    expect(body).toEqual({ error: expect.any(String) })
  })

  test('stateful reconnect is granted to nobody who did not ask, and a body or its type do not matter', async () => {
    const bodies: Asking[] = [
      {},
      { body: '' },
      { body: 'x', headers: { 'content-type': 'text/plain;charset=UTF-8' } },
      { headers: { 'content-length': '0' } },
    ]
    for (const asking of bodies)
      expect((await offer('?negotiateVersion=1', asking)).body).not.toHaveProperty('useStatefulReconnect')
  })

  test('no two connections are alike', async () => {
    const offers = await Promise.all(Array.from({ length: 5 }, () => negotiate(carla.token)))
    expect(new Set(offers.flatMap(({ connectionId, connectionToken }) => [connectionId, connectionToken])).size).toBe(
      10,
    )
  })
})

describe.concurrent('handshake and records', () => {
  test.each([1, 2])('a handshake of version %d is answered first and by nothing but {}', async (version) => {
    const socket = await attach(carla.token, await negotiate(carla.token))
    socket.ws.send(`{"version":${version},"extra":null,"protocol":"json"}\x1e`)
    await echo(socket)
    expect(socket.records()[0]).toEqual({})
    socket.ws.terminate()
  })

  test.each([
    '{"protocol":"messagepack","version":1}\x1e',
    '{"protocol":"json","version":3}\x1e',
    '{"protocol":"json"}\x1e',
    '{"version":1}\x1e',
    '{"type":6}\x1e',
    'no json\x1e',
    '[]\x1e',
    '\x1e',
    `${'x'.repeat(recordBytesMax)}`,
  ])('%#: a handshake that is none is answered with an error, and the connection ends', async (first) => {
    const socket = await attach(carla.token)
    socket.ws.send(first)
    await socket.closed
    expect(socket.records()).toEqual([{ error: expect.any(String) }])
  })

  test('records are read wherever messages, frames and characters are cut', async () => {
    const socket = await attach(carla.token)
    for (const letter of handshake) socket.ws.send(letter)
    const called = (invocationId: string) => ({ type: 1, target: 'Ação ✓', arguments: [], invocationId })
    const bytes = Buffer.from(`${JSON.stringify(called('a'))}\x1e{"type":6}\x1e${JSON.stringify(called('b'))}\x1e`)
    // As one message in frames of one byte each.
    for (const [index, byte] of bytes.entries())
      socket.ws.send(Buffer.from([byte]), { binary: false, fin: index === bytes.length - 1 })
    // Several records and the beginning of one, and its rest.
    const more = `${JSON.stringify(called('c'))}\x1e${JSON.stringify(called('d'))}\x1e`
    socket.ws.send(more.slice(0, -20))
    socket.ws.send(more.slice(-20))
    const completions = await socket.heard(({ type }) => type === 3, 4)
    expect(completions).toEqual(
      ['a', 'b', 'c', 'd'].map((invocationId) => ({
        type: 3,
        invocationId,
        error: "Unknown hub method 'Ação ✓'",
      })),
    )
    socket.ws.terminate()
  })

  test('bodies may end in the middle of a record and of a character', async () => {
    const { stream, post } = await connectStream()
    const bytes = Buffer.from('{"arguments":[],"target":"Ação","invocationId":"1","type":1}\x1e')
    const cut = bytes.indexOf('ç') + 1
    expect(await post(bytes.subarray(0, cut))).toMatchObject({ status: 200, body: '' })
    expect((await post(bytes.subarray(cut))).status).toBe(200)
    const [completion] = await stream.heard(({ type }) => type === 3)
    expect(completion).toEqual({ type: 3, invocationId: '1', error: "Unknown hub method 'Ação'" })
    stream.leave()
  })

  test('text that is no UTF-8 ends the connection, and no other', async () => {
    const [broken, other] = [await connect(), await connect()]
    broken.ws.send(Buffer.from([0x22, 0xc3, 0x28, 0x22, 0x1e]), { binary: false })
    expect(await broken.closed).not.toBe(1000)
    await echo(other)
    other.ws.terminate()
  })

  test('what is unknown is answered where an answer is wanted, and changes nothing', async () => {
    const socket = await connect()
    const ignored = [
      { type: 1, target: 'Nada', arguments: [1] },
      { type: 5, invocationId: 'x' },
      { type: 2, invocationId: 'x', item: 1 },
      { type: 3, invocationId: 'x', result: 1 },
      { type: 99, whatever: null },
      { type: 6, headers: {}, extra: [] },
    ]
    socket.say(
      ...ignored,
      { type: 1, target: 'JoinWorkspace', arguments: [bruno.wsId], invocationId: 'join', headers: { a: 'b' } },
      { type: 4, target: 'Stream', arguments: [], invocationId: 'stream' },
    )
    await echo(socket)
    expect(socket.records().filter(({ type }) => type === 3)).toEqual([
      { type: 3, invocationId: 'join', error: "Unknown hub method 'JoinWorkspace'" },
      { type: 3, invocationId: 'stream', error: "Unknown hub method 'Stream'" },
      { type: 3, invocationId: expect.any(String), error: "Unknown hub method 'Eco'" },
    ])
    socket.ws.terminate()
  })

  test.each([
    '{"type":1,"target":"X"}\x1e',
    '{"type":1,"target":"X","arguments":{}}\x1e',
    '{"type":1,"arguments":[]}\x1e',
    '{"type":1,\x1e',
    'null\x1e',
    '"x"\x1e',
    '{}\x1e',
    handshake,
  ])('%j breaks the protocol: the client is sent away to come back', async (record) => {
    const socket = await connect()
    socket.ws.send(record)
    await expectSentAway(socket)
  })

  test('a client that says goodbye is let go, and its connection is forgotten at once', async () => {
    const slot = await negotiate(carla.token)
    const socket = await connect(carla.token, slot)
    socket.say({ type: 7 })
    const [close] = await socket.heard(isClose)
    expect(close).toMatchObject({ type: 7 })
    expect(close?.allowReconnect ?? false).toBe(false)
    expect(await socket.closed).toBe(1000)
    expect(await openSocket(`${hub}?id=${slot.connectionToken}`, { token: carla.token })).toBe(404)
  })

  test('a record may be as large as allowed and no larger, a message larger than a record', async () => {
    const filled = (length: number) => `{"type":6,"x":"${'x'.repeat(length - 18)}"}\x1e`
    expect(filled(100)).toHaveLength(100)
    const [good, many, bad, endless, other] = [
      await connect(),
      await connect(),
      await connect(),
      await connect(),
      await connect(),
    ]
    good.ws.send(filled(recordBytesMax))
    await echo(good)
    many.ws.send('{"type":6}\x1e'.repeat(4_000))
    await echo(many)
    bad.ws.send(filled(recordBytesMax + 1))
    endless.ws.send('x'.repeat(recordBytesMax))
    await Promise.all([expectSentAway(bad), expectSentAway(endless)])
    await echo(other)
    for (const socket of [good, many, other]) socket.ws.terminate()
  })

  test('a body that is too large is refused, and its connection ends', async () => {
    const { stream, post } = await connectStream()
    const refused = await post(Buffer.alloc(bodyBytesMax + 1, '{"type":6}\x1e'))
    expect(refused.status).toBe(413)
    await stream.ended
    expect(stream.records().at(-1)).toMatchObject({ type: 7, allowReconnect: true })
    expect((await post('{"type":6}\x1e')).status).toBe(404)
  })
})

describe.concurrent('transports', () => {
  test('an event stream begins at once, is for nobody else, and its end is the end', async () => {
    const { slot, stream, post } = await connectStream()
    expect(stream.status).toBe(200)
    expect(stream.headers).toMatchObject({
      'content-type': expect.stringContaining('text/event-stream'),
      'cache-control': expect.stringContaining('no-store'),
      'x-accel-buffering': 'no',
    })
    expect(stream.headers['content-encoding'] ?? 'identity').toBe('identity')
    expect(stream.read()).toMatch(/^:\r\n/)
    const address = `${hub}?id=${slot.connectionToken}`
    expect((await openStream(address, carla.token)).status).toBe(409)
    expect((await ask(address, { token: carla.token })).status).toBe(400)
    expect((await ask(address, { method: 'DELETE', token: carla.token })).status).toBe(400)
    stream.leave()
    await vi.waitFor(async () => expect((await post('{"type":6}\x1e')).status).toBe(404), patience)
  })

  test('a WebSocket is the only way of its connection', async () => {
    const slot = await negotiate(carla.token)
    const socket = await connect(carla.token, slot)
    const address = `${hub}?id=${slot.connectionToken}`
    expect(await openSocket(address, { token: carla.token })).toBe(409)
    expect((await openStream(address, carla.token)).status).toBe(400)
    expect((await ask(address, { method: 'POST', token: carla.token, body: '{"type":6}\x1e' })).status).toBe(405)
    expect((await ask(address, { method: 'DELETE', token: carla.token })).status).toBe(400)
    expect((await ask(address, { method: 'PUT', token: carla.token })).status).toBe(405)
    await echo(socket)
    expect(socket.ws.extensions).toBe('')
    expect(socket.ws.protocol).toBe('')
    socket.ws.terminate()
  })

  test('a second poll ends the first, and DELETE all', async () => {
    const poller = await connectPolling(carla.token)
    const first = poller.poll()
    const other = async () => {
      const { status, body } = await poller.post(`{"type":1,"target":"X","arguments":[],"invocationId":"1"}\x1e`)
      expect({ status, body }).toEqual({ status: 200, body: '' })
    }
    const second = poller.poll()
    // Whichever the server saw first.
    const ended = await Promise.race([first, second])
    expect(ended).toMatchObject({ status: 204, body: '' })
    await other()
    const answers = await Promise.all([first, second])
    const [good, ...others] = answers.filter(({ status }) => status === 200)
    expect(others).toEqual([])
    expect(recordsOf(good!.body)).toMatchObject([{ type: 3 }])
    const held = poller.poll()
    expect((await poller.remove()).status).toBe(202)
    expect([204, 404]).toContain((await held).status)
    expect((await poller.poll()).status).toBe(404)
    expect((await poller.post('{"type":6}\x1e')).status).toBe(404)
    expect((await poller.remove()).status).toBe(404)
  })

  test('what comes between two polls waits for the next, in order', async () => {
    const poller = await connectPolling(carla.token)
    const record = (id: number) => `{"type":1,"target":"X","arguments":[],"invocationId":"${id}"}\x1e`
    for (const id of [1, 2, 3]) expect((await poller.post(record(id))).status).toBe(200)
    const { status, body } = await poller.poll()
    expect(status).toBe(200)
    expect(recordsOf(body).map(({ invocationId }) => invocationId)).toEqual(['1', '2', '3'])
    await poller.post('{"type":7}\x1e')
    const last = await poller.poll()
    expect(recordsOf(last.body)).toMatchObject([{ type: 7 }])
    expect([204, 404]).toContain((await poller.poll()).status)
  })

  test('a request without an id is bad, and one with an unknown id finds nothing', async () => {
    for (const [query, status] of [
      ['', 400],
      ['?id=nobody', 404],
    ] as const) {
      const address = hub + query
      for (const method of ['GET', 'POST', 'DELETE'])
        expect((await ask(address, { method, token: carla.token })).status, `${method} ${query}`).toBe(status)
      expect((await openStream(`${hub}?${query.slice(1)}`, carla.token)).status).toBe(status)
    }
    expect(await openSocket(`${hub}?id=nobody`, { token: carla.token })).toBe(404)
  })
})

/** What each kind of request is answered, with one and the same id. */
async function statuses(id: string, token: string | undefined): Promise<Record<string, number>> {
  const address = `${hub}?id=${id}`
  const request = async (asking: Asking) => (await ask(address, { token, ...asking })).status
  const socket = await openSocket(address, { token })
  return {
    socket: typeof socket === 'number' ? socket : 101,
    stream: await request({ headers: { accept: 'text/event-stream' } }),
    poll: await request({}),
    post: await request({ method: 'POST', body: handshake }),
    delete: await request({ method: 'DELETE' }),
  }
}
const all = (status: number) => ({ socket: status, stream: status, poll: status, post: status, delete: status })

describe.concurrent('who may', () => {
  test('every kind of request wants a token that is good, wherever the connection is known', async () => {
    const { connectionToken } = await negotiate(carla.token)
    for (const token of [undefined, 'wrong', `${carla.token}x`, carla.token.toLowerCase(), 'a b', 'x'.repeat(4_000)]) {
      expect(await statuses(connectionToken, token), token).toEqual(all(401))
      expect((await ask(`${hub}/negotiate?negotiateVersion=1`, { method: 'POST', token })).status).toBe(401)
    }
    for (const authorization of [`Basic ${carla.token}`, carla.token, 'Bearer', 'Bearer ']) {
      const headers = { authorization }
      expect((await ask(`${hub}/negotiate`, { method: 'POST', headers })).status, authorization).toBe(401)
    }
    const headers = { authorization: `bEARER ${carla.token}` }
    expect((await ask(`${hub}/negotiate`, { method: 'POST', headers })).status).toBe(200)
  })

  test('a token in the address serves WebSockets and event streams only', async () => {
    const own = `access_token=${encodeURIComponent(carla.token)}`
    const slot = await negotiate(carla.token)
    const address = `${hub}?id=${slot.connectionToken}&${own}`
    for (const method of ['GET', 'POST', 'DELETE']) expect((await ask(address, { method })).status, method).toBe(401)
    expect((await ask(`${hub}/negotiate?${own}`, { method: 'POST' })).status).toBe(401)
    const socket = await openSocket(address)
    if (typeof socket === 'number') throw new Error(`refused with ${socket}`)
    socket.ws.terminate()
    expect(await openSocket(`${hub}?access_token=wrong`)).toBe(401)
    const other = await negotiate(carla.token)
    const stream = await openStream(`${hub}?id=${other.connectionToken}`, carla.token)
    expect(stream.status).toBe(200)
    stream.leave()
  })

  test('the connection of another workspace is closed to everybody, and a public id opens none', async () => {
    const mine = await negotiate(carla.token)
    expect(await statuses(mine.connectionToken, bruno.token)).toEqual(all(403))
    expect(await statuses(mine.connectionId, carla.token)).toEqual(all(404))
    expect(await statuses(mine.connectionId, bruno.token)).toEqual(all(404))
    // It is as it was.
    const socket = await connect(carla.token, mine)
    expect(await statuses(mine.connectionToken, bruno.token)).toEqual(all(403))
    await echo(socket)
    socket.ws.terminate()
  })

  test('pages of other origins are answered when they are known, and no others', async () => {
    const preflight = async (origin: string) => {
      const headers = {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,x-requested-with,x-signalr-user-agent',
      }
      return ask(`${hub}/negotiate?negotiateVersion=1`, { method: 'OPTIONS', headers })
    }
    const known = await preflight(friend)
    expect(known.status).toBeGreaterThanOrEqual(200)
    expect(known.status).toBeLessThan(300)
    const words = (name: string) => String(known.headers[name]).toLowerCase().split(/,\s*/)
    expect(words('access-control-allow-methods')).toEqual(expect.arrayContaining(['get', 'post', 'delete']))
    expect(words('access-control-allow-headers')).toEqual(
      expect.arrayContaining(['authorization', 'x-requested-with', 'x-signalr-user-agent', 'content-type']),
    )
    const allowed = {
      'access-control-allow-origin': friend,
      'access-control-allow-credentials': 'true',
      vary: expect.stringMatching(/origin/i),
    }
    expect(known.headers).toMatchObject(allowed)
    for (const token of [carla.token, 'wrong'])
      expect(
        (await ask(`${hub}/negotiate`, { method: 'POST', token, headers: { origin: friend } })).headers,
      ).toMatchObject(allowed)
    const stranger = 'https://outro.example'
    const { headers } = await ask(`${hub}/negotiate`, {
      method: 'POST',
      token: carla.token,
      headers: { origin: stranger },
    })
    for (const seen of [headers, (await preflight(stranger)).headers])
      expect(seen).not.toHaveProperty('access-control-allow-origin')

    expect(await openSocket(hub, { token: carla.token, origin: stranger })).toBe(403)
    expect(await openSocket(hub, { token: carla.token, origin: 'null' })).toBe(403)
    for (const origin of [friend, api, undefined]) {
      const socket = await openSocket(hub, { token: carla.token, origin })
      if (typeof socket === 'number') throw new Error(`${origin} was refused with ${socket}`)
      socket.ws.terminate()
    }
  })

  test('whose session is ended elsewhere is cut off by every transport and not asked back', async () => {
    const [staying, leaving] = [await logIn(carla), await logIn(carla)]
    const [other, socket] = [await connect(staying.token), await connect(leaving.token)]
    const { stream } = await connectStream(leaving.token)
    const poller = await connectPolling(leaving.token)
    const held = poller.poll()
    await call('/v1/api/Auth/sair', {}, leaving.token)
    const [close] = await socket.heard(isClose)
    expect(close?.allowReconnect ?? false).toBe(false)
    expect(await socket.closed).toBe(1000)
    await stream.ended
    expect((await stream.heard(isClose))[0]?.allowReconnect ?? false).toBe(false)
    expect(recordsOf((await held).body)).toMatchObject([{ type: 7 }])
    expect((await poller.poll()).status).toBe(401)
    expect((await ask(`${hub}/negotiate`, { method: 'POST', token: leaving.token })).status).toBe(401)
    await echo(other)
    other.ws.terminate()
  })
})

describe.concurrent('messages', () => {
  test('arrive by every transport, byte by byte as described, and nowhere else', async () => {
    const { token } = await logIn(ana)
    const [socket, stranger] = [await connect(token), await connect(bruno.token)]
    const [{ stream }, { stream: strangers }] = [await connectStream(token), await connectStream(bruno.token)]
    const poller = await connectPolling(token)
    const pollerHears = (async () => {
      for (;;) {
        const { status, body } = await poller.poll()
        expect(status).toBe(200)
        if (body.includes('palavra')) return body
      }
    })()
    await tell(ana, 'uma palavra: "ação" ✓')
    const own = (record: Record<string, unknown>) => bodiesOf([record])[0]?.includes('palavra') === true
    const record = JSON.stringify({
      type: 1,
      target: ana.wsId,
      arguments: ['Atenção', 'uma palavra: "ação" ✓', 'alert'],
    })
    await socket.heard(own)
    await stream.heard(own)
    expect(socket.frames.filter((frame) => frame.includes('palavra'))).toEqual([`${record}\x1e`])
    expect(stream.read()).toContain(`data: ${record}\x1e\r\n\r\n`)
    expect(await pollerHears).toContain(`${record}\x1e`)

    // Whoever is told something by the same way afterwards was not told this before.
    await tell(bruno, 'para Bruno')
    await Promise.all(
      [stranger, strangers].map((client) => client.heard((told) => bodiesOf([told])[0] === 'para Bruno')),
    )
    for (const client of [stranger, strangers]) {
      // Other tests tell Bruno things at the same time.
      const told = client.records().filter(isMessage)
      expect(told).toContainEqual({ type: 1, target: bruno.wsId, arguments: ['Atenção', 'para Bruno', 'alert'] })
      expect(told.map(({ target }) => target)).toEqual(told.map(() => bruno.wsId))
      expect(JSON.stringify(told)).not.toContain('palavra')
    }
    expect(JSON.stringify([socket.records(), stream.records()])).not.toContain('para Bruno')
    for (const client of [socket, stranger]) client.ws.terminate()
    for (const each of [stream, strangers]) each.leave()
    await poller.remove()
  })

  test('reach all pages of one session that came at the same moment', async () => {
    const { token } = await logIn(ana)
    const pages = await Promise.all(Array.from({ length: 8 }, () => connect(token)))
    await tell(ana, 'para todas as páginas')
    for (const page of pages) await page.heard((record) => bodiesOf([record])[0] === 'para todas as páginas')
    for (const page of pages) page.ws.terminate()
  })

  test('that a session missed come when it is back: once, in their order, and not what it had', async () => {
    const { token } = await logIn(dora)
    const own = (socket: Socket) => bodiesOf(socket.records()).filter((body) => /^falta \d$/.test(body ?? ''))
    const first = await connect(token)
    await tell(dora, 'falta 1')
    await vi.waitFor(() => expect(own(first)).toEqual(['falta 1']), patience)
    await noted(dora, [token])
    first.ws.terminate()
    for (const number of [2, 3, 4]) await tell(dora, `falta ${number}`)
    const second = await connect(token)
    await vi.waitFor(() => expect(own(second)).toEqual(['falta 2', 'falta 3', 'falta 4']), patience)
    await tell(dora, 'falta 5')
    await vi.waitFor(() => expect(own(second).at(-1)).toBe('falta 5'), patience)
    await noted(dora, [token])
    second.ws.terminate()
    await tell(dora, 'falta 6')
    const { stream } = await connectStream(token)
    await stream.heard((record) => bodiesOf([record])[0] === 'falta 6')
    expect(bodiesOf(stream.records()).filter((body) => body?.startsWith('falta'))).toEqual(['falta 6'])
    expect(own(second)).toEqual(['falta 2', 'falta 3', 'falta 4', 'falta 5'])
    stream.leave()
  })
})

const transports = [
  ['WebSockets', HttpTransportType.WebSockets],
  ['ServerSentEvents', HttpTransportType.ServerSentEvents],
  ['LongPolling', HttpTransportType.LongPolling],
] as const

function client(token: string, transport: HttpTransportType): { connection: HubConnection; heard: string[] } {
  const connection = new HubConnectionBuilder()
    .withUrl(hub, { accessTokenFactory: () => token, transport })
    .withAutomaticReconnect(Array.from({ length: 400 }, () => 50))
    .configureLogging(LogLevel.None)
    .build()
  const heard: string[] = []
  connection.on(ana.wsId, (_, body: string) => heard.push(body))
  return { connection, heard }
}

describe.concurrent.each(transports)('the official client by %s', (name, transport) => {
  test('starts, hears, is told of unknown methods, and stops', async () => {
    const { token } = await logIn(ana)
    const { connection, heard } = client(token, transport)
    await connection.start()
    await tell(ana, `para ${name}`)
    await vi.waitFor(() => expect(heard).toContain(`para ${name}`), patience)
    await expect(connection.invoke('Nada', 1)).rejects.toThrow("Unknown hub method 'Nada'")
    await connection.stop()
  })
})

test('after the program was killed clients come back by themselves and hear once what they missed', async () => {
  const tokens = await Promise.all(transports.map(async () => (await logIn(ana)).token))
  const clients = transports.map(([, transport], index) => client(tokens[index]!, transport))
  for (const { connection } of clients) await connection.start()
  const known = ['antes', 'enquanto 1', 'enquanto 2', 'depois']
  const own = (heard: string[]) => heard.filter((body) => known.includes(body))
  await tell(ana, 'antes')
  for (const { heard } of clients) await vi.waitFor(() => expect(own(heard)).toEqual(['antes']), patience)
  await noted(ana, tokens)
  await killProgram()
  await tell(ana, 'enquanto 1')
  await tell(ana, 'enquanto 2')
  environment.PORT = new URL(api).port
  await startProgram()
  for (const { heard } of clients)
    await vi.waitFor(() => expect(own(heard)).toEqual(['antes', 'enquanto 1', 'enquanto 2']), patience)
  await tell(ana, 'depois')
  for (const { heard } of clients) await vi.waitFor(() => expect(own(heard)).toEqual(known), patience)
  for (const { connection } of clients) await connection.stop()
})

test('what opens a session or a connection is never written to a log', async () => {
  await vi.waitFor(() => expect(output).toContain('connection opened'), patience)
  expect(secrets.size).toBeGreaterThan(20)
  const written = [...secrets].filter((secret) => output.includes(secret))
  expect(written).toEqual([])
  expect(output).not.toContain('access_token=')
})
