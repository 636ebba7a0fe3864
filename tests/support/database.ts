import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  url: string
  [Symbol.asyncDispose](): Promise<void>
}

/** A database of its own on the PostgreSQL of this run, with all migrations and no rows. One per test file is usual. */
export async function createDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl')
  const name = `test_${randomBytes(6).toString('hex')}`
  await execute(server, `create database ${name} template template`)
  return {
    url: new URL(`/${name}`, server).href,
    [Symbol.asyncDispose]: () => execute(server, `drop database if exists ${name} with (force)`),
  }
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
