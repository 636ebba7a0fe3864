import { setTimeout } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { openDatabase } from '../platform/database.ts'
import { requireReady } from './readiness.ts'
import { openAccounts } from './testing.ts'

const accounts = await openAccounts()
afterAll(() => accounts[Symbol.asyncDispose]())

const health = () => accounts.call('GET', '/health')

test('it is ready when a login works, and says with words when not', async () => {
  const function_ = 'function account_for_login(text)'
  await accounts.owner.query(`revoke execute on ${function_} from vigia_app, public`)
  expect(await health()).toMatchObject({
    status: 503,
    retryAfter: '5',
    envelope: { success: false, message: expect.stringContaining('ninguém consegue entrar') },
  })
  await accounts.owner.query(`grant execute on ${function_} to vigia_app`)
  await setTimeout(1_100)
  expect(await health()).toMatchObject({ status: 200, envelope: { data: { status: 'ok', versao: 'v1.0' } } })
})

test('a database that takes no writes is not ready', async () => {
  const url = new URL(accounts.database.url)
  url.searchParams.set('options', '-c default_transaction_read_only=on')
  const db = openDatabase(url.href)
  await expect(requireReady({ db })).rejects.toMatchObject({ code: 'unavailable' })
  await db.destroy()
})

test('the database is asked once, however many ask', async () => {
  await setTimeout(1_100)
  const before = accounts.statements.count
  const answers = await Promise.all(Array.from({ length: 20 }, health))
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect(accounts.statements.count - before).toBe(2)
})

test('a database that does not respond is not waited for, nor asked again', async () => {
  const db = openDatabase(accounts.database.url, { connections: 1 })
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const holding = db.connection().execute(() => held)
  for (let asked = 0; asked < 3; asked++)
    await expect(requireReady({ db }, 1)).rejects.toMatchObject({ code: 'unavailable' })
  release()
  await holding
  await requireReady({ db })
  await db.destroy()
})
