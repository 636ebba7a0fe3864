import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '@vigia/embedded-postgres/port'
import {
  type Binaries,
  chooseRunner,
  findBinaries,
  type Runner,
  run,
  supervise,
} from '@vigia/embedded-postgres/process'
import pg from 'pg'
import { connectionTo, type DatabaseRole } from '../../../apps/server/platform/database.ts'
import { migrate } from '../../../apps/server/platform/schema/migrate.ts'

const folder = fileURLToPath(new URL('../../../../shared/data/citus', import.meta.url))

/** Whether there is a Citus for the embedded PostgreSQL beside this repository; it is no part of it. */
export const hasCitus = existsSync(join(folder, 'lib/citus.so'))

/** Message of tests when Citus is missing. */
export const withoutCitus =
  'O Citus dos testes não está em ../shared/data/citus: nada foi provado sobre várias máquinas.'

export interface ClusterNode {
  port: number
  /** Ends it as a lost machine would. */
  kill(): Promise<void>
  start(): Promise<void>
}

export interface Cluster extends AsyncDisposable {
  /** The coordinator's database `vigia`, as its owner, who is no superuser. */
  url: string
  /** The same as the superuser, who makes databases and moves shards. */
  superUrl: string
  coordinator: ClusterNode
  workers: ClusterNode[]
}

export interface ClusterOptions {
  workers?: number
  shards?: number
}

// Nodes trust each other on loopback, as only a test may.
const admitted = 'host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n'

/** A coordinator and workers on this machine, below `directory`. */
export async function startCluster(
  directory: string,
  { workers: count = 2, shards = 8 }: ClusterOptions = {},
): Promise<Cluster> {
  const binaries = await findBinaries()
  await mkdir(directory, { recursive: true })
  const runner = await chooseRunner(binaries, join(directory, 'node'), null, ['namespace', 'account'])
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    extension_control_path: `${folder}:$system`,
    // The first as Citus has it, which lets a shard be split while others write.
    dynamic_library_path: `${folder}/lib/citus_decoders:${folder}/lib:$libdir`,
    shared_preload_libraries: 'citus',
    wal_level: 'logical',
    max_prepared_transactions: '350',
    max_connections: '300',
    max_worker_processes: '64',
    max_wal_size: '512MB',
    shared_buffers: '64MB',
    wal_compression: 'off',
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    createrole_self_grant: 'set,inherit',
    timezone: 'UTC',
    'citus.shard_count': String(shards),
    'citus.enable_statistics_collection': 'off',
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
  }
  const make = (name: string) => startNode(binaries, runner, join(directory, name), settings)
  const nodes = await Promise.all(
    ['coordinator', ...Array.from({ length: count }, (_, i) => `worker-${i + 1}`)].map(make),
  )
  const [coordinator, ...workers] = nodes as [Running, ...Running[]]
  const cluster: Cluster = {
    url: `postgres://vigia:vigia@127.0.0.1:${coordinator.port}/vigia`,
    superUrl: `postgres://postgres@127.0.0.1:${coordinator.port}/vigia`,
    coordinator,
    workers,
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
  try {
    for (const node of nodes)
      await query(node.port, 'postgres', "create role vigia login createdb createrole password 'vigia'")
    await createClusterDatabase(cluster, 'vigia')
    return cluster
  } catch (error) {
    await cluster[Symbol.asyncDispose]()
    throw error
  }
}

/** As several processes do that start at once. */
export async function migrateTwice({ url }: Cluster): Promise<{ applied: string[] }> {
  await Promise.all([migrate(url), migrate(url)])
  return migrate(url)
}

/** A connection of a login of the product; end it. */
export async function connectAs({ url }: Cluster, role: DatabaseRole): Promise<pg.Client> {
  const client = new pg.Client(connectionTo(url, 0, role))
  await client.connect()
  return client
}

/** An empty database of the owner on all nodes, which know each other. */
export async function createClusterDatabase(
  { coordinator, workers }: Pick<Cluster, 'coordinator' | 'workers'>,
  name: string,
): Promise<void> {
  const ports = [coordinator, ...workers].map(({ port }) => port)
  await createDatabaseOnNodes(ports, name)
  await addNodes(ports, name)
}

/** Creates an empty database of the owner on all nodes, which are separate until `addNodes`. */
export async function createDatabaseOnNodes(ports: readonly number[], name: string): Promise<void> {
  await Promise.all(
    ports.map(async (port) => {
      await query(port, 'postgres', `create database ${name} owner vigia`)
      await query(port, name, 'create extension citus')
    }),
  )
}

/** Has the database at the first of `ports` use the others as its servers for rows. */
export async function addNodes([coordinator, ...workers]: readonly number[], name: string): Promise<void> {
  await query(coordinator!, name, `select citus_set_coordinator_host('127.0.0.1', ${coordinator})`)
  for (const port of workers) await query(coordinator!, name, `select citus_add_node('127.0.0.1', ${port})`)
}

/** Copies an unused distributed database, node by node. Nodes know each other by ports, which stay. */
export async function copyClusterDatabase(ports: readonly number[], from: string, name: string): Promise<void> {
  await Promise.all(
    ports.map((port) =>
      query(port, 'postgres', `create database ${name} template ${from} owner vigia strategy file_copy`),
    ),
  )
}

/** Makes a database one that can be copied at any moment. */
export async function closeClusterDatabase(ports: readonly number[], name: string): Promise<void> {
  for (const port of ports) {
    await query(port, 'postgres', `alter database ${name} with allow_connections false`)
    await query(
      port,
      'postgres',
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`,
    )
  }
}

export async function dropClusterDatabase(ports: readonly number[], name: string): Promise<void> {
  for (const port of ports) await dropAt(port, name)
}

const dropsMax = 100

// Citus may look after the database anew while it is being dropped.
async function dropAt(port: number, name: string): Promise<void> {
  for (let times = 1; ; times++) {
    try {
      return await query(port, 'postgres', `drop database if exists ${name} with (force)`)
    } catch (error) {
      const objectInUse = '55006'
      if (!(error instanceof pg.DatabaseError) || error.code !== objectInUse || times === dropsMax) throw error
      await sleep(100)
    }
  }
}

async function query(port: number, database: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${port}/${database}` })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

interface Running extends ClusterNode {
  stop(): Promise<void>
}

async function startNode(
  binaries: Binaries,
  runner: Runner,
  directory: string,
  settings: Record<string, string>,
): Promise<Running> {
  const { code, lines } = await run(runner, [
    ...[
      binaries.initdb,
      `--pgdata=${directory}`,
      '--username=postgres',
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
    ],
    ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions', '--no-sync'],
  ])
  if (code !== 0) throw new Error(`initdb: ${lines.join('\n')}`)
  await writeFile(join(directory, 'pg_hba.conf'), admitted)
  const port = await freePort()
  const assignments = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const begin = async () => {
    const server = supervise(runner, [binaries.postgres, '-D', directory, ...assignments], {
      env: { LD_LIBRARY_PATH: join(dirname(dirname(binaries.postgres)), 'lib') },
    })
    let ended = false
    void server.ended.then(() => {
      ended = true
    })
    for (;;) {
      if (ended) throw new Error(`a node of the cluster did not start: ${server.lines.join('\n')}`)
      try {
        await query(port, 'postgres', 'select 1')
        return server
      } catch {
        await sleep(50)
      }
    }
  }
  let server = await begin()
  return {
    port,
    async kill() {
      await server.stop({ abort: true })
    },
    async start() {
      server = await begin()
    },
    stop: () => server.stop(),
  }
}
