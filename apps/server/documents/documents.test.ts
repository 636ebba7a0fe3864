import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { status } from '@vigia/dfe/families/statuses'
import { sql } from 'kysely'
import { beforeEach, expect, test, vi } from 'vitest'
import { signedXml } from '../../../tests/support/certificates.ts'
import { onOneServer } from '../../../tests/support/database.ts'
import { findSamples } from '../../../tests/support/samples.ts'
import type { Database } from '../platform/context.ts'
import { useContext } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import type { Arrival } from './arrival.ts'
import { searchDocuments } from './list/list.ts'
import {
  countersDiffer,
  everything,
  newOffice,
  picture,
  recipient,
  someoneWaits,
  type TestWorkspace,
} from './office.testing.ts'
import { readArrival } from './reading/read.ts'
import { rebuildProjection } from './rebuild.ts'
import { receive } from './receive.ts'
import { arrive, chaveOf, company, corrupted, evento, nfeProc, resEvento, resNFe } from './testing.ts'

const { ctx } = await useContext()
const { db } = ctx
let workspace: TestWorkspace

beforeEach(async () => {
  workspace = await newOffice(db)
})

const inside = <T>(work: (db: Database) => Promise<T>) => inWorkspace({ db }, workspace.id, ({ db }) => work(db))

const page = (arrivals: Arrival[]) =>
  inWorkspace(ctx, workspace.id, (ctx) => receive(ctx, recipient(workspace, { to: 0 }), 'nfe', arrivals))

async function only() {
  const { rows } = await inside((db) =>
    sql<Record<string, unknown>>`
      select d.chave, d.nsu::text, d.number::float8 as number, d.series, d.issued_at, d.issued_offset, d.roles, d.status, d.base_status, d.event_code,
             d.complete, d.proof, d.amount, d.nat_op, s.tax_id, s.name
        from document d join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id`.execute(db),
  )
  expect(rows).toHaveLength(1)
  return rows[0]!
}

test('a complete note becomes a row with the facts of the file', async () => {
  expect(
    await page([arrive(1, nfeProc({ number: 12345, issuedAt: '2026-11-10T23:40:00-04:00', amount: '7700.25' }))]),
  ).toEqual({ received: 1, inserted: 1, completed: 0, below0: false })
  expect(await only()).toMatchObject({
    chave: chaveOf({ number: 12345 }),
    number: 12345,
    series: 1,
    issued_at: '2026-11-10 23:40:00',
    issued_offset: -240,
    amount: '7700.25',
    nat_op: 'VENDA DE MERCADORIA',
    name: 'PAPELARIA SÃO JOÃO LTDA',
    tax_id: '11222333000181',
    roles: 1 << 1,
    status: 2,
    event_code: 100,
    complete: true,
  })
})

test('a number of thirteen digits is kept whole, and so is that a family has no series', async () => {
  const one = arrive(1, nfeProc())
  if (one.facts?.kind !== 'document') throw new Error('not a document')
  await page([{ ...one, facts: { ...one.facts, numero: 9_876_543_210_123, serie: null } }])
  expect(await only()).toMatchObject({ number: 9_876_543_210_123, series: null })
})

test('the bytes are kept exactly as they came', async () => {
  const unknown = `<desconhecido><chNFe>${chaveOf({ number: 2 })}</chNFe></desconhecido>`
  const arrivals = [arrive(1, nfeProc()), corrupted(2), arrive(3, unknown), arrive(4, resEvento(610610))]
  await page(arrivals)
  const stored = await inside((db) =>
    db.selectFrom('receipt').select(['nsu', 'content', 'problem', 'unread', 'chave']).orderBy('nsu').execute(),
  )
  expect(stored.map((row) => row.content.equals(arrivals.find((arrival) => arrival.nsu === row.nsu)!.content))).toEqual(
    [true, true, true, true],
  )
  expect(stored.map((row) => row.problem !== null)).toEqual([false, true, true, false])
  expect(stored.map((row) => row.unread)).toEqual([false, true, true, false])
  expect(stored.map((row) => row.chave)).toEqual([chaveOf(), null, chaveOf({ number: 2 }), chaveOf()])
})

test('a page received twice changes nothing', async () => {
  const arrivals = [arrive(1, resNFe()), arrive(2, nfeProc()), arrive(3, evento(110111)), corrupted(4)]
  await page(arrivals)
  const before = await everything(db, workspace)
  expect(await page(arrivals)).toEqual({ received: 0, inserted: 0, completed: 0, below0: false })
  expect(await everything(db, workspace)).toEqual(before)
})

test('the complete note replaces its summary and never the other way round', async () => {
  await page([arrive(1, resNFe())])
  expect(await only()).toMatchObject({ complete: false, status: 1 })
  expect(await page([arrive(2, nfeProc())])).toMatchObject({ inserted: 0, completed: 1, below0: false })
  await page([arrive(3, resNFe())])
  expect(await only()).toMatchObject({ complete: true, status: 2, nsu: '2' })
  expect(await countersDiffer(db, workspace)).toEqual([])
})

