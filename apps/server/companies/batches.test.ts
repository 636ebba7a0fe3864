import { randomBytes } from 'node:crypto'
import { batchMax } from '@vigia/contract/companies'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { useContext } from '../platform/database.testing.ts'
import { asOperator } from '../platform/database.ts'
import type { Session } from '../platform/http/session.ts'
import { newWorkspace, testSession } from '../platform/testing.ts'
import { addFiles, getBatch, startBatch } from './batches.ts'

const { ctx } = await useContext()
const { db } = ctx
let session: Session

beforeEach(async () => {
  await asOperator({ db }, ({ db }) => db.deleteFrom('certificate_batch').execute())
  session = await newSession(3)
})

const newSession = async (plan: number) => testSession(await newWorkspace(db, { plan }), 7)
const begin = (total: number, of = session) => startBatch(ctx, of, { list: 'segredo', total })
const filesOf = (count: number, size = 100) =>
  Array.from({ length: count }, (_, n) => ({ name: `${n}.pfx`, bytes: randomBytes(size) }))
const add = (id: string, files = filesOf(1), { last = true, of = session } = {}) =>
  addFiles(ctx, of, id, { files, last })

test.each([
  [1, 'Básico', 20],
  [2, 'Profissional', 20],
])('a batch of plan %i (%s) has at most %i files, which is said before any is sent', async (plan, name, max) => {
  session = await newSession(plan)
  await expect(begin(max + 1)).rejects.toThrow(
    `No plano ${name} um lote tem até ${max} certificados, e este tem ${max + 1}. Nada foi enviado`,
  )
  const id = await begin(max)
  await add(id, filesOf(max), { last: false })
  await expect(add(id)).rejects.toThrow(/^Este lote tem até 20 arquivos\. Os desta chamada não foram guardados/)
  expect((await getBatch(ctx, session.workspaceId, id)).arquivos).toHaveLength(max)
})

test('a plan without limit of companies takes a thousand', async () => {
  expect(batchMax.files).toBe(1_000)
  await begin(1_000)
  await expect(begin(1_001)).rejects.toThrow(/tem até 1\.000 certificados/)
})

describe('what waits', () => {
  test('is at most 20 MB of a workspace', async () => {
    const id = await begin(1_000)
    // Sealed, in base64: 457 files of 32 kB are 20 MB.
    const large = (count: number) => add(id, filesOf(count, batchMax.fileBytes), { last: false })
    for (let sent = 0; sent < 440; sent += 20) await large(20)
    await expect(large(20)).rejects.toMatchObject({
      code: 'too-many',
      message: expect.stringMatching(/já somam 20 MB\. Os desta chamada não foram guardados/),
    })
    expect((await getBatch(ctx, session.workspaceId, id)).arquivos).toHaveLength(440)
    // A refused call leaves nothing on the disk, not even rows to vacuum: five would leave over 4 MB.
    const { rows: before } = await sql<{ bytes: number }>`
      select pg_total_relation_size('certificate_file')::float8 as bytes`.execute(db)
    for (let n = 0; n < 5; n++) await large(20).catch(() => {})
    const { rows: after } = await sql<{ bytes: number }>`
      select pg_total_relation_size('certificate_file')::float8 as bytes`.execute(db)
    expect(after[0]!.bytes).toBeLessThan(before[0]!.bytes + 1_000_000)
    const other = await newSession(3)
    await add(await begin(1, other), filesOf(1), { of: other })
  })
})
