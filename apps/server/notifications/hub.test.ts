import { createHash } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { HttpTransportType, type HubConnection, HubConnectionBuilder, LogLevel } from '@microsoft/signalr'
import { hubWithoutEcho } from '@vigia/contract/workspace'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { useFolder } from '../../../tests/support/folder.ts'
import { quickPasswords } from '../../../tests/support/passwords.ts'
import { useDatabase, useOwner } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import { doorLimits } from '../platform/http/door-limits.ts'
import { type Config, readConfig, type Server, start } from '../start.ts'
import { tell as tellAs, tellWorkspace } from './notifications.ts'

const patience = { timeout: 25_000, interval: 20 }
const database = await useDatabase()
const owner = await useOwner(database.url)
const ctx = { db: database.db }
const dataDir = await useFolder()
// Two processes of one installation.
let one: Server
let two: Server

const metricsToken = 'token-das-metricas'
const config = (change: Partial<Config> = {}): Config => ({
  ...readConfig(
    { PORT: '0', DATA_DIR: dataDir, DATABASE_URL: database.url, LOG_LEVEL: 'silent', METRICS_TOKEN: metricsToken },
    process.cwd(),
  ),
  passwordCost: quickPasswords,
  ...change,
})

beforeAll(async () => {
  one = await start(config(), { roles: ['api'] })
  two = await start(config(), { roles: ['api'] })
})
afterAll(async () => {
  await two[Symbol.asyncDispose]()
  await one[Symbol.asyncDispose]()
})

interface Login {
  email: string
  token: string
  wsId: string
}

const call = (url: string, path: string, { token, json }: { token?: string; json?: object } = {}) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(json ?? {}),
  })

let people = 0
async function signUp(server = one): Promise<Login> {
  const email = `ana${++people}@exemplo.com.br`
  await call(server.url, '/v1/api/Usuarios', { json: { nome: 'Ana Souza', email, senha: 'segredo1' } })
  return logIn(email, server)
}
async function logIn(email: string, server = one): Promise<Login> {
  const response = await call(server.url, '/v1/api/Auth', { json: { email, senha: 'segredo1' } })
  return { email, ...((await response.json()) as { data: { token: string; wsId: string } }).data }
}

interface Page {
  connection: HubConnection
  got: string[]
  [Symbol.asyncDispose](): Promise<void>
}

function openPage(url: string, { token, wsId }: Login, transport = HttpTransportType.WebSockets, query = ''): Page {
  const connection = new HubConnectionBuilder()
    .withUrl(`${url}/notification-hub${query}`, { accessTokenFactory: () => token, transport })
    .withAutomaticReconnect([0, 50, 100, 200, 400, 800, 1600, 3200])
    .configureLogging(LogLevel.None)
    .build()
  const got: string[] = []
  connection.on(wsId, (...args: string[]) => got.push(args.join('|')))
  return { connection, got, [Symbol.asyncDispose]: () => connection.stop() }
}

async function enter(server: Server, login: Login, transport?: HttpTransportType, query?: string): Promise<Page> {
  const page = openPage(server.url, login, transport, query)
  await page.connection.start()
  return page
}

const tell = (wsId: string, body: string, count = 1) =>
  tellWorkspace(ctx, wsId, { topic: 'aviso', kind: 'alert', header: 'Aviso', body }, count)
const line = (body: string) => `Aviso|${body}|alert`
const gets = (page: Page, ...bodies: string[]) => vi.waitFor(() => expect(page.got).toEqual(bodies.map(line)), patience)
const positionOf = async ({ wsId }: Login) => {
  const { rows } = await owner.query(
    `select p.announcement_id::int as id from announcement_position p join workspace w on w.id = p.workspace_id where w.public_id = $1`,
    [wsId],
  )
  return rows.map(({ id }) => id as number)
}

