import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../../tests/support/database.ts'
import type { Database } from './context.ts'
import { inWorkspace, openDatabase } from './database.ts'

let database: Awaited<ReturnType<typeof createDatabase>>
let db: Database
const mine = 1001
const theirs = 1002

beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase(database.url)
  for (const workspaceId of [mine, theirs]) {
    await inWorkspace({ db }, workspaceId, async ({ db }) => {
      await db.insertInto('workspace').values({ id: workspaceId, name: 'Teste', plan: 1 }).execute()
      await db
        .insertInto('company')
        .values({ workspace_id: workspaceId, cnpj: '44555666000181', name: 'E', search: 'e', uf: 35 })
        .execute()
    })
  }
})
afterAll(async () => {
  await db.destroy()
  await database[Symbol.asyncDispose]()
})

const companies = () => sql<{ workspace_id: number }>`select workspace_id from company`

test('without a workspace there are no rows, also after a transaction that had one', async () => {
  expect((await companies().execute(db)).rows).toEqual([])
  await inWorkspace({ db }, mine, ({ db }) => companies().execute(db))
  expect((await companies().execute(db)).rows).toEqual([])
})

test('a query that forgets the workspace sees its own rows only', async () => {
  const { rows } = await inWorkspace({ db }, mine, ({ db }) => companies().execute(db))
  expect(rows).toEqual([{ workspace_id: mine }])
})

test('a row cannot be written into another workspace, nor moved there', async () => {
  const insert = inWorkspace({ db }, mine, ({ db }) =>
    db
      .insertInto('company')
      .values({ workspace_id: theirs, cnpj: '11222333000181', name: 'E', search: 'e', uf: 35 })
      .execute(),
  )
  await expect(insert).rejects.toThrow(/row-level security/)
  const move = inWorkspace({ db }, mine, ({ db }) => db.updateTable('company').set({ workspace_id: theirs }).execute())
  await expect(move).rejects.toThrow(/row-level security/)
})

test('received bytes can be added, never changed or removed', async () => {
  const change = inWorkspace({ db }, mine, ({ db }) => db.updateTable('receipt').set({ schema: 'x' }).execute())
  await expect(change).rejects.toThrow(/permission denied/)
  const remove = inWorkspace({ db }, mine, ({ db }) => db.deleteFrom('receipt').execute())
  await expect(remove).rejects.toThrow(/permission denied/)
})
