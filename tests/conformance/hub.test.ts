import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpTransportType, type HubConnection, HubConnectionBuilder, LogLevel } from '@microsoft/signalr'
import { freePort } from '@vigia/embedded-postgres/port'
import { operate, readConfig, tellWorkspace } from '@vigia/server/start'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createDatabase } from '../support/database.ts'
import {
  type Asked,
  ask,
  handshake,
  hubPath,
  openSocket,
  openStream,
  recordsOf,
  type Socket,
  type Stream,
} from '../support/hub-wire.ts'

// The hub of the assembled product, on the wire and by the official client: who may, what they are told, and what survives a kill. What the
// protocol asks for otherwise is tested in packages/signalr. The program is a process of its own, so that it can be killed, and so that all it
// writes can be looked through for what was secret.
const patience = { timeout: 20_000, interval: 10 }
const friend = 'https://painel.example'

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
    PORT: String(await freePort()),
    DATA_DIR: directory,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'debug',
    CORS_ORIGINS: friend,
  }
  await startProgram()
  stack.defer(() => killProgram())
  ana = await signUp('ana@exemplo.com.br')
  bruno = await signUp('bruno@exemplo.com.br')
  carla = await signUp('carla@exemplo.com.br')
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
const isMessage = ({ type }: Record<string, unknown>) => type === 1
const bodiesOf = (records: Record<string, unknown>[]) =>
  records.filter(isMessage).map(({ arguments: args }) => (args as string[])[1])

/** Says something that is answered, and waits for that: what came before was worked off. */
async function echo(socket: Socket): Promise<void> {
  const invocationId = crypto.randomUUID()
  socket.say({ type: 1, target: 'Eco', arguments: [], invocationId })
  await socket.heard((record) => record.invocationId === invocationId)
}

describe.concurrent('who may', () => {
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
    // A poll that came in after the end of the session is refused at once.
    const { status, body } = await held
    if (status !== 401) expect(recordsOf(body)).toMatchObject([{ type: 7 }])
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
})

const transports = [
  ['WebSockets', HttpTransportType.WebSockets],
  ['ServerSentEvents', HttpTransportType.ServerSentEvents],
  ['LongPolling', HttpTransportType.LongPolling],
] as const

function client(token: string, transport: HttpTransportType): { connection: HubConnection; heard: string[] } {
  const connection = new HubConnectionBuilder()
    .withUrl(hub, { accessTokenFactory: () => token, transport })
    .withAutomaticReconnect(Array.from({ length: 1_500 }, () => 50))
    .configureLogging(LogLevel.None)
    .build()
  const heard: string[] = []
  connection.on(ana.wsId, (_, body: string) => heard.push(body))
  return { connection, heard }
}

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
  await startProgram()
  for (const { heard } of clients)
    await vi.waitFor(() => expect(own(heard)).toEqual(['antes', 'enquanto 1', 'enquanto 2']), patience)
  await tell(ana, 'depois')
  for (const { heard } of clients) await vi.waitFor(() => expect(own(heard)).toEqual(known), patience)
  for (const { connection } of clients) await connection.stop()
})

test('what opens a session or a connection is never written to a log', async () => {
  await vi.waitFor(() => expect(output).toContain('connection opened'), patience)
  expect(secrets.size).toBeGreaterThan(10)
  const written = [...secrets].filter((secret) => output.includes(secret))
  expect(written).toEqual([])
  expect(output).not.toContain('access_token=')
})
