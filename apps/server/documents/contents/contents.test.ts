import { standingStatuses } from '@vigia/dfe/families/lookup'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { runs } from '../../../../tests/support/seed.ts'
import type { Database } from '../../platform/context.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { insertCompany, newWorkspace } from '../../platform/testing.ts'
import type { Criteria } from '../list/filter.ts'
import { searchDocuments } from '../list/list.ts'
import { rebuildProjection } from '../rebuild.ts'
import { chaveOf, company, deliverTo, evento, eventoCte, resNFe } from '../testing.ts'
import { freightWith, noteWith, readEverything, type TestNote } from './testing.ts'

const { ctx } = await useContext()
const offices: number[] = []

// Documents show what was read inside them, whatever a test did to that.
afterEach(async () => {
  for (const id of offices.splice(0)) {
    const { rows } = await inWorkspace(ctx, id, ({ db }) =>
      sql`
        select d.id, d.reform, d.misfits, f.found
          from document d left join document_facts f on f.workspace_id = d.workspace_id and f.document_id = d.id
         where d.workspace_id = ${id} and d.misfits is distinct from coalesce(json_array_length(f.found) > (f.found -> 0 ->> 'code' = 'rt-sem-grupo')::int, false)`.execute(
        db,
      ),
    )
    expect(rows).toEqual([])
  }
})

async function newOffice() {
  const workspaceId = await newWorkspace(ctx.db)
  offices.push(workspaceId)
  const { id: companyId } = await insertCompany(ctx.db, workspaceId, { cnpj: company })
  const inside = <T>(work: (db: Database) => Promise<T>) =>
    inWorkspace({ db: ctx.db }, workspaceId, ({ db }) => work(db))
  return {
    workspaceId,
    inside,
    deliver: (...files: string[]) =>
      deliverTo(ctx, { workspaceId, companyId }, files[0]!.includes('portalfiscal.inf.br/cte') ? 'cte' : 'nfe', files),
    rebuild: () => rebuildProjection(ctx, { workspaceId, companyId, cnpj: company }),
    sums: () =>
      inside(async (db) => {
        const { rows } = await sql<{ kind: number; key: string; documents: number; value: number; icms: number }>`
          select kind, key, documents, value::float8 as value, icms::float8 as icms from content_sum
           where workspace_id = ${workspaceId} order by kind, key`.execute(db)
        return rows.map(({ kind, key, documents, value, icms }) => [kind, key, documents, value, icms])
      }),
    products: () =>
      inside(async (db) => {
        const { rows } = await sql<{ name: string; documents: number; value: number; quantity: string }>`
          select p.name, s.documents, s.value::float8 as value, trim_scale(s.quantity / 10000.0)::text as quantity from product_sum s
            join product p on p.workspace_id = s.workspace_id and p.id = s.product_id where s.workspace_id = ${workspaceId} order by 1`.execute(
          db,
        )
        return rows.map(({ name, documents, value, quantity }) => [name, documents, value, quantity])
      }),
    found: async (text: string) => {
      const { rows } = await searchDocuments(ctx, workspaceId, { TipoDFe: 0, page: 1, CampoPesquisa: text })
      return rows.map(({ number }) => number)
    },
  }
}

const note: TestNote = {
  number: 1,
  amount: '33.00',
  issuerUf: 'PR',
  dues: [
    ['2026-12-10', '20.00'],
    ['2027-01-10', '13.00'],
  ],
  plate: 'ABC1D23',
  items: [
    {
      name: 'PAPEL TOALHA',
      code: 'PT-9',
      value: '10.00',
      discount: '1.00',
      icms: '1.80',
      freight: '0.50',
      lot: 'L 77',
    },
    { name: 'PAPEL TOALHA', code: 'PT-9', value: '10.00', icms: '1.20', order: '4500-1' },
    { name: 'SABÃO LÍQUIDO', code: '12', ncm: '34025000', cfop: '6102', value: '12.00', ipi: '0.60' },
  ],
}

