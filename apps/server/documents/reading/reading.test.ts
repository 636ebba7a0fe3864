import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { useDatabase } from '../../platform/database.testing.ts'
import { asOperator, inWorkspace } from '../../platform/database.ts'
import { createLogger } from '../../platform/log.ts'
import { ThreadError } from '../../platform/threads.ts'
import type { ReceivedDocZip } from '../arrival.ts'
import { newOffice, recipient, type TestWorkspace } from '../office.testing.ts'
import { rebuildProjection } from '../rebuild.ts'
import { receive } from '../receive.ts'
import { cteProc, evento, nfeProc, resNFe } from '../testing.ts'
import { readArrival } from './read.ts'
import { createReading, readApart } from './reading.ts'
import { readWaiting } from './waiting.ts'

const log = createLogger('silent')
const { db } = await useDatabase()

const pageOf = (...xmls: (string | Buffer)[]) =>
  xmls.map(
    (xml, index): ReceivedDocZip => ({
      nsu: BigInt(index + 1),
      schema: 'x_v1.00.xsd',
      content: typeof xml === 'string' ? gzipSync(xml) : xml,
    }),
  )

test('a page is read in threads as its documents are read here, in their order', async () => {
  const notes = Array.from({ length: 60 }, (_, index) => nfeProc({ number: index + 1 }))
  const odd = ['<desconhecido/>', '', Buffer.alloc(0), randomBytes(40), gzipSync(Buffer.alloc(5_000_000, 'x'))]
  const page = pageOf(resNFe(), ...odd, ...notes, evento(110111), cteProc())
  for (const pack of [true, false]) {
    const read = await readApart({ log }, page, { pack })
    expect(read).toEqual(page.map((docZip) => ({ ...readArrival(docZip, { pack }) })))
    expect(read.map(({ proof }) => proof)).toContain('unsigned')
  }
})

const dying = (reason: ThreadError['reason'], isKiller: (docZip: { nsu: bigint }) => boolean = () => true) =>
  createReading({
    run: async ({ docZips, ...options }) => {
      if (docZips.some(isKiller)) throw new ThreadError(reason)
      return docZips.map((docZip) => readArrival({ ...docZip, content: Buffer.from(docZip.content) }, options))
    },
  })

const rows = <Row>(workspace: TestWorkspace, query: string) =>
  inWorkspace({ db }, workspace.id, async ({ db }) => (await sql<Row>`${sql.raw(query)}`.execute(db)).rows)

const unread = (workspace: TestWorkspace) =>
  rows<{ nsu: string; problem: string; due: boolean }>(
    workspace,
    'select nsu::text, problem, again_at <= now() as due from receipt where unread order by nsu',
  )

const changes = (workspace: TestWorkspace) =>
  rows<{ n: number }>(workspace, 'select count(*)::int as n from document_change')

const jobs = ({ id }: TestWorkspace) =>
  asOperator({ db }, async ({ db }) => {
    const { rows } = await sql`
      select run_at <= now() as due from job where kind = 'reading' and workspace_id = ${id}`.execute(db)
    return rows
  })

test.each(['died', 'too-slow', 'full'] as const)(
  'a page is stored when its thread says "%s", and a job reads it later as if it had just arrived',
  async (reason) => {
    const workspace = await newOffice(db)
    const to = recipient(workspace, { to: 0 })
    const page = pageOf(nfeProc(), nfeProc({ number: 2 }), '<desconhecido/>')
    const arrivals = await dying(reason)({ log }, page, { pack: true, withinMs: 10_000 })
    await inWorkspace({ db, log }, workspace.id, (ctx) => receive(ctx, to, 'nfe', arrivals))
    expect(await unread(workspace)).toEqual(
      ['1', '2', '3'].map((nsu) => ({ nsu, due: true, problem: expect.stringMatching(/guardado .* de novo sozinha/) })),
    )
    expect(await changes(workspace)).toEqual([{ n: 0 }])
    expect(await jobs(workspace)).toEqual([{ due: true }])
    expect(await readWaiting({ db, log }, workspace.id)).toEqual({ waitMs: 0 })
    expect(await unread(workspace)).toEqual([{ nsu: '3', due: null, problem: expect.stringContaining('desconhecido') }])
    expect(await rows(workspace, 'select nsu::text, proof from document order by nsu')).toEqual([
      { nsu: '1', proof: 'unsigned' },
      { nsu: '2', proof: 'unsigned' },
    ])
    expect(await changes(workspace)).toEqual([{ n: 2 }])
    expect(await readWaiting({ db, log }, workspace.id)).toBeNull()
  },
)

test('a document that brings each thread down takes no other along, and is tried again a day later', async () => {
  const workspace = await newOffice(db)
  const to = recipient(workspace, { to: 0 })
  const read = dying('died', ({ nsu }) => nsu === 2n)
  const arrivals = await read({ log }, pageOf(nfeProc(), nfeProc({ number: 2 }), nfeProc({ number: 3 })))
  expect(arrivals.every(({ facts }) => facts === null)).toBe(true)
  await inWorkspace({ db, log }, workspace.id, (ctx) => receive(ctx, to, 'nfe', arrivals))
  await readWaiting({ db, log }, workspace.id, read)
  const left = [{ nsu: '2', due: false, problem: expect.stringContaining('de novo todo dia') }]
  expect(await unread(workspace)).toEqual(left)
  const { waitMs } = (await readWaiting({ db, log }, workspace.id, read))!
  expect(waitMs).toBeGreaterThan(23 * 3_600_000)
  expect(await rebuildProjection({ db, log }, to)).toMatchObject({ documents: 3, unread: 0 })
  expect(await unread(workspace)).toEqual([])
})
