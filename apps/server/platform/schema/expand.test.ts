import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { createDatabase, isCluster } from '../../../../tests/support/database.ts'
import { lastRelease } from '../../../../tests/support/last-release.ts'
import { migrationLock } from '../locks.ts'
import { buildIndexes } from './concurrently.ts'
import { isContract, listNames, migrate, takeTurn } from './migrate.ts'

// An update runs beside the version before it: what a migration adds, that version does not know; what it takes away, it still uses. So versions
// expand, and one version later, in `NNNN-name.contract.sql`, contract. docs/run/operations.md says what that means to who updates.

/** What may stand in a migration all the same, and why. */
const allowed: Readonly<Record<string, Readonly<Record<string, string>>>> = {}

const created = /\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/gi
const rules: Readonly<Record<string, RegExp>> = {
  'takes a table, column, function, view or type away': /\bdrop\s+(?:table|column|function|view|type|schema)\b/i,
  'gives a new name': /\brename\b/i,
  'changes a type': /\balter\s+(?:column\s+)?\w+\s+(?:set\s+data\s+)?type\b/i,
  'refuses null, which the version before may write': /\bset\s+not\s+null\b/i,
  'adds a column that the version before leaves empty and may not':
    /\badd\s+(?:column\s+)?(?!constraint|check|unique|primary|foreign|exclude)\w+\s+[^,;]*\bnot\s+null\b(?![^,;]*\bdefault\b)(?<!\bdefault\b[^,;]*)/i,
  'writes all rows anew for a column': /\badd\s+(?:column\s+)?\w+\s+[^,;]*\bgenerated\s+always\s+as\s*\(/i,
  'looks at all rows for a condition: add it with not valid, and validate it in a later migration':
    /\badd\s+(?:constraint\s+\w+\s+)?(?:check|foreign\s+key)\b(?![^;]*\bnot\s+valid\b)/i,
  'makes an index inside: alter table … add unique or primary key':
    /\badd\s+(?:constraint\s+\w+\s+)?(?:unique|primary\s+key|exclude)\b(?!\s+using\s+index)/i,
  'empties a table': /\btruncate\b/i,
  'holds a table': /\block\s+table\b/i,
}

/** What in a migration does not go beside the version before it. Tables that it makes itself are its own. */
function read(name: string, text: string): string[] {
  const bare = text
    .replace(/--.*$/gm, '')
    // What functions do is theirs, when they are called.
    .replace(/\bas\s+\$(\w*)\$[\s\S]*?\$\1\$/gi, 'as body')
    .replace(/'(?:[^']|'')*'/g, "''")
  const own = new Set([...bare.matchAll(created)].map(([, table]) => table!.toLowerCase()))
  const found = new Set<string>()
  for (const statement of bare.split(';')) {
    const table = /\b(?:alter\s+table|on)\s+(?:if\s+exists\s+)?(?:only\s+)?(\w+)/i.exec(statement)?.[1]?.toLowerCase()
    const isOwn = table !== undefined && own.has(table)
    if (isOwn || /^\s*create\s+(?:table|policy)/i.test(statement)) continue
    for (const [rule, pattern] of Object.entries(rules)) if (pattern.test(statement)) found.add(rule)
    if (/\bcreate\s+(?:unique\s+)?index\s+(?!concurrently\b)/i.test(statement))
      found.add('makes an index while writers wait: put it into NNNN-name.concurrently.sql')
    if (/\bconcurrently\b/i.test(statement) && !name.endsWith('.concurrently.sql'))
      found.add('cannot be in a transaction: put it into NNNN-name.concurrently.sql')
    if (/^\s*(?:update|delete\s+from)\s/i.test(statement)) found.add('writes rows while others wait for them')
  }
  return [...found]
}

test('migrations after the last release leave it all that it uses, and hold nobody up', async () => {
  const names = (await listNames()).filter((name) => name > lastRelease.migration && !isContract(name))
  const wrong: string[] = []
  for (const name of names) {
    const text = await readFile(new URL(`../../migrations/${name}`, import.meta.url), 'utf8')
    for (const rule of read(name, text)) if (!allowed[name]?.[rule]) wrong.push(`${name} ${rule}`)
  }
  expect(wrong).toEqual([])
})

test.each([
  ['drop table document', 'takes a table'],
  ['alter table document drop column cents', 'takes a table'],
  ['drop function documents_with_terms(int[], int[])', 'takes a table'],
  ['alter table document rename column cents to amount', 'gives a new name'],
  ['alter table document alter column cents type numeric', 'changes a type'],
  ['alter table document alter cents set not null', 'refuses null'],
  ['alter table document add column kind int not null', 'adds a column'],
  ['alter table document add kind int not null', 'adds a column'],
  ['alter table document add column kind int not null generated always as (1) stored', 'writes all rows anew'],
  ['alter table document add check (kind in (1, 2))', 'looks at all rows'],
  ['alter table document add constraint a foreign key (kind) references kind (id)', 'looks at all rows'],
  ['alter table document add primary key (id)', 'makes an index inside'],
  ['create unique index document_ix on document (id)', 'makes an index while writers wait'],
  ['create index concurrently document_ix on document (id)', 'cannot be in a transaction'],
  ['truncate content', 'empties a table'],
  ['update document set kind = 1', 'writes rows'],
])('%s does not go beside the version before', (statement, rule) => {
  expect(read('0099-x.sql', `create table own (id int); ${statement};`).join()).toContain(rule)
})

