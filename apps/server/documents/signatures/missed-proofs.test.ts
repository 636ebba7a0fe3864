import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../../../tests/support/database.ts'
import type { Database } from '../../platform/context.ts'
import { inWorkspace, openDatabase } from '../../platform/database.ts'
import { holdLock } from '../../platform/locks.ts'
import { createLogger } from '../../platform/log.ts'
import { documentOf, eventOf } from '../list/order.testing.ts'
import { deliver, newOffice, recipient, type TestWorkspace } from '../office.testing.ts'
import { receive } from '../receive.ts'
import { arrive, nfeProc } from '../testing.ts'
import { proveMissed } from './missed-proofs.ts'

const log = createLogger('silent')
let database: Awaited<ReturnType<typeof createDatabase>>
let db: Database

beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase(database.url)
})
afterAll(async () => {
  await db.destroy()
  await database[Symbol.asyncDispose]()
})

const run = <Row>(workspace: TestWorkspace, query: string) =>
  inWorkspace({ db }, workspace.id, async ({ db }) => (await sql<Row>`${sql.raw(query)}`.execute(db)).rows)

const proofsOf = (workspace: TestWorkspace) =>
  run<{ proof: string | null }>(
    workspace,
    `select complete::text as of, company_id, nsu::text, proof from document
     union all select 'event', company_id, nsu::text, proof from document_event order by 2, 3`,
  )

test('what was not verified in time has its proof after a review, in all companies; a second review changes nothing', async () => {
  const workspace = await newOffice(db)
  const another = await newOffice(db)
  await deliver(db, workspace, [
    documentOf({ nsu: 1, number: 0 }),
    documentOf({ nsu: 2, number: 1, summary: true }),
    eventOf({ nsu: 3, code: 110111 }),
  ])
  await deliver(db, workspace, [documentOf({ to: 1, nsu: 4, number: 2 })])
  await deliver(db, another, [documentOf()])
  const verified = await proofsOf(workspace)
  expect(verified.map(({ proof }) => proof)).toEqual(['unsigned', null, 'unsigned', 'unsigned'])
  for (const office of [workspace, another]) {
    await run(office, 'update document set proof = null')
    await run(office, 'update document_event set proof = null')
  }
  await proveMissed({ db }, workspace.id)
  expect(await proofsOf(workspace)).toEqual(verified)
  expect((await proofsOf(another)).map(({ proof }) => proof)).toEqual([null])
  const rows = await run(workspace, 'select xmin, * from document order by id')
  await proveMissed({ db }, workspace.id)
  expect(await run(workspace, 'select xmin, * from document order by id')).toEqual(rows)
})

test('what brings its thread down is said so, and takes no other proof along', async () => {
  const workspace = await newOffice(db)
  const whole = arrive(1, nfeProc())
  // Not well formed: no facts would be read in it.
  const broken = { ...arrive(2, nfeProc({ number: 2 })), content: gzipSync('<nfeProc>') }
  await inWorkspace({ db, log }, workspace.id, (ctx) =>
    receive(ctx, recipient(workspace, { to: 0 }), 'nfe', [whole, broken]),
  )
  await proveMissed({ db }, workspace.id)
  expect((await proofsOf(workspace)).map(({ proof }) => proof)).toEqual(['unsigned', 'unable'])
})

test('a company that is being rebuilt is left to the next review', async () => {
  const workspace = await newOffice(db)
  await deliver(db, workspace, [documentOf()])
  await run(workspace, 'update document set proof = null')
  await inWorkspace({ db }, workspace.id, async (inside) => {
    await holdLock(inside, 'company', workspace.companies[0])
    await proveMissed({ db }, workspace.id)
  })
  expect((await proofsOf(workspace)).map(({ proof }) => proof)).toEqual([null])
})
