import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { status } from '@vigia/dfe/families/statuses'
import { sql } from 'kysely'
import { beforeEach, expect, test, vi } from 'vitest'
import { signedXml } from '../../../tests/support/certificates.ts'
import { onOneServer } from '../../../tests/support/database.ts'
import { findSamples } from '../../../tests/support/samples.ts'
import type { Database } from '../platform/context.ts'
import { useDatabase } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { newWorkspace } from '../platform/testing.ts'
import type { Arrival } from './arrival.ts'
import { searchDocuments } from './list/list.ts'
import { someoneWaits } from './office.testing.ts'
import { readArrival } from './reading/read.ts'
import { rebuildProjection } from './rebuild.ts'
import { receive } from './receive.ts'
import { arrive, chaveOf, company, corrupted, evento, nfeProc, resEvento, resNFe } from './testing.ts'

const log = createLogger('silent')
const { db } = await useDatabase()
let workspaceId: number
let companyId: number

beforeEach(async () => {
  ;({ workspaceId, companyId } = await newCompany())
})

async function newCompany(cnpj = company) {
  const workspaceId = await newWorkspace(db)
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    const row = await db
      .insertInto('company')
      .values({ workspace_id: workspaceId, cnpj, name: 'EMPRESA', search: 'empresa', uf: 35 })
      .returning('id')
      .executeTakeFirstOrThrow()
    return { workspaceId, companyId: row.id }
  })
}

const page = (arrivals: Arrival[]) =>
  inWorkspace({ db, log }, workspaceId, (ctx) =>
    receive(ctx, { workspaceId, companyId, cnpj: company }, arrivals[0]?.facts?.type ?? 'nfe', arrivals),
  )

// Everything the projection holds, without what depends on the moment of writing.
async function picture() {
  return inWorkspace({ db }, workspaceId, async ({ db }) => ({
    documents: (
      await sql`select d.chave, d.nsu::text, d.number::float8 as number, d.series, d.issued_at, d.issued_offset, d.roles, d.status, d.base_status, d.event_code, d.event_text,
                       d.complete, d.proof, d.amount, d.nat_op, s.tax_id, s.name
                  from document d join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
                 where d.workspace_id = ${workspaceId} order by d.chave`.execute(db)
    ).rows,
    events: (
      await sql`select chave, tp_evento, sequence, rank, status, summary, registered_at, nsu::text, description from document_event
                 where workspace_id = ${workspaceId} order by chave, tp_evento, sequence`.execute(db)
    ).rows,
    counters: (
      await sql`select type, month, roles, status, n, amount from count_month where workspace_id = ${workspaceId} and n <> 0 order by 1, 2, 3, 4`.execute(
        db,
      )
    ).rows,
  }))
}

async function countersAreExact() {
  const { rows } = await inWorkspace({ db }, workspaceId, ({ db }) =>
    sql`(select type, date_trunc('month', issued_at)::date as m, company_id, roles, status, count(*)::int as n, sum(amount) as a from document where workspace_id = ${workspaceId} group by 1, 2, 3, 4, 5
         except select type, month, company_id, roles, status, n, amount from count_month where workspace_id = ${workspaceId} and n <> 0)
        union all
        (select type, month, company_id, roles, status, n, amount from count_month where workspace_id = ${workspaceId} and (n <> 0 or amount <> 0)
         except select type, date_trunc('month', issued_at)::date, company_id, roles, status, count(*)::int, sum(amount) from document where workspace_id = ${workspaceId} group by 1, 2, 3, 4, 5)`.execute(
      db,
    ),
  )
  return rows.length === 0
}

const only = async () => (await picture()).documents[0] as Record<string, unknown>

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
  const stored = await inWorkspace({ db }, workspaceId, ({ db }) =>
    db
      .selectFrom('receipt')
      .select(['nsu', 'content', 'problem', 'unread', 'chave'])
      .where('workspace_id', '=', workspaceId)
      .orderBy('nsu')
      .execute(),
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
  const before = await picture()
  expect(await page(arrivals)).toEqual({ received: 0, inserted: 0, completed: 0, below0: false })
  expect(await picture()).toEqual(before)
})

