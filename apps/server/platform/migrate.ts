import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { appRole } from './database.ts'
import { InstallationError } from './installation.ts'

const folder = new URL('../migrations/', import.meta.url)
// Any constant will do: it only has to be the same for every process that migrates.
const lock = 7_316_009

/**
 * Brings the database at `url` to the newest schema. The login must own the database and be allowed to create roles.
 * Safe when several processes start at once: they take turns. Migrations are forward only and each runs in a transaction.
 */
export async function migrate(url: string): Promise<{ applied: string[] }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [lock])
    await client.query(
      'create table if not exists migration (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
    )
    const done = new Map(
      (await client.query<{ name: string; sha256: string }>('select name, sha256 from migration')).rows.map((row) => [
        row.name,
        row.sha256,
      ]),
    )
    const applied: string[] = []
    for (const name of (await readdir(folder)).filter((file) => /^\d{4}-.*\.sql$/.test(file)).sort()) {
      const text = await readFile(new URL(name, folder), 'utf8')
      const sha256 = createHash('sha256').update(text).digest('hex')
      if (done.has(name)) {
        if (done.get(name) !== sha256)
          throw new InstallationError(
            `A estrutura deste banco foi feita por uma versão do programa que não é a publicada (${name} é outra). Nada foi alterado: use a versão anterior, ou outra pasta em DATA_DIR.`,
          )
        continue
      }
      await apply(client, name, text, sha256)
      applied.push(name)
    }
    await grant(client)
    return { applied }
  } finally {
    await client.end()
  }
}

async function apply(client: pg.Client, name: string, text: string, sha256: string): Promise<void> {
  await client.query('begin')
  try {
    await client.query(text)
    await client.query('insert into migration (name, sha256) values ($1, $2)', [name, sha256])
    await client.query('commit')
  } catch (cause) {
    await client.query('rollback')
    throw new Error(`migration ${name} failed`, { cause })
  }
}

async function grant(client: pg.Client): Promise<void> {
  // Roles belong to the whole server: another database on it may be creating the same one right now.
  await client.query(`do $$ begin
    if not exists (select 1 from pg_roles where rolname = '${appRole}') then
      create role ${appRole} nologin nosuperuser nobypassrls;
    end if;
  exception when duplicate_object or unique_violation then null; end $$`)
  await client.query(`do $$ begin
    if not pg_has_role(current_user, '${appRole}', 'SET') then execute format('grant ${appRole} to %I with set true', current_user); end if;
  end $$`)
  await client.query(`grant usage on schema public to ${appRole}`)
  await client.query(`grant select, insert, update, delete on all tables in schema public to ${appRole}`)
  await client.query(`revoke insert, update, delete on migration, installation from ${appRole}`)
  await client.query(
    `revoke update, delete on receipt, capture_call, certificate_use, outgoing_event_call, audit from ${appRole}`,
  )
  await client.query(`grant usage on all sequences in schema public to ${appRole}`)
}
