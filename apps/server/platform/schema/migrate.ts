import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type pg from 'pg'
import { InstallationError, withOwner } from '../installation.ts'
import { migrationLock } from '../locks.ts'
import { distribute, hasWorkerNodes } from './distribute.ts'
import { createLogins, openLogins } from './logins.ts'
import { statementsOf } from './statements.ts'

const folder = new URL('../../migrations/', import.meta.url)

/**
 * Brings the database at `url` to the newest schema; returns the names of the migrations that ran. The login must own the database
 * and be allowed to create roles. Migrations are forward only, each in a transaction; several processes take turns.
 */
export async function migrate(url: string): Promise<{ applied: string[] }> {
  return withOwner(url, async (client) => {
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    requireVersion(rows[0]!.server_version)
    await client.query('select pg_advisory_lock($1)', [migrationLock])
    const distributed = await hasWorkerNodes(client)
    await client.query(
      'create table if not exists migration (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
    )
    const pending = await listPending(client)
    await createLogins(client)
    for (const migration of pending) await apply(client, migration)
    if (distributed) await inTransaction(client, () => distribute(client))
    await openLogins(client, url)
    return { applied: pending.map(({ name }) => name) }
  })
}

interface Migration {
  name: string
  text: string
  sha256: string
}

async function listPending(client: pg.Client): Promise<Migration[]> {
  const { rows } = await client.query<{ name: string; sha256: string }>('select name, sha256 from migration')
  const done = new Map(rows.map(({ name, sha256 }) => [name, sha256]))
  const pending: Migration[] = []
  for (const name of (await readdir(folder)).sort()) {
    const text = await readFile(new URL(name, folder), 'utf8')
    const sha256 = createHash('sha256').update(text).digest('hex')
    const known = done.get(name)
    if (known === undefined) pending.push({ name, text, sha256 })
    else if (known !== sha256) throw otherVersion(name)
    done.delete(name)
  }
  const [unknown] = done.keys()
  if (unknown !== undefined) throw otherVersion(unknown)
  return pending
}

async function apply(client: pg.Client, { name, text, sha256 }: Migration): Promise<void> {
  await inTransaction(client, async () => {
    // One by one: Citus hands on the whole text that a change of a distributed table comes in.
    for (const statement of statementsOf(text)) await client.query(statement)
    await client.query('insert into migration (name, sha256) values ($1, $2)', [name, sha256])
  }).catch((cause: unknown) => {
    throw new Error(`migration ${name} failed`, { cause })
  })
}

async function inTransaction(client: pg.Client, work: () => Promise<unknown>): Promise<void> {
  await client.query('begin')
  try {
    await work()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

const versionMin = 18

/** Refuses a PostgreSQL of another major version, named as `server_version` tells it ("17.6 (Debian 17.6-1)"). */
export function requireVersion(serverVersion: string): void {
  if (Number.parseInt(serverVersion, 10) >= versionMin) return
  throw new InstallationError(
    `O banco de dados em DATABASE_URL é um PostgreSQL ${serverVersion.split(' ')[0]}, e é preciso o PostgreSQL ${versionMin} ou mais novo. Nada foi alterado: atualize o servidor, ou deixe DATABASE_URL vazio para usar o PostgreSQL que vem com o programa.`,
  )
}

const otherVersion = (name: string) =>
  new InstallationError(
    `A estrutura deste banco é de uma versão não publicada do programa (${name} é outra). Nada foi alterado: mova a pasta de DATA_DIR para outro lugar (com DATABASE_URL, use outro banco) e inicie de novo, ou use a versão anterior.`,
  )
