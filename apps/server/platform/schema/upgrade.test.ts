import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { createDatabase, dropDatabase, onOneServer } from '../../../../tests/support/database.ts'
import { quickPasswords } from '../../../../tests/support/passwords.ts'
import { startDatabase } from '../../../../tests/support/postgres.ts'
import { getLink } from '../../accounts/links.ts'
import { passwordLink } from '../../accounts/recovery.ts'
import { findSession, logIn } from '../../accounts/sessions.ts'
import { rebuildProjection } from '../../documents/documents.ts'
import { searchDocuments } from '../../documents/list.ts'
import type { Context, Database } from '../context.ts'
import { appRole, connectionTo, openDatabase, requireRole } from '../database.ts'
import { InstallationError } from '../installation.ts'
import { createLogger } from '../log.ts'
import { testCaller } from '../testing.ts'
import { createVault } from '../vault.ts'
import { migrate } from './migrate.ts'
import { describeSchema } from './schema.testing.ts'

// A database as 0.1 left it, made by the code of that time: its fourteen migrations and rows in every table. Beside it stands what that code
// showed of it.
const migrations = new URL('../../migrations/', import.meta.url)
const fixtures = new URL('testing/', migrations)
const shown: {
  accounts: { email: string; password: string; token: string; link: string; workspaceId: number }[]
  lists: { workspaceId: number; type: 0 | 2; total: number; amount: string; rows: object[] }[]
} = JSON.parse(await readFile(new URL('from-0.1.json', fixtures), 'utf8'))

const name = `test_${randomBytes(6).toString('hex')}`
const log = createLogger('silent')
let admin: pg.Client
let url: string
let owner: pg.Client
let db: Database
let before: Record<string, string[]>
// The columns of each table of 0.1: later ones are left out of the comparison.
let columnsOf: ReadonlyMap<string, string[]>

beforeAll(async () => {
  const server = inject('postgresUrl')
  admin = new pg.Client({ connectionString: server })
  await admin.connect()
  await admin.query(`create database ${name}`)
  url = new URL(`/${name}`, server).href
  owner = new pg.Client({ connectionString: url })
  await owner.connect()
  await owner.query(gunzipSync(await readFile(new URL('from-0.1.sql.gz', fixtures))).toString())
  const { rows } = await owner.query<{ name: string; columns: string[] }>(
    `select table_name::text as name, array_agg(quote_ident(column_name)) as columns
       from information_schema.columns where table_schema = 'public' group by 1`,
  )
  columnsOf = new Map(rows.map(({ name, columns }) => [nameOf(name), columns]))
  before = await everyRow()
})
afterAll(async () => {
  await db?.destroy()
  await owner.end()
  await admin.end()
  await dropDatabase(inject('postgresUrl'), name)
})

// As later versions call a table of 0.1.
const nameOf = (table: string) => (table === 'password_recovery' ? 'mail_link' : table)