test('what is inside a complete document is found by its words, and summed', async () => {
  const { deliver, sums, products, found } = await newOffice()
  await deliver(noteWith(note), resNFe({ number: 2 }))
  await readEverything(ctx)
  expect(await sums()).toEqual([
    [0, '11222333000181', 1, 3300, 660],
    // Ninety cents are in no item.
    [1, '', 1, 90, 0],
    [1, '5102', 1, 1950, 300],
    [1, '6102', 1, 1260, 360],
    [2, '', 1, 90, 0],
    [2, '34025000', 1, 1260, 360],
    [2, '48025610', 1, 1950, 300],
    [3, 'PR', 1, 3300, 660],
    [5, '', 1, 3300, 660],
  ])
  expect(await products()).toEqual([
    ['PAPEL TOALHA', 1, 1900, '4'],
    ['SABÃO LÍQUIDO', 1, 1200, '2'],
  ])
  for (const text of ['toalha', 'sabao', 'ncm:34025000', 'cfop:6102', 'placa:abc1d23', 'lote:l77', 'pedido:45001'])
    expect(await found(text), text).toEqual([1])
  expect(await found('caneta')).toEqual([])
})

test('the search of the list looks inside: words and their beginnings, codes, and what it is asked for by name', async () => {
  const { workspaceId, inside, deliver } = await newOffice()
  const other = {
    number: 2,
    issuerName: 'TOALHAS FINAS LTDA',
    items: [{ name: 'CANETA', code: '88', gtin: '7898744790959' }],
  }
  await deliver(noteWith(note), noteWith({ ...other, issuer: '77888999000181' }), resNFe({ number: 3 }))
  await readEverything(ctx)
  const search = async (criteria: Omit<Criteria, 'TipoDFe'>) => {
    const { rows, total } = await searchDocuments(ctx, workspaceId, { TipoDFe: 0, page: 1, ...criteria })
    expect(rows).toHaveLength(total)
    return rows.map(({ number }) => number).sort()
  }
  const typed: [string, number[]][] = [
    // In a name of an issuer, and in one of a product.
    ['toalha', [1, 2]],
    ['toal papel', [1]],
    ['papel de toalha', []],
    ['p toalha', [1, 2]],
    ['sabão', [1]],
    ['PT-9', [1]],
    ['7898744790959', [2]],
    ['34025000', [1]],
    ['ncm:3402', [1]],
    ['ncm:4802', [1, 2]],
    ['cfop:6102', [1]],
    ['5102', []],
    ['abc1d23', [1]],
    ['placa:ABC-1D23', [1]],
    ['4500-1', [1]],
    ['lote:L77', [1]],
    ['lote:4500-1', []],
    ['caneta 33,00', []],
    ['toalha 33,00', [1]],
  ]
  for (const [text, numbers] of typed) expect(await search({ CampoPesquisa: text }), text).toEqual(numbers)
  expect(
    await search({ CampoPesquisa: 'toalha', DataDe: '2026-10-01T00:00:00', DataAte: '2026-10-31T23:59:59' }),
  ).toEqual([])
  expect(
    await search({ CampoPesquisa: 'sabao', DataDe: '2026-11-10T00:00:00', DataAte: '2026-11-10T23:59:59' }),
  ).toEqual([1])
  expect(await search({ CFOP: '5102', NCM: '34' })).toEqual([1])
  const { rows } = await inside((db) =>
    sql<{ id: number }>`select id from product where workspace_id = ${workspaceId} and name = 'CANETA'`.execute(db),
  )
  expect(await search({ Produto: rows[0]!.id })).toEqual([2])
  // Documents of another workspace are not found.
  const stranger = await newOffice()
  await stranger.deliver(noteWith({ number: 1, items: [{ name: 'TINTA' }] }))
  await readEverything(ctx)
  expect(
    (await searchDocuments(ctx, stranger.workspaceId, { TipoDFe: 0, page: 1, CampoPesquisa: 'caneta' })).total,
  ).toBe(0)
  expect((await searchDocuments(ctx, stranger.workspaceId, { TipoDFe: 0, page: 1, Produto: rows[0]!.id })).total).toBe(
    0,
  )
})