describe.each([
  ['WebSockets', HttpTransportType.WebSockets],
  ['event streams', HttpTransportType.ServerSentEvents],
  ['long polling', HttpTransportType.LongPolling],
])('by %s', (_, transport) => {
  test('an announcement arrives at the pages of every process, in order', async () => {
    const ana = await signUp()
    await using here = await enter(one, ana, transport)
    await using there = await enter(two, ana, transport)
    await tell(ana.wsId, 'primeira')
    await tell(ana.wsId, 'segunda')
    await gets(here, 'primeira', 'segunda')
    await gets(there, 'primeira', 'segunda')
  })

  test('what was missed is there after connecting again, once', async () => {
    const ana = await signUp()
    const page = await enter(one, ana, transport)
    await tell(ana.wsId, 'vista')
    await gets(page, 'vista')
    await vi.waitFor(async () => expect(await positionOf(ana)).toHaveLength(1), patience)
    await page.connection.stop()
    await tell(ana.wsId, 'perdida')
    await using again = await enter(two, ana, transport)
    await gets(again, 'perdida')
    await vi.waitFor(async () => expect(await positionOf(ana)).not.toContain(undefined), patience)
    await tell(ana.wsId, 'nova')
    await gets(again, 'perdida', 'nova')
  })
})

test('a page that wants no echo is told what others did, and not what was done in its own session', async () => {
  const ana = await signUp()
  await using echoing = await enter(one, ana)
  await using page = await enter(two, ana, undefined, `?${hubWithoutEcho}=1`)
  await using elsewhere = await enter(two, await logIn(ana.email), undefined, `?${hubWithoutEcho}=1`)
  const { rows } = await owner.query<{ workspace_id: number; session_id: string }>(
    'select workspace_id, public_id as session_id from session where token_hash = $1',
    [createHash('sha256').update(ana.token).digest()],
  )
  const [{ workspace_id: workspaceId, session_id: sessionId }] = rows as [(typeof rows)[number]]
  const announcement = { topic: 'aviso', kind: 'alert', header: 'Aviso', body: 'dela' } as const
  await inWorkspace(ctx, workspaceId, (ctx) => tellAs(ctx, workspaceId, announcement, { sessionId }))
  await tell(ana.wsId, 'de outros')
  await gets(echoing, 'dela', 'de outros')
  await gets(elsewhere, 'dela', 'de outros')
  await gets(page, 'de outros')
})

test('who sees some companies only is told of these, and what the operator writes', async () => {
  const ana = await signUp()
  await using all = await enter(one, ana)
  const { rows: accounts } = await owner.query<{ workspaceId: number; id: number }>(
    'select workspace_id as "workspaceId", id from account where email = $1',
    [ana.email],
  )
  const [{ workspaceId, id }] = accounts as [(typeof accounts)[number]]
  const { rows: companies } = await owner.query<{ id: number }>(
    `insert into company (workspace_id, cnpj, name, search, uf)
     values ($1, '00000000000001', 'E', 'e', 35), ($1, '00000000000002', 'E', 'e', 35) returning id`,
    [workspaceId],
  )
  const ids = companies.map((company) => company.id).sort((one, other) => one - other) as [number, number]
  await owner.query("update account set role = 'fiscal', all_companies = false where workspace_id = $1", [workspaceId])
  await owner.query('insert into account_company values ($1, $2, $3)', [workspaceId, id, ids[0]])
  await using some = await enter(two, await logIn(ana.email))
  const tellOf = (body: string, companies: number[] | null) =>
    inWorkspace(ctx, workspaceId, (ctx) =>
      tellAs(ctx, workspaceId, { topic: 'empresa', kind: 'alert', header: 'Aviso', body }, { what: 'x', companies }),
    )
  await tellOf('dela', [ids[0]!])
  await tellOf('de outra', [ids[1]!])
  await tellOf('das duas', ids)
  await tellOf('de todas', null)
  await tell(ana.wsId, 'de quem cuida do sistema')
  await gets(all, 'dela', 'de outra', 'das duas', 'de todas', 'de quem cuida do sistema')
  await gets(some, 'dela', 'de quem cuida do sistema')
})

test('what was announced since the login waits for the first connection, what was before it does not', async () => {
  const ana = await signUp()
  await tell(ana.wsId, 'antes')
  const later = await logIn(ana.email)
  await tell(ana.wsId, 'depois')
  await using page = await enter(two, later)
  await gets(page, 'depois')
  await using first = await enter(two, ana)
  await gets(first, 'antes', 'depois')
})

