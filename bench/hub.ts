import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { operate, readConfig, tellWorkspace } from '@vigia/server/start'
import pg from 'pg'
import { startDatabase } from '../tests/support/postgres.ts'
import { type BenchPart, markOf, sharedNow, startPart } from './hub-process.ts'
import { median, quantile, report } from './measure.ts'

// The channel to open pages, by WebSockets from other processes: what an open page costs the API in memory, and how long an announcement takes
// from the call that makes it until it is at the last of the pages, all of one workspace, which is the worst case. As many connections to bare
// WebSocket servers, told the same bytes by a message between processes, take turns with it.
const connections = 3_000
const processes = 2
// Whichever is larger: milliseconds, or times what the bare servers take.
const goal = { missing: 0, p99Ms: 250, p99: 2 }
const rounds = 5
const sessionsPerAccount = 50
const settlingMs = 10_000
// Connections not counted: they bear the cost of the start.
const first = 100
const words = { topic: 'aviso', kind: 'sucesso', header: 'Captura terminada' } as const

/** Servers with connections to them. */
interface Side {
  held: number
  kBPerConnection: number
  /** Sends all of them a message. Returns for each connection that got it after how many milliseconds. */
  tell(number: number): Promise<number[]>
  /** Waits until the message is settled everywhere. */
  settle(): Promise<void>
}

await using stack = new AsyncDisposableStack()
const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
stack.defer(() => rm(directory, { recursive: true, force: true }))
const postgres = stack.use(await startDatabase(directory, { durable: true }))
const environment = { PORT: '0', DATA_DIR: directory, DATABASE_URL: postgres.url, LOG_LEVEL: 'error' }
let told = 0
const owner = new pg.Client({ connectionString: postgres.url })
await owner.connect()
stack.defer(() => owner.end())
const sides: Record<string, Side> = { bare: await openBare(), hub: await openHub() }

const runs: { name: string; p50: number; p99: number; missing: number }[] = []
// Turn by turn, so that a noisy machine disturbs both alike; the first round is not counted.
for (let round = -1; round < rounds; round++) {
  for (const [name, side] of Object.entries(sides)) {
    const times = await side.tell(told++)
    await side.settle()
    const missing = side.held - times.length
    if (round >= 0) runs.push({ name, p50: quantile(times, 0.5), p99: quantile(times, 0.99), missing })
  }
}
const [hub, bare] = [summary('hub'), summary('bare')]
report('hub', { connections, processes, goal, hub, bare }, [
  {
    what: `announcement to ${connections} open pages at ${processes} processes`,
    number: `p50 ${hub.p50Ms} ms, p99 ${hub.p99Ms} ms, ${hub.missing} missing, ${hub.kBPerConnection} kB a page`,
    against: `bare ws servers: p50 ${bare.p50Ms} ms, p99 ${bare.p99Ms} ms, ${bare.kBPerConnection} kB`,
    goal: 'p99 ≤ 250 ms or twice theirs, none missing',
  },
])

function summary(name: string) {
  const own = runs.filter((run) => run.name === name)
  const { held, kBPerConnection } = sides[name]!
  return {
    held,
    kBPerConnection,
    p50Ms: Number(median(own.map(({ p50 }) => p50)).toFixed(1)),
    p99Ms: Number(median(own.map(({ p99 }) => p99)).toFixed(1)),
    missing: sumOf(own.map(({ missing }) => missing)),
  }
}

async function openHub(): Promise<Side> {
  const servers: BenchPart<'api'>[] = []
  for (let index = 0; index < processes; index++) {
    const server = stack.use(startPart('api', environment))
    // One after the other: the first makes the tables.
    await server.ask('url')
    servers.push(server)
  }
  const { workspace, tokens } = await signUp(await servers[0]!.ask('url'), connections)
  const announcer = await openAnnouncer()
  const send = async (body: string) => {
    await announcer((ctx) => tellWorkspace(ctx, workspace, { ...words, body }, 1))
  }
  return openSide(servers, '/notification-hub', tokens, send, waitForPositions)
}

// The position of each session is written down after its page has confirmed the message.
async function waitForPositions(): Promise<void> {
  for (let waited = 0; waited < settlingMs; waited += 100) {
    const { rows } = await owner.query<{ behind: boolean }>(
      'select exists (select from announcement_position where announcement_id < (select max(id) from announcement)) as behind',
    )
    if (!rows[0]!.behind) return
    await setTimeout(100)
  }
}

