import { glob, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { isCluster } from '../../../../tests/support/database.ts'
import { useDatabase, useOwner } from '../database.testing.ts'
import { appRole } from '../database.ts'
import { InstallationError } from '../installation.ts'
import { sharedTables } from './distribute.ts'
import { migrate } from './migrate.ts'
import { tablesSource } from './tables.testing.ts'

const { url } = await useDatabase()
const client = await useOwner(url)

test('tables.ts is what the generator makes of the schema', async () => {
  await expect(await tablesSource(client)).toMatchFileSnapshot('../tables.ts')
})

test('migrating again does nothing, also when several start at once', async () => {
  const results = await Promise.all([migrate(url), migrate(url), migrate(url)])
  expect(results.flatMap((result) => result.applied)).toEqual([])
})

test('a database made by another version of a migration is told, not touched', async () => {
  await client.query("update migration set sha256 = 'x' || sha256 where name like '0001%'")
  await expect(migrate(url)).rejects.toThrow(InstallationError)
  await client.query("update migration set sha256 = substr(sha256, 2) where name like '0001%'")
  expect(await migrate(url)).toEqual({ applied: [] })
})

test('the role of the application owns nothing, is nobody else and cannot bypass row-level security', async () => {
  const { rows } = await client.query(
    `select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, (select count(*)::int from pg_class where relowner = r.oid) as owned,
            (select count(*)::int from pg_auth_members where member = r.oid) as roles
       from pg_roles r where rolname = $1`,
    [appRole],
  )
  expect(rows).toEqual([
    { rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcreatedb: false, owned: 0, roles: 0 },
  ])
})

test('every table with rows of a workspace has row-level security, for its owner too, and a policy', async () => {
  // On a distributed table, row-level security is not forced on the owner, who has to be able to
  // move shards.
  const isFar = isCluster ? 'exists (select from pg_dist_partition d where d.logicalrelid = c.oid)' : 'false'
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind = 'r' and c.relname not in ('migration', 'installation', 'throttle')
        and not (c.relrowsecurity and c.relforcerowsecurity <> ${isFar}
                 and exists (select 1 from pg_policy p where p.polrelid = c.oid and p.polroles = '{0}')
                 and exists (select 1 from pg_policy p where p.polrelid = c.oid and p.polroles = array[c.relowner]))`,
  )
  expect(rows).toEqual([])
})

test('nothing temporary stands before what a function means, and only the application may call it', async () => {
  const { rows } = await client.query<{ name: string }>(
    `select proname as name from pg_proc
      where pronamespace = 'public'::regnamespace
        -- Names in a body of the SQL standard were looked up when it was made.
        and ((prosqlbody is null or prosecdef) and not exists (select 1 from unnest(proconfig) c where c ~ '^search_path=.*, pg_temp$')
             or has_function_privilege('public', oid, 'execute'))`,
  )
  expect(rows).toEqual([])
})

test('every key of a table of a workspace begins with the workspace, and leads to such tables only', async () => {
  const { rows } = await client.query<{ key: string }>(
    `select format('%s: %s', i.indrelid::regclass, i.indexrelid::regclass) as key
       from pg_index i join pg_class c on c.oid = i.indrelid join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
      where c.relnamespace = 'public'::regnamespace and c.relname <> all ($1) and i.indisunique
        and a.attname <> case c.relname when 'workspace' then 'id' else 'workspace_id' end
     union all
     select format('%s: %s', k.conrelid::regclass, pg_get_constraintdef(k.oid))
       from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class f on f.oid = k.confrelid
       join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
      where k.contype = 'f' and c.relnamespace = 'public'::regnamespace
        and ((c.relname = any ($1)) <> (f.relname = any ($1)) or (c.relname <> all ($1) and a.attname <> 'workspace_id'))`,
    [sharedTables],
  )
  expect(rows).toEqual([])
})

test('no function of the schema takes a row of a table', async () => {
  const { rows } = await client.query(
    `select p.proname from pg_proc p join pg_type t on t.oid = any (p.proargtypes::oid[])
      where p.pronamespace = 'public'::regnamespace and t.typtype = 'c'`,
  )
  expect(rows).toEqual([])
})

test('no query joins a table of a workspace with one that belongs to no workspace alone', async () => {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> all ($1)`,
    [sharedTables],
  )
  const own = new Set(rows.map(({ name }) => name))
  const found: string[] = []
  for await (const file of glob('**/*.ts', { cwd: new URL('../..', import.meta.url) })) {
    if (/\.(test|testing|bench)\.ts$|(^|\/)testing\.ts$/.test(file)) continue
    const source = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8')
    // From one execution to the next, or to the end of the declaration, is one query.
    for (const query of source.split(/\.execute|\.query<|countRows\(|^\}|^(?=const |export |function |async )/m)) {
      const names = [
        ...query.matchAll(/\b(?:from|join|into|update)\s+([a-z_]+)\b|(?:selectFrom|Join|into)\(\s*'([a-z_]+)/gi),
      ].map(([, inSql, built]) => inSql ?? built ?? '')
      const both = [names.find((name) => own.has(name)), names.find((name) => sharedTables.includes(name))]
      if (both.every(Boolean)) found.push(`${file}: ${both.join(', ')}`)
    }
  }
  expect(found).toEqual([])
})
