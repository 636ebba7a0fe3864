import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { execute } from '../../../../tests/support/database.ts'
import { nfeProc } from '../../documents/testing.ts'
import { LeaseLost } from '../../jobs/jobs.ts'
import { inCapture, inWorkspace } from '../../platform/database.ts'
import { nsuText } from '../../platform/service.ts'
import { type CaptureLine, claimLine, claimOne } from '../lease.ts'
import { ask, noteQuery } from '../query.ts'
import { settleSurely } from '../settlement.ts'
import { newCompany, openInstallation, retireLines, type TestContext } from '../testing.ts'
import { deliverKept, settleInterrupted } from './interrupted.ts'
import { forgetKept, keepResponse, listKept, prepareKept } from './kept.ts'

// A response that the database does not take: the authority has counted it, and does not repeat it.

let installation: Awaited<ReturnType<typeof openInstallation>>
let ctx: TestContext
let workspaceId: number
let line: CaptureLine

beforeAll(async () => {
  installation = await openInstallation()
  ctx = installation.openProcess()
  await prepareKept(ctx)
})
afterAll(() => installation?.[Symbol.asyncDispose]())
beforeEach(async () => {
  await retireLines(ctx)
  workspaceId = (await newCompany(ctx)).workspaceId
  line = (await claimLine(ctx))!
})

const asOwner = (text: string) => execute(installation.url, text)
// What the server itself says when a table cannot grow.
const fillDisk = () =>
  asOwner(`create or replace function no_room() returns trigger language plpgsql as $$ begin raise sqlstate '53100'; end $$;
    create or replace trigger no_room before insert on capture_call for each row execute function no_room()`)
const makeRoom = () => asOwner('drop trigger no_room on capture_call')

const response = {
  cStat: 138,
  xMotivo: 'Documentos localizados',
  ultNSU: nsuText(2n),
  maxNSU: nsuText(2n),
  documents: [1, 2].map((nsu) => ({
    nsu: nsuText(BigInt(nsu)),
    schema: 'procNFe_v4.00.xsd',
    content: gzipSync(nfeProc({ number: nsu })),
  })),
  bytes: 1_000,
  durationMs: 5,
}

async function failToStore(): Promise<void> {
  const askedAt = await inCapture(ctx, (ctx) => noteQuery(ctx, line, { ultNSU: 0n }))
  const outcome = { response, durationMs: 5, askedAt }
  const settling = settleSurely(ctx, line, { kind: 'distNSU', holder: null }, outcome, { waitsMs: [1, 1] })
  await expect(settling).rejects.toMatchObject({ code: '53100' })
}
const endLease = () =>
  inCapture(ctx, ({ db }) => sql`update capture_line set lease_until = now() - interval '1 second'`.execute(db))
const rowOf = () =>
  inCapture(ctx, ({ db }) =>
    db.selectFrom('capture_line').selectAll().where('id', '=', line.id).executeTakeFirstOrThrow(),
  )
const countDocuments = () =>
  inWorkspace(ctx, workspaceId, async ({ db }) => {
    const rows = await db.selectFrom('document').select('id').where('workspace_id', '=', workspaceId).execute()
    return rows.length
  })
const files = async () => (await readdir(join(ctx.config.dataDir, 'unstored'))).map((name) => name.slice(0, 4)).sort()
const free = Array(8).fill('free')

describe('a response that could not be stored', () => {
  test('is kept, nothing else is asked for, and it is settled as if it had just come', async () => {
    await fillDisk()
    await failToStore()
    expect(ctx.storage.trouble).toMatchObject({ reason: 'no-space' })
    expect(await files()).toEqual([...free.slice(1), 'kept'])
    expect(await countDocuments()).toBe(0)
    await makeRoom()
    await endLease()
    await settleInterrupted(ctx, (await claimOne(ctx, line.id))!)
    expect(await rowOf()).toMatchObject({ last_nsu: 2n, asked_at: null, state: 'waiting', lease_by: null })
    expect(await countDocuments()).toBe(2)
    expect(await files()).toEqual(free)
  })

  test('whose query somebody else has settled is delivered all the same', async () => {
    await fillDisk()
    await failToStore()
    await makeRoom()
    await endLease()
    await deliverKept(ctx)
    expect(await countDocuments()).toBe(0)
    await inCapture(ctx, ({ db }) => sql`update capture_line set asked_at = null where id = ${line.id}`.execute(db))
    await deliverKept(ctx)
    expect(await countDocuments()).toBe(2)
    expect(await files()).toEqual(free)
  })

  test('is not given to the company that has the number of its line after a restore', async () => {
    await fillDisk()
    await failToStore()
    await makeRoom()
    await asOwner(`update capture_line set asked_at = null, cnpj = '11222333000181' where id = ${line.id}`)
    await deliverKept(ctx)
    expect(await countDocuments()).toBe(0)
    expect(await files()).toEqual(free)
  })
})