test.each([
  'create table own (id int not null, primary key (id)); create index own_ix on own (id); alter table own add check (id > 0)',
  'alter table document add column kind int',
  "alter table document add column kind int not null default 0, add column text text default ''",
  'alter table document add constraint a check (kind > 0) not valid',
  'alter table document validate constraint a',
  'alter table document drop constraint document_kind_check',
  'create or replace function f() returns int language sql as $$ update document set kind = 1; select 1 $$',
  'create policy tenant on document using (workspace_id = current_ws())',
])('%s does', (statement) => {
  expect(read('0099-x.sql', statement)).toEqual([])
})

test('an index that was cut off while it was made is made anew, and one that is whole stays', async () => {
  await using database = await createDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await using _ = { [Symbol.asyncDispose]: () => client.end() }
  await client.query('create table kept (n int); insert into kept values (1), (2), (2)')
  const text = `-- Both of kept; nothing else.
    create unique index concurrently kept_uk on kept (n);
    create index concurrently kept_ix on kept (n);`
  const indexes = async () =>
    (
      await client.query<{ name: string; valid: boolean; id: number }>(
        "select indexrelid::regclass::text as name, indisvalid as valid, indexrelid::int as id from pg_index where indrelid = 'kept'::regclass order by 1",
      )
    ).rows
  // It fails, as it would be cut off: what is left of it is no index.
  await expect(buildIndexes(client, database.url, text)).rejects.toThrow('could not create unique index')
  expect(await indexes()).toMatchObject([{ name: 'kept_uk', valid: false }])
  await client.query('delete from kept where ctid = (select max(ctid) from kept)')
  await buildIndexes(client, database.url, text)
  const whole = await indexes()
  expect(whole).toMatchObject([
    { name: 'kept_ix', valid: true },
    { name: 'kept_uk', valid: true },
  ])
  await buildIndexes(client, database.url, text)
  expect(await indexes()).toEqual(whole)
  await buildIndexes(
    client,
    database.url,
    'drop index concurrently if exists kept_ix; drop index concurrently if exists kept_ix',
  )
  expect(await indexes()).toHaveLength(1)
  await expect(buildIndexes(client, database.url, 'update kept set n = 1')).rejects.toThrow(
    'no statement of a migration outside',
  )
})

test('a process of an earlier version that waits inside of a statement does not stop an index, and one of this version says whom it waits for', async () => {
  await using database = await createDatabase()
  const [client, earlier, later] = [0, 1, 2].map(() => new pg.Client({ connectionString: database.url })) as [
    pg.Client,
    pg.Client,
    pg.Client,
  ]
  await Promise.all([client.connect(), earlier.connect(), later.connect()])
  await using _ = {
    [Symbol.asyncDispose]: async () => void (await Promise.all([client.end(), earlier.end(), later.end()])),
  }
  await client.query('create table kept (n int)')
  await takeTurn(client, () => {})
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const waits = earlier.query('select pg_advisory_lock($1)', [migrationLock]).catch((error: pg.DatabaseError) => error)
  const waiting =
    "select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())"
  await expect.poll(async () => (await client.query(waiting)).rowCount, { timeout: 30_000 }).toBe(1)
  await buildIndexes(client, database.url, 'create index concurrently kept_ix on kept (n)')
  expect(await waits).toMatchObject({ code: '57014' })
  const said = await new Promise<string>((resolve, reject) => {
    takeTurn(later, resolve, 0).catch(reject)
  })
  expect(said).toContain(`conexão ${rows[0]!.pid},`)
  await client.query('select pg_advisory_unlock_all()')
}, 60_000)

test('what waits for a table lets others pass, and goes on when it is free', async () => {
  await using database = await createDatabase()
  const [holder, other] = [0, 1].map(() => new pg.Client({ connectionString: database.url })) as [pg.Client, pg.Client]
  await Promise.all([holder.connect(), other.connect()])
  await using _ = { [Symbol.asyncDispose]: async () => void (await Promise.all([holder.end(), other.end()])) }
  await other.query('create table later (workspace_id int); alter table later enable row level security')
  await holder.query('begin')
  await holder.query('select from later')
  const migrating = migrate(database.url)
  const waiting = "select from pg_locks where relation = 'later'::regclass and not granted"
  await expect.poll(async () => (await other.query(waiting)).rowCount, { timeout: 30_000 }).toBe(1)
  // Behind what waits it would wait for the end of the transaction.
  await other.query("set lock_timeout = '20s'")
  await other.query('select from later')
  await holder.query('rollback')
  await migrating
  const { rows } = await other.query("select relforcerowsecurity as forced from pg_class where relname = 'later'")
  expect(rows).toEqual([{ forced: !isCluster }])
}, 60_000)