// All rows of all tables but those of the migrations, as text that does not depend on the order of columns.
async function everyRow(): Promise<Record<string, string[]>> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'migration' order by 1`,
  )
  const found: Record<string, string[]> = {}
  for (const table of tables) {
    const { rows } = await owner.query<{ row: string }>(
      `select to_jsonb(t)::text as row from (select ${columnsOf.get(nameOf(table.name))?.join() ?? '*'} from ${table.name}) t order by 1`,
    )
    found[nameOf(table.name)] = rows.map(({ row }) => row)
  }
  return found
}

test('a database of 0.1 in which a migration is missing is refused and not touched', async () => {
  const { rows } = await owner.query(`delete from migration where name = '0014-notifications.sql' returning *`)
  await expect(migrate(url)).rejects.toThrow(InstallationError)
  await owner.query('insert into migration select * from json_populate_recordset(null::migration, $1)', [
    JSON.stringify(rows),
  ])
  expect(await everyRow()).toEqual(before)
})

// 0.1 knew one server only: its database becomes no cluster at once.
onOneServer('a database of 0.1 gets the schema of an empty one, once, and keeps every row', async () => {
  expect(Object.values(before).every((rows) => rows.length > 0)).toBe(true)
  const later = (await readdir(migrations)).filter((file) => /^\d{4}-/.test(file) && !file.startsWith('0001-')).sort()
  expect((await Promise.all([migrate(url), migrate(url)])).flatMap(({ applied }) => applied)).toEqual([
    'upgrade-from-0.1.sql',
    ...later,
  ])
  await using empty = await createDatabase()
  const other = new pg.Client({ connectionString: empty.url })
  await other.connect()
  expect(await describeSchema(owner)).toBe(await describeSchema(other))
  await other.end()

  const after = await everyRow()
  // All look once for the notes that were answered before (0027).
  const kept = (rows: Record<string, string[]>) =>
    Object.keys(before).map((name) => [name, rows[name]?.map((row) => row.replace(/"gap_at": (null|"[^"]*"), /, ''))])
  expect(kept(after)).toEqual(kept(before))
  const directories = ['account_directory', 'workspace_directory', 'token_directory']
  expect(directories.map((name) => after[name]?.length)).toEqual([2, 2, 4])
  db = openDatabase(url)
})

onOneServer('lists show what they showed, and reading all receipts again changes nothing', async () => {
  const rows = async () =>
    (({ receipt, document, document_event, count_year, count_month, count_day }) => ({
      receipt,
      document,
      document_event,
      ...[count_year, count_month, count_day].map((list) => list!.filter((row) => !row.includes('"n": 0,'))),
    }))(await everyRow())
  const found = await rows()
  for (const { workspaceId, type, ...page } of shown.lists)
    expect(plain(await searchDocuments({ db }, workspaceId, { type, page: 1 }))).toMatchObject(page)
  const { rows: companies } = await owner.query<{ workspaceId: number; companyId: number; cnpj: string }>(
    'select workspace_id as "workspaceId", id as "companyId", cnpj from company',
  )
  for (const company of companies) await rebuildProjection({ db, log }, company)
  expect(await rows()).toEqual(found)
})

const plain = (page: object): object =>
  JSON.parse(JSON.stringify(page, (_, value) => (typeof value === 'bigint' ? String(value) : value)))

onOneServer('people log in with the same password, and their sessions and links go on', async () => {
  const config = { sessionMs: 60_000, sessionIdleMs: 60_000, passwordCost: quickPasswords, mail: { from: '' } }
  const ctx = { db, log, config, vault: createVault(randomBytes(32)) } as Pick<
    Context,
    'db' | 'log' | 'config' | 'vault'
  >
  for (const { email, password, token, link, workspaceId } of shown.accounts) {
    expect(await findSession(ctx, token, testCaller)).toMatchObject({ workspaceId })
    expect(await getLink({ db }, passwordLink, link)).toMatchObject({ workspaceId })
    const opened = await logIn(ctx, { email, password }, testCaller)
    expect(await findSession(ctx, opened!.token, testCaller)).toMatchObject({ workspaceId })
    expect(await logIn(ctx, { email, password: `${password}x` }, testCaller)).toBeNull()
  }
})

test('an embedded PostgreSQL of earlier versions lets the application in, also with another password of the owner', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'vigia-login-'))
  try {
    {
      await using postgres = await startDatabase(directory)
      await migrate(postgres.url)
    }
    await writeFile(join(directory, 'postgres/pg_hba.conf'), 'host all vigia 127.0.0.1/32 scram-sha-256\n')
    await rm(join(directory, 'postgres.password'))
    await using postgres = await startDatabase(directory)
    const owner = new pg.Client({ connectionString: postgres.url })
    await owner.connect()
    await using _ = { [Symbol.asyncDispose]: () => owner.end() }
    const entered = async () => {
      await migrate(postgres.url)
      const db = openDatabase(postgres.url)
      await requireRole(db, appRole)
      await db.destroy()
    }
    await entered()
    // Another installation on the same server.
    await owner.query('create database other')
    const neighbour = new pg.Client(connectionTo(new URL('/other', postgres.url).href, 0, appRole))
    await neighbour.connect()
    await owner.query('alter role vigia_app nologin')
    await expect(entered()).rejects.toThrow('"other"')
    await neighbour.end()
    // Its connection is seen for a moment more.
    await vi.waitFor(entered, { timeout: 20_000 })
    await owner.query('create role staff; grant staff to vigia_app')
    await expect(entered()).rejects.toThrow('may do more than the application')
    await owner.query("alter role vigia_app valid until '2000-01-01'")
    await expect(entered()).rejects.toThrow(InstallationError)
  } finally {
    await rm(directory, { recursive: true })
  }
})