test('a document that is cancelled is in no sum, and parcels of it are no longer due', async () => {
  const { workspaceId, inside, deliver, sums, products } = await newOffice()
  await deliver(noteWith(note), noteWith({ ...note, number: 3 }))
  await readEverything(ctx)
  const parcels = () =>
    inside(async (db) => {
      const { rows } = await sql<{ day: string; standing: boolean; paid: boolean }>`
        select i.due_on::text as day, i.standing, i.paid_at is not null as paid from installment i join document d on d.workspace_id = i.workspace_id and d.id = i.document_id
         where i.workspace_id = ${workspaceId} and d.chave = ${chaveOf({ number: 1 })} order by place`.execute(db)
      return rows
    })
  await inside((db) =>
    sql`update installment set paid_at = now() where workspace_id = ${workspaceId} and place = 1`.execute(db),
  )
  await deliver(evento(110111, { number: 1 }))
  await readEverything(ctx)
  expect((await sums())[0]).toEqual([0, '11222333000181', 1, 3300, 660])
  expect(await products()).toContainEqual(['PAPEL TOALHA', 1, 1900, '4'])
  expect(await parcels()).toEqual([
    { day: '2026-12-10', standing: false, paid: true },
    { day: '2027-01-10', standing: false, paid: false },
  ])
  await deliver(evento(110111, { number: 3 }))
  await readEverything(ctx)
  expect(await sums()).toEqual([])
  expect(await products()).toEqual([])
})

