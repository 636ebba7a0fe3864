import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { type RawBuilder, sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { createDatabase } from '../../../tests/support/database.ts'
import { executePrepared, openDatabase, pools, readWorkspace } from './database.ts'

test('three processes of each role and a task fit into the embedded PostgreSQL', async () => {
  await using database = await createDatabase()
  const db = openDatabase(database.url)
  const { rows } = await sql<{ free: number }>`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - current_setting('reserved_connections')::int as free`.execute(db)
  await db.destroy()
  const { api, worker, task } = pools
  expect(rows[0]!.free).toBeGreaterThanOrEqual(3 * (api.connections + worker.connections) + task.connections)
})

test('behind PgBouncer there is room for the API and the workers of a process', async () => {
  const shipped = await readFile(new URL('../../../deploy/pgbouncer.ini', import.meta.url), 'utf8')
  const size = Number(/^default_pool_size = (\d+)$/m.exec(shipped)?.[1])
  expect(size).toBeGreaterThan(pools.api.connections + pools.worker.connections)
})

test('a connection waits for what another holds as long as its pool says', async () => {
  await using database = await createDatabase()
  const holder = openDatabase(database.url)
  const impatient = openDatabase(database.url, { lockTimeoutMs: 100 })
  await holder.transaction().execute(async (db) => {
    await sql`select pg_advisory_xact_lock(1)`.execute(db)
    await expect(sql`select pg_advisory_lock(1)`.execute(impatient)).rejects.toMatchObject({ code: '55P03' })
  })
  await Promise.all([holder.destroy(), impatient.destroy()])
})

test.runIf(process.platform === 'linux')(
  'what the database does for patient connections gives way to what it does for others',
  async () => {
    await using database = await createDatabase()
    const [usual, patient] = [openDatabase(database.url), openDatabase(database.url, { patient: true })]
    const idOf = async (db: typeof usual) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
      return rows[0]!.pid
    }
    const [one, other] = [await idOf(usual), await idOf(patient)]
    expect(getPriority(other)).toBe(Math.min(19, getPriority(one) + 5))
    // Where each session is a group for the scheduler, the priority of the group counts. The kernel may let it wait a moment.
    const groupOf = (id: number) => Number(/nice (-?\d+)/.exec(readFileSync(`/proc/${id}/autogroup`, 'utf8'))?.[1])
    if (existsSync('/proc/self/autogroup'))
      await vi.waitFor(() => expect(groupOf(other)).toBe(Math.min(19, groupOf(one) + 5)), 10_000)
    await Promise.all([usual.destroy(), patient.destroy()])
  },
)

test('a statement takes as long as its pool allows', async () => {
  await using database = await createDatabase()
  const impatient = openDatabase(database.url, { statementTimeoutMs: 100 })
  await expect(sql`select pg_sleep(600)`.execute(impatient)).rejects.toMatchObject({ code: '57014' })
  await impatient.destroy()
})

test('a transaction begins whatever its first statement is, and one that failed leaves nothing behind', async () => {
  await using database = await createDatabase()
  const db = openDatabase(database.url, { connections: 1 })
  const setting = () => sql<{ ws: string }>`select current_setting('app.ws', true) as ws`
  const set = (ws: string) => sql`select set_config('app.ws', ${ws}, true)`
  for (const first of [set('7'), sql`set local app.ws = '7'`]) {
    await db.transaction().execute(async (db) => {
      await first.execute(db)
      expect((await setting().execute(db)).rows).toEqual([{ ws: '7' }])
    })
    expect((await setting().execute(db)).rows).not.toEqual([{ ws: '7' }])
  }
  await db.transaction().execute(async () => {})
  await expect(
    db
      .transaction()
      .setAccessMode('read only')
      .execute((db) => sql`create table left_behind ()`.execute(db)),
  ).rejects.toMatchObject({ code: '25006' })
  expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }])
  await db.destroy()
})

test('a prepared statement gives what its parameters ask for, with the plan that the connection keeps', async () => {
  await using database = await createDatabase()
  const db = openDatabase(database.url, { connections: 1 })
  for (let turn = 0; turn < 8; turn++) {
    const plans = await readWorkspace({ db }, 1, async ({ db }) => {
      const rows = await executePrepared<{ turn: number }>(db, sql`select ${turn}::int as turn`)
      expect(rows).toEqual([{ turn }])
      const { rows: plans } = await sql<{ kept: number }>`
        select generic_plans::int as kept from pg_prepared_statements where statement like '%as turn%'`.execute(db)
      return plans
    })
    expect(plans).toEqual([{ kept: Math.max(0, turn - 4) }])
  }
  await db.destroy()
})

test('behind a pooler everything holds for each transaction and each statement alone, and no statement is kept', async () => {
  await using database = await createDatabase()
  const limits = { connections: 1, lockTimeoutMs: 70, statementTimeoutMs: 500, pooler: true }
  const db = openDatabase(database.url, limits)
  const ask = (value: RawBuilder<unknown>) => sql<Record<string, string>>`
    select ${value} as given, current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
           current_setting('timezone') as zone, current_setting('jit') as jit, current_setting('plan_cache_mode') as plans`
  const held = { lock: '70ms', statement: '500ms', zone: 'UTC', jit: 'off', plans: 'force_custom_plan' }
  for (const value of [sql`${'a value'}::text`, sql`'a value'`]) {
    const { rows } = await ask(value).execute(db)
    expect(rows).toEqual([{ given: 'a value', ...held }])
    const inside = await db.transaction().execute((db) => ask(value).execute(db))
    expect(inside.rows).toEqual([{ given: 'a value', ...held }])
  }
  for (const asked of [sql`select pg_sleep(600)`, sql`select pg_sleep(${600})`]) {
    await expect(asked.execute(db)).rejects.toMatchObject({ code: '57014' })
    await expect(db.transaction().execute((db) => asked.execute(db))).rejects.toMatchObject({ code: '57014' })
  }
  await readWorkspace({ db }, 1, ({ db }) => executePrepared(db, sql`select ${1}::int as one`))
  // The only session of the pool, after all that.
  const { rows } = await sql<{ kept: number }>`select count(*)::int as kept from pg_prepared_statements`.execute(db)
  expect(rows).toEqual([{ kept: 0 }])
  await db.destroy()
})