test.each([
  { which: 'a protocol', given: [0, 1, 2, 1], base_status: status.authorized },
  { which: 'no protocol', given: [0, 2], base_status: status.noProtocol },
])('the proved copy with $which is shown and told, whichever comes first', async ({ given, base_status }) => {
  const cases = findSamples('cases')
  const signable = nfeProc().replace('<ide>', '<ide><cUF>35</cUF><cNF>00000007</cNF><tpEmis>1</tpEmis>')
  const proved = cases
    ? await readFile(`${cases}/03-signed-protocol/procNFe.xml`, 'utf8')
    : signedXml(signable, `NFe${chaveOf()}`)
  const altered = proved.replace(/<natOp>[^<]*/, '<natOp>OUTRA')
  const bare = proved.replace(/<protNFe.*<\/protNFe>/, '')
  const copies = given.map((which, index) =>
    readArrival({ nsu: BigInt(index + 1), schema: 'x', content: gzipSync([altered, proved, bare][which]!) }),
  )
  const shown = { nsu: '2', proof: 'proved', base_status }
  const changes = () => inside((db) => db.selectFrom('document_change').select('kind').execute())
  for (const [order, changed] of [
    [copies, 2],
    [copies.toReversed(), given.length / 2],
  ] as const) {
    workspace = await newOffice(db)
    for (const copy of order) await page([copy])
    expect(await only()).toMatchObject(shown)
    expect(await changes()).toHaveLength(changed)
    expect(await countersDiffer(db, workspace)).toEqual([])
    await rebuildProjection(ctx, recipient(workspace, { to: 0 }))
    expect(await only()).toMatchObject(shown)
  }
})

// It looks for who waits for a row, which on a cluster is to be seen on the server of the row only.
onOneServer('an arrival locks documents by id, and those that it changes must be judged again', async () => {
  await page([2, 1].map((number) => arrive(number, resNFe({ number }))))
  const judged = await inside(async (db) => {
    await sql`update document set judged_at = now()`.execute(db)
    return sql<{ id: bigint }>`select id from document order by id`.execute(db)
  })
  const [first, second] = judged.rows
  const lock = (db: Database, { id }: { id: bigint }) =>
    sql`select from document where workspace_id = ${workspace.id} and id = ${id} for no key update nowait`.execute(db)
  const { arriving } = await inside(async (holding) => {
    await lock(holding, first!)
    const arriving = page([2, 1].map((number) => arrive(number + 2, evento(110111, { number }))))
    await vi.waitFor(async () => expect(await someoneWaits(db, 'transactionid')).toBe(true), { timeout: 20_000 })
    expect((await lock(holding, second!)).rows).toHaveLength(1)
    return { arriving }
  })
  await arriving
  const { rows } = await inside((db) => sql`select status from document where judged_at is null`.execute(db))
  expect(rows).toEqual([{ status: 3 }, { status: 3 }])
})

test('an event of ours that was registered before counts from when the authority says, until its registration comes', async () => {
  const xMotivo = 'Rejeicao: Duplicidade de evento [nProt:891260000054321][dhRegEvento:2026-11-12T08:00:00-03:00]'
  await page([arrive(1, nfeProc()), arrive(-5, evento(210210, { cStat: '573', xMotivo, protocol: null }))])
  expect(await only()).toMatchObject({ status: 8, event_code: 210210 })
  const event = () =>
    inside((db) => db.selectFrom('document_event').select(['nsu', 'protocol', 'registered_at', 'stated']).execute())
  const at = new Date('2026-11-12T08:00:00-03:00')
  expect(await event()).toEqual([{ nsu: -5n, protocol: '891260000054321', registered_at: at, stated: true }])
  await page([arrive(7, evento(210210, { protocol: '891260000054321', at: '2026-11-12T08:00:00-03:00' }))])
  expect(await event()).toEqual([{ nsu: 7n, protocol: '891260000054321', registered_at: at, stated: false }])
})

test('a summary of a cancelled note cancels, whichever comes first', async () => {
  await page([arrive(1, nfeProc()), arrive(2, resNFe({ cSitNFe: '3' }))])
  expect(await only()).toMatchObject({ status: 3, complete: true })
})

test('who is named nowhere in a note is Terceiro, and Transportador once an event admits it, in any order', async () => {
  const note = arrive(1, nfeProc({ recipient: '33444555000181' }))
  const admission = arrive(2, evento(110150, { named: company }))
  const inRole = async (role: number) =>
    (await searchDocuments({ db }, workspace.id, { TipoDFe: 0, page: 1, TipoParticipacao: role })).total
  await page([note])
  expect([await inRole(3), await inRole(2)]).toEqual([1, 0])
  await page([admission])
  expect([await inRole(3), await inRole(2)]).toEqual([0, 1])
  const direct = await picture(db, workspace)
  workspace = await newOffice(db)
  await page([admission])
  await page([note])
  expect(await picture(db, workspace)).toEqual(direct)
  expect(await countersDiffer(db, workspace)).toEqual([])
})

test('a document that no row can hold is kept as bytes and does not stop the others', async () => {
  // Rounded to cents it is a digit longer than the column.
  const impossible = arrive(1, nfeProc({ amount: '9999999999999.999' }))
  expect(await page([impossible, arrive(2, nfeProc({ number: 2 }))])).toEqual({
    received: 2,
    inserted: 1,
    completed: 0,
    below0: false,
  })
})
