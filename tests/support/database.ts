import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { inject, test } from 'vitest'
import { copyClusterDatabase, dropClusterDatabase } from './servers/cluster.ts'

/** Whether this run is on several servers. */
export const isCluster = inject('clusterPorts') !== undefined

/** A test of what only a single server has, or lets a test do; each says why. */
export const onOneServer = test.skipIf(isCluster)

interface TestDatabase {
  url: string
  [Symbol.asyncDispose](): Promise<void>
}

/** A database of its own on the PostgreSQL of this run, with all migrations and no rows. One per test file is usual. */
export async function createDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl')
  const name = `test_${randomBytes(6).toString('hex')}`
  const ports = inject('clusterPorts')
  if (ports) {
    await copyClusterDatabase(ports, 'template', name)
    return {
      url: new URL(`/${name}`, server).href,
      [Symbol.asyncDispose]: () => dropClusterDatabase(ports, name),
    }
  }
  await execute(server, `create database ${name} template template strategy file_copy`)
  return {
    url: new URL(`/${name}`, server).href,
    [Symbol.asyncDispose]: () => dropDatabase(server, name),
  }
}

const dropsMax = 100

// Only a superuser may end an autovacuum at work; it ends after a while.
async function dropDatabase(server: string, name: string): Promise<void> {
  for (let times = 1; ; times++) {
    try {
      return await execute(server, `drop database if exists ${name} with (force)`)
    } catch (error) {
      const insufficientPrivilege = '42501'
      if (!(error instanceof pg.DatabaseError) || error.code !== insufficientPrivilege || times === dropsMax)
        throw error
      await setTimeout(100)
    }
  }
}

/**
 * Ends the other connections to the database of `admin`, and waits until they are gone. Not an autovacuum at work there,
 * which may not be ended by who is no superuser.
 */
export async function endConnections(admin: pg.Client): Promise<void> {
  await admin.query(
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  )
}

/** Carries out statements as the login of `url`. */
export async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
