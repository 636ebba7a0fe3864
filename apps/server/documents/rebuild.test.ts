import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { execute, onOneServer } from '../../../tests/support/database.ts'
import { useDatabase } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { chave, cnpjs, documentOf, eventOf } from './list/order.testing.ts'
import {
  countersDiffer,
  deliver,
  everything,
  newOffice,
  picture,
  recipient,
  someoneWaits,
  type TestWorkspace,
} from './office.testing.ts'
import { rebuildAll, rebuildProjection } from './rebuild.ts'
import { chaveOf } from './testing.ts'

const log = createLogger('silent')
const { url, db } = await useDatabase()

const rebuild = (workspace: TestWorkspace, to: number) => rebuildProjection({ db, log }, recipient(workspace, { to }))

test('a rebuild mends rows that say something else, drops what no receipt tells, changes no id and nothing of another company', async () => {
  const workspace = await newOffice(db)
  const cancelled = eventOf({ type: 'cte', nsu: 9, code: 110111 })
  const documents = [0, 1, 2].map((number) => documentOf({ type: 'cte', nsu: number + 1, number }))
  await deliver(db, workspace, [...documents, cancelled])
  await deliver(db, workspace, [documentOf({ to: 1 }), eventOf({ to: 1, nsu: 2, code: 210210 })])
  const before = await everything(db, workspace)
  const [mine, theirs] = workspace.companies as [number, number]
  await inWorkspace({ db }, workspace.id, async ({ db }) => {
    await sql`update document set status = 9, amount = 1, number = 7 where chave = ${chave(cancelled)}`.execute(db)
    await sql`insert into document (workspace_id, company_id, issued_at, nsu, supplier_id, number, event_code, type, series, roles, status, base_status, complete, amount, chave)
              select workspace_id, company_id, issued_at, 77, supplier_id, number, event_code, type, series, roles, status, base_status, complete, amount, ${chaveOf({ number: 999 })}
                from document where workspace_id = ${workspace.id} and company_id = ${mine} limit 1 returning id`.execute(
      db,
    )
    await sql`delete from document_event where company_id = ${mine}`.execute(db)
    await sql`update count_month set n = n + 5 where company_id = ${mine}`.execute(db)
    await sql`update document set number = 8 where company_id = ${theirs}`.execute(db)
  })
  await execute(
    url,
    `set local app.ws = ${workspace.id}; update receipt set chave = null where workspace_id = ${workspace.id}`,
  )
  expect(await rebuild(workspace, 0)).toEqual({ receipts: 4, documents: 3, events: 1, unread: 0 })
  const after = await everything(db, workspace)
  expect(after.documents).toContainEqual(expect.objectContaining({ company_id: theirs, number: 8n }))
  expect(await rebuild(workspace, 1)).toEqual({ receipts: 2, documents: 1, events: 1, unread: 0 })
  expect(await everything(db, workspace)).toEqual(before)
})

test('a rebuild waits for a page that is being received, and a page for a rebuild', async () => {
  const workspace = await newOffice(db)
  const copies = [0, 1, 2].map((number) => documentOf({ nsu: number + 1, number }))
  await deliver(db, workspace, copies.slice(0, 1))
  await Promise.all([
    deliver(db, workspace, copies.slice(1, 2)),
    rebuild(workspace, 0),
    deliver(db, workspace, copies.slice(2)),
    rebuild(workspace, 0),
  ])
  const whole = await newOffice(db)
  await deliver(db, whole, copies)
  expect(await picture(db, workspace)).toEqual(await picture(db, whole))
  expect(await countersDiffer(db, workspace)).toEqual([])
})

// It looks for who waits for a row, which on a cluster is to be seen on the server of the row only.
onOneServer('while a company is rebuilt only what arrives for it waits', { timeout: 60_000 }, async () => {
  const workspace = await newOffice(db)
  const another = await newOffice(db)
  const [company] = workspace.companies
  await deliver(db, workspace, [documentOf()])
  const held = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const holding = inWorkspace({ db }, workspace.id, async ({ db }) => {
    await sql`select from count_month where company_id = ${company} for update`.execute(db)
    held.resolve()
    await release.promise
  })
  await held.promise
  // It has read its receipts and now waits for a row of its own counters.
  const rebuilding = rebuild(workspace, 0)
  await vi.waitFor(async () => expect(await someoneWaits(db, 'transactionid')).toBe(true), { timeout: 20_000 })

  let arrived = false
  const arriving = deliver(db, workspace, [documentOf({ nsu: 2, number: 1 })]).then(() => {
    arrived = true
  })
  await vi.waitFor(async () => expect(await someoneWaits(db, 'advisory')).toBe(true), { timeout: 20_000 })
  await deliver(db, workspace, [documentOf({ to: 1 })])
  await deliver(db, another, [documentOf()])
  await deliver(db, workspace, [documentOf({ to: 1, nsu: 2, number: 1 })])
  expect(await rebuild(another, 0)).toMatchObject({ documents: 1 })
  expect(await rebuild(workspace, 1)).toMatchObject({ documents: 2 })
  expect(arrived).toBe(false)

  release.resolve()
  await holding
  expect(await rebuilding).toMatchObject({ documents: 1 })
  await arriving
  expect((await picture(db, workspace)).documents).toHaveLength(4)
  expect(await countersDiffer(db, workspace)).toEqual([])
})

test('everything is rebuilt company by company, and each is told', async () => {
  const workspace = await newOffice(db)
  await deliver(db, workspace, [documentOf()])
  await deliver(db, workspace, [documentOf({ to: 1 }), eventOf({ to: 1, nsu: 2, code: 210210 })])
  const told: unknown[] = []
  const places: number[] = []
  await rebuildAll({ db, log }, ({ workspaceId, cnpj }, rebuilt, place, of) => {
    places.push(of - place)
    if (workspaceId === workspace.id) told.push([cnpj, rebuilt])
  })
  expect(places).toEqual(Array.from(places.keys()).reverse())
  expect(told).toEqual([
    [cnpjs[0], { receipts: 1, documents: 1, events: 0, unread: 0 }],
    [cnpjs[1], { receipts: 2, documents: 1, events: 1, unread: 0 }],
  ])
})
