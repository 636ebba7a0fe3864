import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../../tests/support/database.ts'
import { appRole } from './database.ts'
import { InstallationError } from './installation.ts'
import { migrate } from './migrate.ts'

let database: Awaited<ReturnType<typeof createDatabase>>
let client: pg.Client

beforeAll(async () => {
  database = await createDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database[Symbol.asyncDispose]()
})

test('schema.sql is the picture of a migrated database', async () => {
  await expect(await describeSchema(client)).toMatchFileSnapshot('../migrations/schema.sql')
})

test('tables.ts names every table and column', async () => {
  const source = await readFile(new URL('./tables.ts', import.meta.url), 'utf8')
  const declared = [...source.matchAll(/export interface (\w+)Table \{\n([\s\S]*?)\n\}/g)].map(([, name, body]) => ({
    table: name!.replace(/(?<!^)([A-Z])/g, '_$1').toLowerCase(),
    columns: [...body!.matchAll(/^ {2}(\w+): (.*)$/gm)]
      .map(([, column, type]) => `${column} ${/\bnull\b/.test(type!) ? 'null' : 'not null'}`)
      .sort(),
  }))
  const { rows } = await client.query<{ table: string; columns: string[] }>(
    `select table_name as table, array_agg(column_name || case when is_nullable = 'YES' then ' null' else ' not null' end) as columns
       from information_schema.columns where table_schema = 'public' and table_name <> 'migration' group by 1`,
  )
  const byName = (list: { table: string; columns: string[] }[]) =>
    Object.fromEntries(list.map((row) => [row.table, [...row.columns].sort()]))
  expect(byName(declared)).toEqual(byName(rows))
})

test('migrating again does nothing, also when several start at once', async () => {
  const results = await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)])
  expect(results.flatMap((result) => result.applied)).toEqual([])
})

test('a database made by another version of a migration is told, not touched', async () => {
  await client.query("update migration set sha256 = 'x' || sha256 where name like '0001%'")
  await expect(migrate(database.url)).rejects.toThrow(InstallationError)
  await client.query("update migration set sha256 = substr(sha256, 2) where name like '0001%'")
  expect(await migrate(database.url)).toEqual({ applied: [] })
})

test('the role of the application owns nothing and cannot bypass row-level security', async () => {
  const { rows } = await client.query(
    `select rolsuper, rolbypassrls, rolcreaterole, (select count(*)::int from pg_class where relowner = r.oid) as owned from pg_roles r where rolname = $1`,
    [appRole],
  )
  expect(rows).toEqual([{ rolsuper: false, rolbypassrls: false, rolcreaterole: false, owned: 0 }])
})

test('every table with rows of a workspace has row-level security and a policy', async () => {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind = 'r' and c.relname not in ('migration', 'installation', 'throttle')
        and not (c.relrowsecurity and exists (select 1 from pg_policy p where p.polrelid = c.oid))`,
  )
  expect(rows).toEqual([])
})

// The structure of the public schema as text: tables, indexes, policies and functions, in a fixed order.
async function describeSchema(client: pg.Client): Promise<string> {
  const sections: [string, string][] = [
    [
      'tables',
      `select format('%s (%s)', c.relname, string_agg(format('%s %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' else '' end,
                coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')), ', ' order by a.attnum)) as line
         from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
         left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' group by c.relname`,
    ],
    [
      'constraints',
      `select format('%s: %s', conrelid::regclass, pg_get_constraintdef(oid)) as line from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n'`,
    ],
    ['indexes', `select indexdef as line from pg_indexes where schemaname = 'public'`],
    [
      'policies',
      `select format('%s: using (%s) with check (%s)', tablename, qual, with_check) as line from pg_policies where schemaname = 'public'`,
    ],
    [
      'functions',
      `select format('%s(%s) returns %s%s', p.proname, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid),
              case when p.prosecdef then ' security definer' else '' end) as line
         from pg_proc p where pronamespace = 'public'::regnamespace`,
    ],
  ]
  let text =
    '-- The schema after all migrations, for the reader. Written by `vitest -u` of schema.test.ts; never executed.\n'
  for (const [title, query] of sections) {
    const { rows } = await client.query<{ line: string }>(query)
    text += `\n-- ${title}\n${rows
      .map((row) => row.line)
      .sort()
      .join('\n')}\n`
  }
  return text
}