test('whatever arrives, is answered, cancelled, replaced and made anew in any order, every sum is the documents to the cent', async () => {
  const amount = fc.integer({ min: 1, max: 900_000 }).map((cents) => (cents / 100).toFixed(2))
  const item = fc.record({
    name: fc.constantFrom('PAPEL', 'TINTA', 'COLA'),
    cfop: fc.constantFrom('5102', '6102'),
    ncm: fc.constantFrom('48025610', '34025000'),
    value: amount,
  })
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('note' as const),
      number: fc.integer({ min: 1, max: 6 }),
      amount,
      items: fc.array(item, { minLength: 1, maxLength: 4 }),
    }),
    fc.record({
      kind: fc.constant('event' as const),
      number: fc.integer({ min: 1, max: 6 }),
      // A cancellation stays; what is disowned and then confirmed stands again; the last one adds the role of a carrier.
      tpEvento: fc.constantFrom(110111, 210220, 210200, 110150),
    }),
    fc.record({ kind: fc.constant('freight' as const), number: fc.integer({ min: 1, max: 2 }), amount }),
    fc.record({
      kind: fc.constant('freight event' as const),
      number: fc.integer({ min: 1, max: 2 }),
      // The last one says that another CT-e replaces it.
      tpEvento: fc.constantFrom(110111, 610110, 240140),
    }),
    fc.record({ kind: fc.constant('read' as const) }),
    fc.record({ kind: fc.constant('rebuild' as const) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
      const { workspaceId, inside, deliver, rebuild } = await newOffice()
      const written = new Map<number, { xml: string; goods: number }>()
      const freights = new Map<number, string>()
      const replaced = new Set<number>()
      for (const one of steps) {
        if (one.kind === 'read') await readEverything(ctx)
        else if (one.kind === 'rebuild') await rebuild()
        else if (one.kind === 'event')
          await deliver(
            evento(one.tpEvento, { number: one.number, ...(one.tpEvento === 110150 && { named: company }) }),
          )
        else if (one.kind === 'freight') {
          const { number, amount } = one
          freights.set(number, freights.get(number) ?? freightWith({ number, amount, payer: company }))
          await deliver(freights.get(number)!)
        } else if (one.kind === 'freight event') {
          if (one.tpEvento === 240140) replaced.add(one.number)
          await deliver(eventoCte(one.tpEvento, { number: one.number }))
        } else {
          const goods = one.items.reduce((sum, { value }) => sum + Math.round(Number(value) * 100), 0)
          const note = written.get(one.number) ?? { xml: noteWith(one), goods }
          written.set(one.number, note)
          await deliver(note.xml)
        }
      }
      await readEverything(ctx)
      await inside(async (db) => {
        const sums = async (side: number) => {
          // A document has one issuer, one UF and one lane, but several CFOP and NCM.
          const { rows } = await sql`
            select kind, sum(value)::float8 as total, sum(documents) filter (where kind in (0, 3, 4))::int as documents from content_sum
             where workspace_id = ${workspaceId} and side = ${side} group by kind order by kind`.execute(db)
          return rows
        }
        const { rows: all } = await sql<{ number: number; type: number; cents: number }>`
          select number::int as number, type, cents::float8 as cents from document
           where workspace_id = ${workspaceId} and complete and status = any (${standingStatuses}::int[])`.execute(db)
        const standing = all.filter(({ type }) => type === 0)
        const paid = all.filter(({ number, type }) => type === 2 && !replaced.has(number))
        const { rows: products } = await sql<{ value: number }>`
          select coalesce(sum(value), 0)::float8 as value from product_sum where workspace_id = ${workspaceId}`.execute(
          db,
        )
        expect(products[0]!.value).toBe(standing.reduce((sum, { number }) => sum + written.get(number)!.goods, 0))
        const expected = (documents: typeof all, kinds: number[]) =>
          (documents.length === 0 ? [] : kinds).map((kind) => ({
            kind,
            total: documents.reduce((sum, { cents }) => sum + cents, 0),
            documents: [0, 3, 4].includes(kind) ? documents.length : null,
          }))
        expect(await sums(0)).toEqual(expected(standing, [0, 1, 2, 3, 5]))
        expect(await sums(2)).toEqual(expected(paid, [0, 4, 5]))
        const { rows: counts } = await sql`
          (select type, roles, status, n::int, amount from count_month where workspace_id = ${workspaceId} and n <> 0) except
          select type, roles, status, count(*)::int, sum(amount) from document where workspace_id = ${workspaceId} group by 1, 2, 3`.execute(
          db,
        )
        expect(counts).toEqual([])
      })
    }),
    {
      numRuns: runs(15),
      examples: [
        [
          [
            { kind: 'note', number: 1, amount: '9.00', items: [] },
            { kind: 'freight', number: 1, amount: '7.00' },
            { kind: 'freight', number: 2, amount: '5.00' },
            { kind: 'rebuild' },
            { kind: 'read' },
            { kind: 'event', number: 1, tpEvento: 110150 },
            { kind: 'freight event', number: 1, tpEvento: 240140 },
            { kind: 'freight event', number: 2, tpEvento: 110111 },
          ],
        ],
      ],
    },
  )
})

test('a day that is none is no due date, and half of a character at the end of a long name is stored', async () => {
  const { workspaceId, inside, deliver, found } = await newOffice()
  const cut = { name: `${'A'.repeat(119)}😀`, code: 'CUT-1' }
  await deliver(noteWith({ number: 6, dues: [['2026-13-40', '1.00']], items: [cut] }))
  await readEverything(ctx)
  const { rows } = await inside((db) =>
    sql`select due_on::text as day from installment where workspace_id = ${workspaceId}`.execute(db),
  )
  expect(rows).toEqual([{ day: 'infinity' }])
  expect(await found('CUT-1')).toEqual([6])
})

test('a quantity beyond all columns keeps no other product from being counted', async () => {
  const { deliver, products } = await newOffice()
  await deliver(noteWith({ number: 9, items: [{ quantity: '999999999999999.0000', name: 'TINTA' }] }), noteWith(note))
  await readEverything(ctx)
  expect(await products()).toEqual([
    ['PAPEL TOALHA', 1, 1900, '4'],
    ['SABÃO LÍQUIDO', 1, 1200, '2'],
  ])
})