async function openBare(): Promise<Side> {
  const servers = Array.from({ length: processes }, () => stack.use(startPart('bare')))
  const tokens = Array.from({ length: connections }, () => '-')
  const target = '00000000-0000-4000-8000-000000000000'
  return openSide(servers, '/', tokens, async (body) => {
    const record = `${JSON.stringify({ type: 1, target, arguments: [words.header, body, words.kind] })}\x1e`
    await Promise.all(servers.map((server) => server.ask('send', record)))
  })
}

// Each server has clients in a process of their own.
async function openSide(
  servers: BenchPart<'api' | 'bare'>[],
  path: string,
  tokens: string[],
  send: (body: string) => Promise<void>,
  settle: Side['settle'] = async () => {},
): Promise<Side> {
  const urls = await Promise.all(servers.map(async (server) => new URL(path, await server.ask('url')).href))
  const clients = urls.map((url) => ({ url, process: stack.use(startPart('clients')) }))
  const memory = async () => sumOf(await Promise.all(servers.map((server) => server.ask('memory'))))
  const open = async (some: string[]) =>
    sumOf(
      await Promise.all(
        clients.map(({ url, process }, index) =>
          process.ask('open', { url, tokens: some.filter((_, place) => place % processes === index) }),
        ),
      ),
    )
  const tell = async (number: number) => {
    const began = sharedNow()
    await send(markOf(number))
    const arrivals = await Promise.all(clients.map(({ process }) => process.ask('arrivals', markOf(number))))
    return arrivals.flat().map((at) => at - began)
  }
  await open(tokens.slice(0, first))
  await tell(told++)
  await settle()
  const before = await memory()
  const held = await open(tokens.slice(first))
  const kBPerConnection = Number((((await memory()) - before) / (held - first) / 1000).toFixed(1))
  return { held, kBPerConnection, tell, settle }
}

function sumOf(numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

type AnnouncerWork = Parameters<typeof operate>[1]

/** The context of a command-line program, kept open because each `operate` checks the installation again. */
async function openAnnouncer(): Promise<(work: AnnouncerWork) => Promise<unknown>> {
  const [ready, over] = [Promise.withResolvers<Parameters<AnnouncerWork>[0]>(), Promise.withResolvers<void>()]
  const operating = operate(readConfig(environment, directory), (ctx) => {
    ready.resolve(ctx)
    return over.promise
  })
  stack.defer(() => operating)
  stack.defer(() => over.resolve())
  const ctx = await ready.promise
  return (work) => work(ctx)
}

/** A workspace with so many sessions, of as many accounts as that takes. */
async function signUp(url: string, sessions: number): Promise<{ workspace: string; tokens: string[] }> {
  const email = 'ana@exemplo.com.br'
  const response = await fetch(new URL('/v1/api/Usuarios', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ nome: 'Ana Souza', email, senha: 'notas-da-ana-em-dia', tipoPlano: 2 }),
  })
  if (!response.ok) throw new Error(await response.text())
  const tokens = Array.from({ length: sessions }, (_, index) => `sessao-do-benchmark-numero-${index}`)
  const { rows } = await owner.query<{ workspace: string }>(
    `with own as (select a.workspace_id, w.public_id from account a join workspace w on w.id = a.workspace_id where a.email = $1),
            added as (insert into account (workspace_id, email, name, password_hash)
                      select workspace_id, 'conta' || i || '.' || $1, 'Ana', '-' from own, generate_series(1, $2::int) i
                      returning workspace_id, id),
            numbered as (select *, row_number() over (order by id) - 1 as place from added),
            entered as (insert into session (token_hash, workspace_id, account_id, expires_at)
                        select sha256(convert_to(token, 'UTF8')), workspace_id, id, now() + interval '1 day'
                          from unnest($3::text[]) with ordinality t (token, i) join numbered on place = (i - 1) / $4::int
                        returning token_hash, workspace_id, expires_at),
            listed as (insert into token_directory (token_hash, workspace_id, kept_until) select * from entered)
       select public_id::text as workspace from own`,
    [email, Math.ceil(sessions / sessionsPerAccount), tokens, sessionsPerAccount],
  )
  return { workspace: rows[0]!.workspace, tokens }
}
