import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { dropDatabase } from '../../../tests/support/database.ts'

const folder = new URL('../migrations/', import.meta.url)
const name = `test_${randomBytes(6).toString('hex')}`
let admin: pg.Client
let migrating: pg.Client
let older: pg.Client

const statementsOf = (migration: string) => readFile(new URL(migration, folder), 'utf8')

beforeAll(async () => {
  const server = inject('postgresUrl')
  admin = new pg.Client({ connectionString: server })
  await admin.connect()
  await admin.query(`create database ${name}`)
  const url = new URL(`/${name}`, server).href
  migrating = new pg.Client({ connectionString: url })
  older = new pg.Client({ connectionString: url, options: '-c lock_timeout=300' })
  await Promise.all([migrating.connect(), older.connect()])
  for (const migration of (await readdir(folder)).filter((file) => /^\d{4}-.*\.sql$/.test(file)).sort())
    if (migration < '0011') await migrating.query(await statementsOf(migration))
})
afterAll(async () => {
  await Promise.all([migrating.end(), older.end()])
  await admin.end()
  await dropDatabase(inject('postgresUrl'), name)
})

const counted = (table: string, unit: string) =>
  `select workspace_id, type, ${unit} as unit, company_id, roles, status, n, amount from ${table} where n <> 0 order by 1, 2, 3, 4, 5, 6`
const fromDocuments = (unit: string) =>
  `select workspace_id, type, ${unit} as unit, company_id, roles, status, count(*)::int as n, sum(amount) as amount
     from document where workspace_id = any ($1::int[]) group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6`

test('counters of years and days are those of the documents, and an older process that writes meanwhile waits', async () => {
  await migrating.query(
    `insert into workspace (id, name, plan) overriding system value values (1, 'grande', 3), (2, 'pequeno', 3)`,
  )
  await migrating.query(
    `insert into document (workspace_id, company_id, issued_at, nsu, supplier_id, number, event_code, type, series, roles, status, base_status, complete, amount, chave)
     select case when i <= 1500 then 1 else 2 end, 1, timestamp '2025-12-20' + i * interval '15 minutes', i, 1, i, 100, case when i <= 1500 then 0 else (i % 2) * 2 end, 1, 2, 2, 2, true, i / 7.0,
            lpad(i::text, 44, '0') from generate_series(1, 2000) i`,
  )
  await migrating.query(
    `insert into count_month select workspace_id, type, month_of(issued_at), company_id, roles, status, count(*)::int, sum(amount)
       from document group by 1, 2, 3, 4, 5, 6`,
  )
  const [first, rest] = (await statementsOf('0011-counters-of-any-range.sql')).split(
    /(?=create or replace function)/,
    2,
  )
  expect(rest).toBeDefined()
  await migrating.query('begin')
  await migrating.query(first!)
  const page = older.query(
    `select add_to_counters(2, 1, 0::smallint, '{2026-03-05}'::timestamp[], '{2}'::smallint[], '{2}'::smallint[], '{1}'::int[], '{10.5}'::numeric[])`,
  )
  await expect(page).rejects.toThrow(/lock timeout/)
  await migrating.query('rollback')
  await migrating.query(await statementsOf('0011-counters-of-any-range.sql'))

  const years = await migrating.query(counted('count_year', 'year'))
  expect(years.rows).toEqual(
    (await migrating.query(fromDocuments("date_trunc('year', issued_at)::date"), [[1, 2]])).rows,
  )
  const { rows: large } = await migrating.query(`select id from workspace where large`)
  expect(large).toEqual([{ id: 1 }])
  const days = await migrating.query(counted('count_day', 'day'))
  expect(days.rows).toEqual((await migrating.query(fromDocuments('issued_at::date'), [[1]])).rows)
})
