import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { generatedFor } from '../../../../tests/support/authority.ts'
import { createDatabase, onOneServer } from '../../../../tests/support/database.ts'
import type { Database } from '../../platform/context.ts'
import { inWorkspace, openDatabase } from '../../platform/database.ts'
import { createLogger } from '../../platform/log.ts'
import { openReceived } from '../../platform/received/bytes.ts'
import { receivedContent } from '../../platform/received/column.ts'
import { type ReceivedDocZip, readPage } from '../arrival.ts'
import { everything, newOffice, type TestWorkspace } from '../office.testing.ts'
import { cnpjs } from '../order.testing.ts'
import { prove } from '../proving/prover.ts'
import { rebuildProjection } from '../rebuild.ts'
import { receive } from '../receive.ts'
import { arrive, nfeProc } from '../testing.ts'
import { readAndPack } from './packer.ts'
import { packSome } from './packing.ts'

const log = createLogger('silent')
let directory: string
let database: Awaited<ReturnType<typeof createDatabase>>
let db: Database
let owner: pg.Client
let docZips: ReceivedDocZip[]
let workspace: TestWorkspace

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vigia-packing-'))
  database = await createDatabase()
  db = openDatabase(database.url)
  owner = new pg.Client({ connectionString: database.url })
  await owner.connect()
  const company = { cnpj: cnpjs[0]!, nome: 'EMPRESA LTDA', uf: 'SC' }
  docZips = (await generatedFor(directory, 5, company))
    .filter(({ service }) => service === 'nfe')
    .map(({ nsu, schema, content }) => ({ nsu: BigInt(nsu!), schema, content }))
})
afterAll(async () => {
  await owner.end()
  await db.destroy()
  await database[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})
beforeEach(async () => {
  workspace = await newOffice(db)
})

const recipient = () => ({ workspaceId: workspace.id, companyId: workspace.companies[0]!, cnpj: cnpjs[0]! })

async function keep(received: readonly ReceivedDocZip[], { pack = false } = {}, through = db): Promise<void> {
  const read = await (pack ? readAndPack(received) : readPage(received))
  const arrivals = prove({ log }, read, { patient: true })
  await inWorkspace({ db: through, log }, workspace.id, (ctx) => receive(ctx, recipient(), 'nfe', arrivals))
}

interface Row {
  nsu: bigint
  codec: number
  content: Buffer
}

const rows = () =>
  inWorkspace({ db }, workspace.id, async ({ db }) => {
    const { rows } =
      await sql<Row>`select nsu, codec, ${receivedContent(workspace.id, 'receipt')} as content from receipt where workspace_id = ${workspace.id} order by nsu`.execute(
        db,
      )
    return rows
  })

function expectAsArrived(
  stored: readonly Row[],
  received: readonly Pick<ReceivedDocZip, 'nsu' | 'content'>[] = docZips,
): void {
  const opened = new Map(stored.map(({ nsu, content }) => [nsu, openReceived(content)]))
  expect(received.filter(({ nsu, content }) => !opened.get(nsu)?.equals(openReceived(content)))).toEqual([])
}

async function packUntilDone(): Promise<void> {
  while ((await packSome({ db, log }, workspace.id)).looked > 0);
}

test('what is captured is stored packed, with each certificate once, and read as it arrived', async () => {
  await keep(docZips, { pack: true })
  const stored = await rows()
  expect(stored.every(({ codec }) => codec > 0)).toBe(true)
  expectAsArrived(stored)
  const { rows: certificates } = await owner.query(
    'select count(*)::int as n, count(distinct r.issuer_certificate_id)::int as named, count(r.issuer_certificate_id)::int as cut from receipt r, (select count(*)::int as kept from issuer_certificate where workspace_id = $1) k where r.workspace_id = $1',
    [workspace.id],
  )
  expect(certificates[0].cut).toBeGreaterThan(certificates[0].named)
})

test('nothing is packed while processes of the version before may run', async () => {
  await using db = openDatabase(database.url)
  await owner.query("update dictionary set usable_at = now() + interval '1 hour'")
  try {
    await keep(docZips, { pack: true }, db)
    expect((await rows()).every(({ codec }) => codec === 0)).toBe(true)
    expectAsArrived(await rows())
    expect(await packSome({ db, log }, workspace.id)).toEqual({ looked: 0, savedBytes: 0 })
  } finally {
    await owner.query('update dictionary set usable_at = now()')
  }
  expect((await packSome({ db, log }, workspace.id)).looked).toBeGreaterThan(0)
})

test('what an earlier version stored takes its small form and changes in nothing else', async () => {
  await keep(docZips)
  const before = await everything(db, workspace)
  expect((await rows()).every(({ codec }) => codec === 0)).toBe(true)
  await packUntilDone()
  const stored = await rows()
  expect(stored.every(({ codec }) => codec > 0)).toBe(true)
  expectAsArrived(stored)
  expect(await everything(db, workspace)).toEqual(before)
  await rebuildProjection({ db, log }, recipient())
  expect(await everything(db, workspace)).toEqual(before)
  // Received again, as they came and packed.
  await keep(docZips)
  await keep(docZips, { pack: true })
  expect(await everything(db, workspace)).toEqual(before)
})

test('what cannot be packed stays as it arrived, and is not looked at again', async () => {
  const stream = gzipSync(nfeProc())
  const odd: ReceivedDocZip[] = [
    Buffer.alloc(0),
    Buffer.from('no gzip'),
    stream.subarray(0, 100),
    Buffer.concat([stream, Buffer.alloc(3)]),
    Buffer.concat([stream, gzipSync(nfeProc({ number: 2 }))]),
    gzipSync(Buffer.alloc(0)),
  ].map((content, index) => ({ nsu: BigInt(index + 1), schema: 'procNFe_v4.00.xsd', content }))
  await keep(odd, { pack: true })
  await packUntilDone()
  expect(await rows()).toEqual(odd.map(({ nsu, content }) => ({ nsu, codec: -1, content })))
})

test('the application can give a receipt no other small form than one of its own bytes, and no second one', async () => {
  await keep([docZips[0]!])
  await keep([docZips[1]!], { pack: true })
  const [first, second] = (await rows()) as [Row, Row]
  const pack = (nsu: bigint, content: Buffer | null, certificate: number | null = null) =>
    inWorkspace({ db }, workspace.id, async ({ db }) => {
      const { rows } = await sql<{ n: number }>`
        select pack_receipts(${workspace.id}::int, ${workspace.companies[0]!}::int, 0::smallint, ${[nsu]}::bigint[],
                             ${[content]}::bytea[], ${[certificate]}::int[]) as n`.execute(db)
      return rows[0]!.n
    })
  expect(await pack(first.nsu, second.content)).toBe(0)
  expect(await pack(first.nsu, Buffer.alloc(0))).toBe(0)
  expect(await pack(first.nsu, Buffer.from('nothing of it, but longer than a head'))).toBe(0)
  expect(await pack(second.nsu, null)).toBe(0)
  expect(await pack(second.nsu, second.content)).toBe(0)
  expect(await rows()).toEqual([first, second])
})

// It looks for who waits for a row, which on a cluster is to be seen on the server of the row only.
onOneServer(
  'packing and a capture that add the same certificates in another order do not wait for each other',
  async () => {
    const ders = [0, 1].map(() => Buffer.concat([Buffer.from([0x30, 0x82, 0x01, 0xfc]), randomBytes(508)]))
    const hash = (der: Buffer) => createHash('sha256').update(der).digest()
    const [first, second] = ders.sort((a, b) => hash(a).compare(hash(b))) as [Buffer, Buffer]
    // The company that comes first has the certificate that comes second.
    for (const [index, der] of [second, first].entries()) {
      const signature = `<Signature><X509Certificate>${der.toString('base64')}</X509Certificate></Signature>`
      const xml = nfeProc({ recipient: cnpjs[index]! }).replace('</NFe>', `${signature}</NFe>`)
      const arrivals = prove({ log }, await readPage([arrive(1, xml)]), { patient: true })
      const to = { workspaceId: workspace.id, companyId: workspace.companies[index]!, cnpj: cnpjs[index]! }
      await inWorkspace({ db, log }, workspace.id, (ctx) => receive(ctx, to, 'nfe', arrivals))
    }
    const add = (der: Buffer) =>
      owner.query(
        'insert into issuer_certificate (workspace_id, sha256, der) values ($1, $2, $3) on conflict do nothing',
        [workspace.id, hash(der), der],
      )
    await owner.query('begin')
    await add(first)
    const { rows } = await owner.query<{ pid: number }>('select pg_backend_pid() as pid')
    const packing = packSome({ db, log }, workspace.id)
    const waits = 'select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))'
    await expect.poll(async () => (await owner.query(waits, [rows[0]!.pid])).rowCount, { timeout: 30_000 }).toBe(1)
    await add(second)
    await owner.query('commit')
    expect((await packing).looked).toBe(2)
    const kept = 'select count(*)::int as n from issuer_certificate where workspace_id = $1'
    expect((await owner.query(kept, [workspace.id])).rows).toEqual([{ n: 2 }])
  },
)

test('a process that is killed while it packs loses nothing, and another one goes on', async () => {
  await keep(docZips)
  await keep(Array.from({ length: 200 }, (_, index) => arrive(1_000_000 + index, nfeProc({ number: index + 1 }))))
  const all = await rows()
  const program = `
    import { packSome } from ${JSON.stringify(new URL('./packing.ts', import.meta.url).href)}
    import { openDatabase } from ${JSON.stringify(new URL('../../platform/database.ts', import.meta.url).href)}
    import { createLogger } from ${JSON.stringify(new URL('../../platform/log.ts', import.meta.url).href)}
    const ctx = { db: openDatabase(process.argv[2]), log: createLogger('silent') }
    for (;;) {
      const { looked } = await packSome(ctx, Number(process.argv[3]))
      console.log(looked)
      if (looked === 0) break
    }
    process.exit()`
  const file = join(directory, 'pack.mjs')
  await writeFile(file, program)
  for (let killed = 0; killed < 2; killed++) {
    const child = spawn(process.execPath, [file, database.url, String(workspace.id)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await firstLine(child)
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('close', resolve))
    expectAsArrived(await rows(), all)
  }
  // The database may still hold what the killed process had begun.
  const left = async () => {
    await packUntilDone()
    return (await rows()).filter(({ codec }) => codec === 0).length
  }
  await expect.poll(left, { timeout: 20_000 }).toBe(0)
  expectAsArrived(await rows(), all)
})

const firstLine = (child: ChildProcess) =>
  new Promise<void>((resolve, reject) => {
    child.stdout!.once('data', () => resolve())
    child.once('close', (code) => reject(new Error(`the process ended by itself: ${code}`)))
  })
