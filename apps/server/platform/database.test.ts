import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { useDatabase } from './database.testing.ts'
import { executePrepared, jsonTime, openDatabase, pools, readWorkspace } from './database.ts'

const { url, db } = await useDatabase()

test('three processes of each role and a task fit into the embedded PostgreSQL', async () => {
  const { rows } = await sql<{ free: number }>`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - current_setting('reserved_connections')::int as free`.execute(db)
  const { api, worker, task } = pools
  expect(rows[0]!.free).toBeGreaterThanOrEqual(3 * (api.connections + worker.connections) + task.connections)
})

test('a connection waits for what another holds as long as its pool says', async () => {
  const impatient = openDatabase(url, { lockTimeoutMs: 100 })
  await db.transaction().execute(async (db) => {
    await sql`select pg_advisory_xact_lock(1)`.execute(db)
    await expect(sql`select pg_advisory_lock(1)`.execute(impatient)).rejects.toMatchObject({ code: '55P03' })
  })
  await impatient.destroy()
})

test('a statement takes as long as its pool allows', async () => {
  const impatient = openDatabase(url, { statementTimeoutMs: 100 })
  await expect(sql`select pg_sleep(600)`.execute(impatient)).rejects.toMatchObject({ code: '57014' })
  await impatient.destroy()
})

test('a prepared statement gives what its parameters ask for, with the plan that the connection keeps', async () => {
  const db = openDatabase(url, { connections: 1 })
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

test('a time is written as JSON writes a Date', async () => {
  const { rows } = await sql<{ at: Date; text: string }>`
    select at, ${jsonTime(sql`at`)} as text from unnest(array['2026-02-03T04:05:06.789999Z', '2026-12-31T23:59:59-03:00']::timestamptz[]) at`.execute(
    db,
  )
  expect(rows.map(({ text }) => text)).toEqual(rows.map(({ at }) => at.toJSON()))
})
