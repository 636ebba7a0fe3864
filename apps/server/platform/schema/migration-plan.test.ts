import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { createDatabase } from '../../../../tests/support/database.ts'
import { migrate } from './migrate.ts'
import { planMigrations } from './migration-plan.ts'

test('a plan tells what an update would do, and does nothing of it', async () => {
  await using database = await createDatabase()
  expect(await planMigrations(database.url)).toEqual([])
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await using _ = { [Symbol.asyncDispose]: () => client.end() }
  // As if this version had brought them.
  const { rows } = await client.query<{ name: string }>(
    "delete from migration where name >= '0003' and name < '0005' returning name",
  )
  const names = rows.map(({ name }) => name).sort()
  const plan = await planMigrations(database.url)
  expect(plan.map(({ name }) => name)).toEqual(names)
  const restore = plan.find(({ name }) => name === '0003-restore.sql')!
  expect(restore.touched).toContainEqual({
    table: 'capture_line',
    bytes: expect.any(Number),
    rows: expect.any(Number),
    how: 'shape',
  })
  const left = await client.query('select from migration where name = any ($1)', [names])
  expect(left.rowCount).toBe(0)
})

test('of an empty database the plan is everything, of one from another version it is refused', async () => {
  const name = `plan_${crypto.randomUUID().slice(0, 8)}`
  const admin = new pg.Client({ connectionString: inject('postgresUrl') })
  await admin.connect()
  await using _ = {
    [Symbol.asyncDispose]: async () => {
      await admin.query(`drop database ${name}`)
      await admin.end()
    },
  }
  await admin.query(`create database ${name}`)
  const url = new URL(`/${name}`, inject('postgresUrl')).href
  const plan = await planMigrations(url)
  expect(plan[0]).toEqual({ name: '0001-schema.sql', touched: [] })
  // The same that is applied then.
  expect((await migrate(url)).applied).toEqual(plan.map(({ name }) => name))
  const inside = new pg.Client({ connectionString: url })
  await inside.connect()
  // A newer version that only adds leaves this one at work; it changes no right there, and one that takes away refuses it.
  await inside.query("insert into migration (name, sha256) values ('9998-later.sql', 'x')")
  await inside.query('create table later (secret text)')
  expect(await planMigrations(url)).toEqual([])
  expect(await migrate(url)).toEqual({ applied: [] })
  const { rows } = await inside.query("select has_table_privilege('vigia_limited', 'later', 'select') as may")
  expect(rows).toEqual([{ may: false }])
  await inside.query("insert into migration (name, sha256) values ('9999-later.contract.sql', 'x')")
  await inside.end()
  await expect(planMigrations(url)).rejects.toThrow('9999-later.contract.sql é outra')
  await expect(migrate(url)).rejects.toThrow('9999-later.contract.sql é outra')
})
