import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { generatedFor } from '../../../../tests/support/authority.ts'
import { useFolder } from '../../../../tests/support/folder.ts'
import { useDatabase } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { createLogger } from '../../platform/log.ts'
import type { ReceivedDocZip } from '../arrival.ts'
import { cnpjs } from '../list/order.testing.ts'
import { everything, newOffice, type TestWorkspace } from '../office.testing.ts'
import { readApart } from '../reading/reading.ts'
import { rebuildProjection } from '../rebuild.ts'
import { receive } from '../receive.ts'
import { isPacked, openReceived } from '../received/bytes.ts'
import { receivedContent } from '../received/column.ts'
import { nfeProc } from '../testing.ts'

const log = createLogger('silent')
const directory = await useFolder()
const { db } = await useDatabase()
let docZips: ReceivedDocZip[]
let workspace: TestWorkspace

beforeAll(async () => {
  const company = { cnpj: cnpjs[0]!, nome: 'EMPRESA LTDA', uf: 'SC' }
  docZips = (await generatedFor(directory, 5, company))
    .filter(({ service }) => service === 'nfe')
    .map(({ nsu, schema, content }) => ({ nsu: BigInt(nsu!), schema, content }))
})
beforeEach(async () => {
  workspace = await newOffice(db)
})

const recipient = () => ({ workspaceId: workspace.id, companyId: workspace.companies[0]!, cnpj: cnpjs[0]! })

async function keep(received: readonly ReceivedDocZip[], { pack }: { pack: boolean }): Promise<void> {
  const arrivals = await readApart({ log }, received, { pack })
  await inWorkspace({ db, log }, workspace.id, (ctx) => receive(ctx, recipient(), 'nfe', arrivals))
}

interface Row {
  nsu: bigint
  certificate: number | null
  content: Buffer
}

const rows = () =>
  inWorkspace({ db }, workspace.id, async ({ db }) => {
    const { rows } = await sql<Row>`
      select nsu, issuer_certificate_id as certificate, ${receivedContent(workspace.id, 'receipt')} as content
        from receipt where workspace_id = ${workspace.id} order by nsu`.execute(db)
    return rows
  })

test('what is captured is stored packed, with each certificate once, and read as it arrived', async () => {
  await keep(docZips, { pack: true })
  const stored = await rows()
  expect(stored.every(({ content }) => isPacked(content))).toBe(true)
  const opened = new Map(stored.map(({ nsu, content }) => [nsu, openReceived(content)]))
  expect(docZips.filter(({ nsu, content }) => !opened.get(nsu)?.equals(openReceived(content)))).toEqual([])
  const cut = stored.flatMap(({ certificate }) => certificate ?? [])
  expect(cut.length).toBeGreaterThan(new Set(cut).size)
})

test('what was not packed reads the same, and is not stored again when it comes packed', async () => {
  await keep(docZips, { pack: false })
  const before = await everything(db, workspace)
  const stored = await rows()
  expect(stored.some(({ content }) => isPacked(content))).toBe(false)
  await keep(docZips, { pack: true })
  expect(await everything(db, workspace)).toEqual(before)
  await rebuildProjection({ db, log }, recipient())
  expect(await everything(db, workspace)).toEqual(before)
  expect(await rows()).toEqual(stored)
})

test('what cannot be packed stays as it arrived', async () => {
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
  expect(await rows()).toEqual(odd.map(({ nsu, content }) => ({ nsu, certificate: null, content })))
})
