import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, startPostgres } from '@vigia/embedded-postgres/postgres'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../apps/server/platform/schema/migrate.ts'
import { closeClusterDatabase, createClusterDatabase, startCluster } from './servers/cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Login of the PostgreSQL of this run; its database `template` has all migrations and no rows. */
    postgresUrl: string
    /** Ports of all its servers where the run is on a cluster (`CITUS=1`). */
    clusterPorts: number[]
  }
}

// Enough for the products of all files that run at a time, or for the processes of the chaos.
const max_connections = '300'

// Nothing here must survive a crash, so nothing waits for the disk; and passwords of a run need not resist anybody who guesses.
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '128MB',
  max_connections,
  // It may be in memory.
  max_wal_size: '512MB',
  scram_iterations: '1',
}

/** A PostgreSQL below `directory`; unless it is durable, a crash costs everything in it. */
export async function startDatabase(directory: string, { durable = false } = {}): Promise<EmbeddedPostgres> {
  return startPostgres({ directory: join(directory, 'postgres'), settings: durable ? { max_connections } : settings })
}

/** Called by Vitest once for each project that names this file: the first starts it, for all of the run. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const run = project.vitest.getRootProject()
  if (run.getProvidedContext().postgresUrl) return
  const directory = await mkdtemp(join(tmpdir(), 'vigia-tests-'))
  // Slices can be tried on several servers, too: `CITUS=1 npx vitest run FILE`.
  if (process.env.CITUS) return setupCluster(run, directory)
  const postgres = await startDatabase(directory)
  const stop = async () => {
    await postgres[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await createTemplate(postgres.url)
  } catch (error) {
    await stop()
    throw error
  }
  run.provide('postgresUrl', postgres.url)
  return stop
}

async function setupCluster(run: TestProject, directory: string): Promise<() => Promise<void>> {
  const cluster = await startCluster(directory, { shards: 2 })
  const ports = [cluster.coordinator, ...cluster.workers].map(({ port }) => port)
  await createClusterDatabase(cluster, 'template')
  await migrate(new URL('/template', cluster.url).href)
  await closeClusterDatabase(ports, 'template')
  run.provide('postgresUrl', cluster.url)
  run.provide('clusterPorts', ports)
  return async () => {
    await cluster[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
  }
}

async function createTemplate(url: string): Promise<void> {
  const template = new URL('/template', url)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('create database template')
    await migrate(template.href)
    // A template that nobody can enter can be cloned at any moment.
    await client.query('alter database template with allow_connections false')
  } finally {
    await client.end()
  }
}
