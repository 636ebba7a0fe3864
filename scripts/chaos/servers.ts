import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { byOwnClock, ownClock, trueTimes } from '../../tests/support/own-clock.ts'
import { startDatabase } from '../../tests/support/postgres.ts'
import { hasCitus, startCluster } from '../../tests/support/servers/cluster.ts'
import { type Door, openDoor } from './door.ts'

/** The database: one server, or a coordinator of Citus with servers for rows. */
export interface Servers extends AsyncDisposable {
  /** As the owner, to whom the product connects. */
  url: string
  /** As somebody who sees all rows of all workspaces; of the coordinator. */
  database: pg.Pool
  /** Each server by itself, the one above among them. */
  all: readonly pg.Pool[]
  /** The servers for rows; empty where there is one server. */
  nodes: readonly Node[]
  /** Until when rows are being moved, by `performance.now()`. */
  movingUntil: number
  /** Kills the server that the product connects to; it is started again. */
  kill(): Promise<void>
  /** Carries out DDL on each server by itself. */
  onEach(statements: string): Promise<void>
  /** Carries out DDL that adds triggers to tables of workspaces. */
  addTriggers(statements: string): Promise<void>
  /** Gives a migrated database what the comparisons need. Returns the address for the product. */
  giveClock(): Promise<string>
  /** What of a copy is made while the database is used: of a cluster the files of its nodes. */
  beginCopy(): Promise<void>
  /** Copies the database; nobody may be connected. Of a cluster it names the moment to which the archived logs lead. */
  copy(): Promise<void>
  /** The copy takes the place of the database. */
  bringBack(): Promise<void>
}

/** A server for rows. */
export interface Node {
  /** By which the others reach it. */
  port: number
  door: Door
  kill(): Promise<void>
  start(): Promise<void>
}

const name = 'vigia'

export async function startServers(directory: string, plan: { cluster: boolean }): Promise<Servers> {
  return plan.cluster ? startNodes(directory) : startOne(directory)
}

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 4 })
  pool.on('error', () => {})
  return pool
}

async function startOne(directory: string): Promise<Servers> {
  await using stack = new AsyncDisposableStack()
  const { url } = stack.use(await startDatabase(directory, { durable: true }))
  const database = openPool(url)
  stack.defer(() => database.end())
  const own = new URL(url).pathname.slice(1)
  const carryOut = (...statements: string[]) => administer(url, statements)
  // A database cannot be copied from inside.
  const fromOutside = (...statements: string[]) => administer(new URL('/postgres', url).href, statements)
  const owned = stack.move()
  return {
    url,
    database,
    all: [database],
    nodes: [],
    movingUntil: 0,
    async kill() {
      const [pid] = (await readFile(join(directory, 'postgres/postmaster.pid'), 'utf8').catch(() => '')).split('\n')
      if (pid) process.kill(Number(pid), 'SIGKILL')
    },
    onEach: carryOut,
    addTriggers: carryOut,
    async giveClock() {
      await carryOut(ownClock, trueTimes)
      return byOwnClock(url)
    },
    async beginCopy() {},
    copy: () => fromOutside(endSessions(own), `create database copy template ${own}`),
    bringBack: () =>
      fromOutside(endSessions(own), `drop database ${own} with (force)`, `alter database copy rename to ${own}`),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function startNodes(directory: string): Promise<Servers> {
  if (!hasCitus) throw new Error('There is no Citus in ../shared/data/citus.')
  await using stack = new AsyncDisposableStack()
  const doors = new Map<number, Door>()
  const cluster = stack.use(
    await startCluster(join(directory, 'cluster'), {
      durable: true,
      shards: 4,
      archive: true,
      between: async (port) => {
        const door = stack.use(await openDoor(port))
        doors.set(port, door)
        return door.port
      },
    }),
  )
  const servers = [cluster.coordinator, ...cluster.workers]
  const ports = servers.map(({ port }) => port)
  const addressOf = (port: number, database = name) => `postgres://postgres@127.0.0.1:${port}/${database}`
  // Citus hides what lies on a server for rows from ordinary programs.
  const all = ports.map((port) => openPool(`${addressOf(port)}?options=-c%20citus.override_table_visibility%3Doff`))
  stack.defer(async () => void (await Promise.all(all.map((pool) => pool.end()))))
  const [coordinator] = servers as [(typeof servers)[number]]
  const owned = stack.move()
  return {
    url: cluster.url,
    database: all[0]!,
    all,
    nodes: cluster.workers.map(({ port, kill, start }) => ({
      port: doors.get(port)!.port,
      door: doors.get(port)!,
      kill,
      start,
    })),
    movingUntil: 0,
    async kill() {
      await coordinator.kill()
      await coordinator.start()
    },
    async onEach(statements) {
      for (const port of ports)
        await administer(addressOf(port), ['set citus.enable_ddl_propagation to off', statements])
    },
    addTriggers: (statements) =>
      administer(addressOf(coordinator.port), ['set citus.enable_unsafe_triggers to on', ...statements.split(';')]),
    // All have the clock of this machine.
    async giveClock() {
      await administer(addressOf(coordinator.port), trueTimes.split(';'))
      return cluster.url
    },
    beginCopy: cluster.copy,
    copy: () => administer(addressOf(coordinator.port), ["select citus_create_restore_point('copy')"]),
    async bringBack() {
      await cluster.restore('copy')
      await finishTransactions(all[0]!)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Ends what was prepared on several servers and whose coordinator was killed before it was committed; Citus does so once a minute. */
export async function finishTransactions(database: pg.Pool): Promise<void> {
  await database.query('select recover_prepared_transactions()')
}

// An autovacuum is not ours to end, and makes way by itself.
const endSessions = (name: string) =>
  `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and backend_type = 'client backend'`

async function administer(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
