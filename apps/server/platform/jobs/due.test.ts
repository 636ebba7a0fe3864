import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, onOneServer } from '../../../../tests/support/database.ts'
import type { Database } from '../context.ts'
import { asOperator, openDatabase } from '../database.ts'
import { isDue } from './due.ts'

let stack: AsyncDisposableStack
let db: Database

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  const database = stack.use(await createDatabase())
  db = openDatabase(database.url)
  stack.defer(() => db.destroy())
  await asOperator({ db }, ({ db }) =>
    db.insertInto('mail').values({ kind: 'a', recipient: 'ana@exemplo.com.br' }).execute(),
  )
})
afterAll(() => stack.disposeAsync())

const mailsOf = (kind: string) => sql`select from mail where kind = ${kind}`

// On a cluster all is said to be due without asking.
onOneServer('a question finds what is there', async () => {
  expect(await isDue({ db }, mailsOf('a'))).toBe(true)
  expect(await isDue({ db }, mailsOf('b'))).toBe(false)
})

test('no question waits long for what somebody holds', async () => {
  const limit = sql`select where current_setting('statement_timeout') = '2s'`
  expect(await isDue({ db }, limit)).toBe(true)
})