test('the complete note replaces its summary and never the other way round', async () => {
  await page([arrive(1, resNFe())])
  expect(await only()).toMatchObject({ complete: false, status: 1 })
  expect(await page([arrive(2, nfeProc())])).toMatchObject({ inserted: 0, completed: 1, below0: false })
  await page([arrive(3, resNFe())])
  expect(await only()).toMatchObject({ complete: true, status: 2, nsu: '2' })
  expect(await countersAreExact()).toBe(true)
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
  const changes = () =>
    inWorkspace({ db }, workspaceId, ({ db }) => db.selectFrom('document_change').select('kind').execute())
  for (const [order, changed] of [
    [copies, 2],
    [copies.toReversed(), given.length / 2],
  ] as const) {
    ;({ workspaceId, companyId } = await newCompany())
    for (const copy of order) await page([copy])
    expect(await only()).toMatchObject(shown)
    expect(await changes()).toHaveLength(changed)
    expect(await countersAreExact()).toBe(true)
    await rebuildProjection({ db, log }, { workspaceId, companyId, cnpj: company })
    expect(await only()).toMatchObject(shown)
  }
})

// It looks for who waits for a row, which on a cluster is to be seen on the server of the row only.
onOneServer('an arrival locks documents by id, and those that it changes must be judged again', async () => {
  await page([2, 1].map((number) => arrive(number, resNFe({ number }))))
  const judged = await inWorkspace({ db }, workspaceId, async ({ db }) => {
    await sql`update document set judged_at = now() where workspace_id = ${workspaceId}`.execute(db)
    return sql<{ id: bigint }>`select id from document where workspace_id = ${workspaceId} order by id`.execute(db)
  })
  const [first, second] = judged.rows
  const lock = (db: Database, { id }: { id: bigint }) =>
    sql`select from document where workspace_id = ${workspaceId} and id = ${id} for no key update nowait`.execute(db)
  const { arriving } = await inWorkspace({ db }, workspaceId, async (inside) => {
    await lock(inside.db, first!)
    const arriving = page([2, 1].map((number) => arrive(number + 2, evento(110111, { number }))))
    await vi.waitFor(async () => expect(await someoneWaits(db, 'transactionid')).toBe(true), { timeout: 20_000 })
    expect((await lock(inside.db, second!)).rows).toHaveLength(1)
    return { arriving }
  })
  await arriving
  const { rows } = await inWorkspace({ db }, workspaceId, ({ db }) =>
    sql`select status from document where workspace_id = ${workspaceId} and judged_at is null`.execute(db),
  )
  expect(rows).toEqual([{ status: 3 }, { status: 3 }])
})

test('an event of ours that was registered before counts from when the authority says, until its registration comes', async () => {
  const xMotivo = 'Rejeicao: Duplicidade de evento [nProt:891260000054321][dhRegEvento:2026-11-12T08:00:00-03:00]'
  await page([arrive(1, nfeProc()), arrive(-5, evento(210210, { cStat: '573', xMotivo, protocol: null }))])
  expect(await only()).toMatchObject({ status: 8, event_code: 210210 })
  const event = async () =>
    inWorkspace({ db }, workspaceId, ({ db }) =>
      db.selectFrom('document_event').select(['nsu', 'protocol', 'registered_at', 'stated']).execute(),
    )
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
    (await searchDocuments({ db }, workspaceId, { TipoDFe: 0, page: 1, TipoParticipacao: role })).total
  await page([note])
  expect([await inRole(3), await inRole(2)]).toEqual([1, 0])
  await page([admission])
  expect([await inRole(3), await inRole(2)]).toEqual([0, 1])
  const direct = await picture()
  ;({ workspaceId, companyId } = await newCompany())
  await page([admission])
  await page([note])
  expect(await picture()).toEqual(direct)
  expect(await countersAreExact()).toBe(true)
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
