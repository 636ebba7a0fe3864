import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createDatabase, onOneServer } from '../../../tests/support/database.ts'
import type { Database } from '../platform/context.ts'
import { asOperator, openDatabase } from '../platform/database.ts'
import { isDue } from './due.ts'

let stack: AsyncDisposableStack
let db: Database
// Before a connection keeps it.
const sent = vi.spyOn(pg.Client.prototype, 'query')

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  stack.defer(() => sent.mockRestore())
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
onOneServer('what loops ask at the same time is one statement, and each gets its own answer', async () => {
  const [there, absent] = [mailsOf('a'), mailsOf('b')]
  await isDue({ db }, there)
  sent.mockClear()
  const answers = await Promise.all([there, absent, there, absent].map((rows) => isDue({ db }, rows)))
  const asked = sent.mock.calls.filter(([text]) => String(text).includes('exists ('))
  expect(answers).toEqual([true, false, true, false])
  expect(asked).toHaveLength(1)
  expect(await isDue({ db }, absent)).toBe(false)
})

test('no question waits long for what somebody holds', async () => {
  const limit = sql`select where current_setting('statement_timeout') = '2s'`
  expect(await isDue({ db }, limit)).toBe(true)
})

onOneServer('a question that cannot be asked fails, and the next one does not', async () => {
  await expect(isDue({ db }, sql`select from nothing`)).rejects.toThrow('nothing')
  expect(await isDue({ db }, mailsOf('a'))).toBe(true)
})