test('a thousand that were missed are the newest five hundred; a thousand that are live are all', async () => {
  const ana = await signUp()
  await using live = await enter(one, ana)
  await tell(ana.wsId, 'x', 1000)
  await vi.waitFor(() => expect(live.got).toHaveLength(1000), patience)
  const other = await logIn(ana.email)
  await tell(ana.wsId, 'y', 1000)
  await using late = await enter(one, other)
  await vi.waitFor(() => expect(late.got).toHaveLength(500), patience)
  await tell(ana.wsId, 'z')
  await vi.waitFor(() => expect(late.got).toHaveLength(501), patience)
})

test('a page that is open hears what another page of its session hears, however late its turn comes', async () => {
  const ana = await signUp()
  await using here = await enter(one, ana)
  await tell(ana.wsId, 'antes')
  await gets(here, 'antes')
  await vi.waitFor(async () => expect(await positionOf(ana)).toHaveLength(1), patience)
  // Blocks reads of the sessions' positions until this transaction ends.
  const blocker = new pg.Client({ connectionString: database.url })
  await blocker.connect()
  await blocker.query('begin')
  await blocker.query('lock table announcement_position in access exclusive mode')
  await using there = await enter(two, ana)
  await tell(ana.wsId, 'aberta nas duas')
  await gets(here, 'antes', 'aberta nas duas')
  await blocker.query(
    `update announcement_position p set announcement_id = (select max(id) from announcement a where a.workspace_id = p.workspace_id)
       from workspace w where w.id = p.workspace_id and w.public_id = $1`,
    [ana.wsId],
  )
  await blocker.query('commit')
  await blocker.end()
  await gets(there, 'aberta nas duas')
})

test('nothing of another workspace is ever on the wire', async () => {
  const [ana, bia] = [await signUp(), await signUp()]
  const negotiated = await call(one.url, '/notification-hub/negotiate?negotiateVersion=1', bia)
  const { connectionToken } = (await negotiated.json()) as { connectionToken: string }
  const frames: string[] = []
  const socket = new WebSocket(
    `${one.url.replace('http', 'ws')}/notification-hub?id=${connectionToken}&access_token=${bia.token}`,
  )
  socket.addEventListener('message', ({ data }) => frames.push(String(data)))
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  socket.send('{"protocol":"json","version":1}\x1e')
  await vi.waitFor(() => expect(frames).toEqual(['{}\x1e']), patience)
  await using page = await enter(one, ana)
  await tell(ana.wsId, 'segredo da Ana')
  await gets(page, 'segredo da Ana')
  await tell(bia.wsId, 'da Bia')
  await vi.waitFor(() => expect(frames).toHaveLength(2), patience)
  expect(frames[1]).toBe(
    `${JSON.stringify({ type: 1, target: bia.wsId, arguments: ['Aviso', 'da Bia', 'alert'] })}\x1e`,
  )
  socket.close()
})