type Work = Parameters<ReturnType<typeof ctx.db.transaction>['execute']>[0]

/** The database, of which the connection is lost in the first transaction after `happen`. */
function losingFirst(happen: (work: Work) => Promise<unknown>): typeof ctx.db {
  let isLost = false
  return new Proxy(ctx.db, {
    get: (target, name) => {
      const value = Reflect.get(target, name)
      if (name !== 'transaction' || isLost) return typeof value === 'function' ? value.bind(target) : value
      isLost = true
      const execute = async (work: Work) => {
        await happen(work)
        throw new Error('Connection terminated unexpectedly')
      }
      return () => ({ execute })
    },
  })
}

test.each([true, false])(
  'a response whose commit was only not confirmed is not kept, and the line is let go: the last %s',
  async (last) => {
    const askedAt = await inCapture(ctx, (ctx) => noteQuery(ctx, line, { ultNSU: 0n }))
    const db = losingFirst((work) => ctx.db.transaction().execute(work))
    const outcome = { response, durationMs: 5, askedAt }
    const query = { kind: 'distNSU', holder: null } as const
    const settled = await settleSurely({ ...ctx, db }, line, query, outcome, { isLast: () => last, waitsMs: [1] })
    expect(settled).toMatchObject({ released: true })
    expect(await rowOf()).toMatchObject({ last_nsu: 2n, lease_by: null })
    expect(await countDocuments()).toBe(2)
    expect(await files()).toEqual(free)
  },
)

test('a response that somebody else settled as lost is kept, also when the clock was ahead before', async () => {
  const askedBefore = await inCapture(ctx, (ctx) => noteQuery(ctx, line, { ultNSU: 0n }))
  const nothing = { ...response, cStat: 137, ultNSU: nsuText(0n), documents: [], bytes: 300 }
  const query = { kind: 'distNSU', holder: null } as const
  await settleSurely(ctx, line, query, { response: nothing, durationMs: 5, askedAt: askedBefore })
  await asOwner(`update capture_call set at = at + interval '1 day' where line_id = ${line.id}`)
  const askedAt = await inCapture(ctx, (ctx) => noteQuery(ctx, line, { ultNSU: 0n }))
  const db = losingFirst(() =>
    asOwner(
      `update capture_line set lease_by = '${crypto.randomUUID()}' where id = ${line.id};
       insert into capture_call (line_id, query, nsu_before, nsu_after, error) values (${line.id}, 'distNSU', 0, 0, 'interrupted')`,
    ),
  )
  const settling = settleSurely({ ...ctx, db }, line, query, { response, durationMs: 5, askedAt }, { waitsMs: [1] })
  await expect(settling).rejects.toThrow(LeaseLost)
  const [kept, ...others] = await listKept(ctx, line.id)
  expect(others).toEqual([])
  await forgetKept(kept!.path)
})

test('a kept response comes back as it was; a larger one has a file of its own, a torn one is left alone', async () => {
  const large = { ...response, documents: [{ nsu: null, schema: 'x', content: Buffer.alloc(1_000_000, 'x') }] }
  const kept = { lineId: 990, askedAt: 'now', query: { kind: 'consNSU', position: 7n, isMissing: true } as const }
  await keepResponse(ctx, { ...kept, response })
  await keepResponse(ctx, { ...kept, response: large })
  await writeFile(join(ctx.config.dataDir, 'unstored', 'kept-990-torn'), '12 abc\n{}')
  const found = await listKept(ctx, 990)
  expect(found.map(({ response }) => response.documents.length).sort()).toEqual([1, 2])
  for (const { path: _, ...one } of found)
    expect(one).toEqual({ ...kept, response: one.response.documents.length === 1 ? large : response })
  expect(await listKept(ctx, 99)).toEqual([])
})

test('what several processes forget at once is taken away once', async () => {
  const kept = { lineId: line.id, askedAt: '2026-11-26 01:00:00', query: { kind: 'distNSU' as const }, response }
  for (let round = 0; round < 20; round++) {
    const path = await keepResponse(ctx, kept)
    await Promise.all(Array.from({ length: 4 }, () => forgetKept(path)))
  }
  expect(await listKept(ctx, line.id)).toEqual([])
})

test('nothing leaves while nothing can be stored', async () => {
  const post = vi.fn()
  const connection = { post, close: () => {} }
  const holder = { uf: 35, workspaceId, companyId: 1 }
  const stuck = { ...ctx, storage: { ...ctx.storage, prove: async () => false } }
  expect(await ask(stuck, line, holder, connection, { ultNSU: 0n })).toBeNull()
  expect(post).not.toHaveBeenCalled()
  expect(await rowOf()).toMatchObject({ asked_at: null })
})