describe('sessions', () => {
  test('a token that is none is refused', async () => {
    const ana = await signUp()
    await expect(enter(one, { ...ana, token: 'x'.repeat(43) })).rejects.toThrow("Status code '401'")
    await expect(enter(one, { ...ana, token: '' })).rejects.toThrow("Status code '401'")
  })

  test('logging out ends its connections in every process at once, and no other', async () => {
    const ana = await signUp()
    const other = await logIn(ana.email)
    const ended: string[] = []
    const pages = [await enter(one, ana), await enter(two, ana)]
    pages.forEach(({ connection }, index) => {
      connection.onclose(() => ended.push(`closed ${index}`))
      connection.onreconnecting(() => ended.push(`reconnecting ${index}`))
    })
    await using stays = await enter(two, other)
    expect((await call(one.url, '/v1/api/Auth/sair', ana)).status).toBe(200)
    await vi.waitFor(() => expect(ended.sort()).toEqual(['closed 0', 'closed 1']), patience)
    await expect(enter(two, ana)).rejects.toThrow("Status code '401'")
    await tell(ana.wsId, 'para quem ficou')
    await gets(stays, 'para quem ficou')
    expect(pages.map(({ got }) => got)).toEqual([[], []])
  })

  test('replacing the password leaves the session that did so', async () => {
    const ana = await signUp()
    const other = await logIn(ana.email)
    await using mine = await enter(one, ana)
    const theirs = await enter(two, other)
    const ended = new Promise((resolve) => theirs.connection.onclose(resolve))
    const response = await fetch(`${one.url}/v1/api/Usuarios/senha`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ana.token}` },
      body: JSON.stringify({ senhaAtual: 'segredo1', senha: 'segredo-novo', senhaNovamente: 'segredo-novo' }),
    })
    expect(response.status).toBe(200)
    await ended
    await tell(ana.wsId, 'continua')
    await gets(mine, 'continua')
  })

  test('that run out send their pages away to come back with another', async () => {
    const hub = { ...config().hub, sweepMs: 20, expiryGraceMs: 20 }
    await using server = await start(config({ sessionMs: 4_000, hub }), { roles: ['api'] })
    const ana = await signUp(server)
    await using page = await enter(server, ana)
    const away = new Promise((resolve) => page.connection.onreconnecting(resolve))
    await away
    expect((await call(server.url, '/notification-hub/negotiate?negotiateVersion=1', ana)).status).toBe(401)
  })

  test('send their pages away when the last day of their person is over', async () => {
    const hub = { ...config().hub, sweepMs: 20, expiryGraceMs: 20 }
    await using server = await start(config({ hub }), { roles: ['api'] })
    const ana = await signUp(server)
    await owner.query(
      "update account set role = 'leitura', access_until = now() + interval '4 seconds' where email = $1",
      [ana.email],
    )
    await using page = await enter(server, ana)
    await new Promise((resolve) => page.connection.onreconnecting(resolve))
    expect((await call(server.url, '/notification-hub/negotiate?negotiateVersion=1', ana)).status).toBe(401)
  })

  test('lose their pages when the second factor goes that their workspace requires', async () => {
    const ana = await signUp()
    await owner.query(
      `insert into second_factor (workspace_id, account_id, secret, confirmed_at) select workspace_id, id, '', now() from account where email = $1`,
      [ana.email],
    )
    await owner.query('update workspace set requires_factor = true where public_id = $1', [ana.wsId])
    await owner.query('update session set with_factor = true where token_hash = $1', [
      createHash('sha256').update(ana.token).digest(),
    ])
    await using page = await enter(two, ana)
    const closed = new Promise((resolve) => page.connection.onclose(resolve))
    expect((await call(one.url, '/v1/api/Usuarios/duas-etapas/desligar', { ...ana, json: {} })).status).toBe(200)
    await closed
    await expect(enter(two, ana)).rejects.toThrow("Status code '401'")
  })
})

const loseListeners = () =>
  owner.query(`select pg_terminate_backend(pid) from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid() and (query ilike 'listen %' or query = 'select 1')`)

test('pages come back after nobody listened, and are told what happened meanwhile, to who may see it', async () => {
  const ana = await signUp()
  const bia = await signUp()
  await using page = await enter(one, ana)
  await using gone = await enter(one, bia)
  const closed = new Promise((resolve) => gone.connection.onclose(resolve))
  await owner.query(`delete from session s using workspace w where w.id = s.workspace_id and w.public_id = $1`, [
    bia.wsId,
  ])
  await tell(ana.wsId, 'enquanto isso')
  await vi.waitFor(async () => expect((await loseListeners()).rowCount).toBeGreaterThanOrEqual(2), patience)
  await gets(page, 'enquanto isso')
  await closed
})

test('what left and never arrived is sent again, once', async () => {
  const ana = await signUp()
  await using way = await openWay(one.url)
  await using page = openPage(way.url, ana)
  const back = new Promise((resolve) => page.connection.onreconnected(resolve))
  await page.connection.start()
  await tell(ana.wsId, 'chegou')
  await gets(page, 'chegou')
  await vi.waitFor(async () => expect(await positionOf(ana)).toHaveLength(1), patience)
  const before = await positionOf(ana)
  way.swallow()
  await tell(ana.wsId, 'engolida')
  await vi.waitFor(() => expect(way.swallowed()).toContain('engolida'), patience)
  expect(await positionOf(ana)).toEqual(before)
  way.breakOff()
  await back
  await gets(page, 'chegou', 'engolida')
})

// A way to the server that can lose what comes from it.
async function openWay(url: string) {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let loses = false
  let lost = ''
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    const losing = () => loses
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        near.destroy()
        far.destroy()
        sockets.delete(socket)
      })
    }
    near.on('data', (data) => far.write(data))
    far.on('data', (data) => {
      if (losing()) lost += data.toString()
      else near.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swallow() {
      loses = true
    },
    swallowed: () => lost,
    breakOff() {
      loses = false
      for (const socket of sockets) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('a process that stops sends its pages to come back elsewhere', async () => {
  const server = await start(config(), { roles: ['api'] })
  const ana = await signUp()
  const page = await enter(server, ana)
  const away = new Promise((resolve) => page.connection.onreconnecting(resolve))
  await server[Symbol.asyncDispose]()
  await away
  await page.connection.stop()
})

describe('on the way in', () => {
  test('the answers of the hub carry the headers of all others', async () => {
    const { token } = await signUp()
    const answer = await call(one.url, '/notification-hub/negotiate?negotiateVersion=1', { token })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect((await call(one.url, '/notification-hub-else')).status).toBe(404)
  })

  test('the calls of a new account count with its address, also those that show a ticket', async () => {
    const door = { ...doorLimits, calls: { perSecond: 1e-6, burst: 5 }, refusedMs: 1 }
    await using server = await start(config({ door }), { roles: ['api'] })
    const { token } = await signUp(server)
    const negotiate = (token: string) => call(server.url, '/notification-hub/negotiate?negotiateVersion=1', { token })
    const { accessToken } = (await (await negotiate(token)).json()) as { accessToken: string }
    const statuses = []
    for (let n = 0; n < 3; n++) statuses.push((await negotiate(accessToken)).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  test('a body is as large as those of other calls at most', async () => {
    const ana = await signUp()
    const negotiated = await call(one.url, '/notification-hub/negotiate?negotiateVersion=1', ana)
    const { connectionToken } = (await negotiated.json()) as { connectionToken: string }
    const address = `${one.url}/notification-hub?id=${connectionToken}`
    const headers = { authorization: `Bearer ${ana.token}` }
    await fetch(address, { headers })
    const response = await fetch(address, { method: 'POST', headers, body: 'x'.repeat(doorLimits.body + 1) })
    expect(response.status).toBe(413)
  })

  test('who wants to speak another protocol elsewhere is answered in this one', async () => {
    const { hostname, port } = new URL(one.url)
    const socket = connect(Number(port), hostname)
    socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n')
    let text = ''
    for await (const data of socket) text += String(data)
    expect(text).toMatch(/^HTTP\/1\.1 200 OK/)
  })

  test('whoever calls this machine by another name gets no connection either', async () => {
    const { token } = await signUp()
    const { hostname, port } = new URL(one.url)
    const answered = async (host: string) => {
      const socket = connect(Number(port), hostname)
      const key = Buffer.alloc(16, 1).toString('base64')
      socket.write(
        `GET /notification-hub?access_token=${token} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
      )
      for await (const data of socket) return String(data).split('\r\n', 1)[0]
      return null
    }
    expect(await answered(`${hostname}:${port}`)).toBe('HTTP/1.1 101 Switching Protocols')
    expect(await answered(`other.example:${port}`)).toBeNull()
  })

  test('pages of other origins may connect when they are configured', async () => {
    await using server = await start(config({ corsOrigins: ['https://erp.exemplo.com.br'] }), { roles: ['api'] })
    const preflight = await fetch(`${server.url}/notification-hub/negotiate?negotiateVersion=1`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://erp.exemplo.com.br',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,x-requested-with,x-signalr-user-agent',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('x-signalr-user-agent')
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://erp.exemplo.com.br')
  })
})

test('the metrics count the open pages', async () => {
  const ana = await signUp()
  await tell(ana.wsId, 'perdida')
  await using page = await enter(one, ana)
  await gets(page, 'perdida')
  const response = await fetch(`${one.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
  expect(await response.text()).toMatch(/^vigia_hub_connections\{transport="WebSockets"\} [1-9]/m)
})
