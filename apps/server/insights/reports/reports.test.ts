import type { ReportGroup } from '@vigia/contract/reports'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { runs } from '../../../../tests/support/seed.ts'
import { addProductSums, noteWith, readEverything, type TestNote } from '../../documents/contents/testing.ts'
import { rebuildProjection } from '../../documents/rebuild.ts'
import { company, deliverTo, evento } from '../../documents/testing.ts'
import type { Database } from '../../platform/context.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace, limitedRole, limitTo, openDatabase } from '../../platform/database.ts'
import { insertCompany, newWorkspace } from '../../platform/testing.ts'
import { readPrices } from './prices.ts'
import { readReport } from './reports.ts'
import { makeSheet } from './sheet.ts'
import type { Question } from './sums.ts'

const { url, ctx } = await useContext()
const limited = openDatabase(url, { role: limitedRole })

afterAll(() => limited.destroy())

const purchases: Question = {
  subject: 'compras',
  group: 'participante',
  from: '2026-11',
  to: '2026-11',
  companyId: undefined,
  text: '',
}
const groups: ReportGroup[] = ['participante', 'mes', 'cfop', 'ncm', 'uf', 'produto']
const issuers = ['111111110001', '222222220001', '333333330001'].map((first12) => first12 + cnpjCheckDigits(first12))

async function newOffice() {
  const workspaceId = await newWorkspace(ctx.db)
  const { id: companyId } = await insertCompany(ctx.db, workspaceId, { cnpj: company })
  const { id: otherId } = await insertCompany(ctx.db, workspaceId, { cnpj: '11222333000181', name: 'LUA' })
  const inside = <T>(work: (db: Database) => Promise<T>) =>
    inWorkspace({ db: ctx.db }, workspaceId, ({ db }) => work(db))
  return {
    workspaceId,
    companyId,
    otherId,
    inside,
    deliver: (...files: string[]) => deliverTo(ctx, { workspaceId, companyId }, 'nfe', files),
    rebuild: () => rebuildProjection(ctx, { workspaceId, companyId, cnpj: company }),
    read: (question: Partial<Question> = {}, page = 1) =>
      readReport(ctx, workspaceId, { ...purchases, ...question }, page),
    /** Rows of a product as documents would leave them. */
    sell: (
      id: number,
      value: number,
      { month = '2026-11', company = companyId, name = `PRODUTO ${id}`, gtin = '' } = {},
    ) =>
      inside(async (db) => {
        await sql`
          insert into product (workspace_id, id, issuer, code, name, ncm, unit, bare, gtin)
          values (${workspaceId}, ${id}, ${issuers[id % 3]!}, ${String(id)}, ${name}, '48025610', 'CX', ${String(id)}, ${gtin || null}) on conflict do nothing`.execute(
          db,
        )
        await addProductSums(db, workspaceId, [{ product: id, company, month: `${month}-01`, value, units: 4 }])
      }),
  }
}

const cents = (reais: number) => Math.round(reais * 100)

test('whatever arrives, is cancelled and is made anew, every report is the documents to the cent, and its lines and the rest are its total', async () => {
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
      issuer: fc.constantFrom(...issuers),
      issuerUf: fc.constantFrom('SP', 'PR'),
      items: fc.array(item, { minLength: 1, maxLength: 4 }),
    }),
    fc.record({ kind: fc.constant('cancel' as const), number: fc.integer({ min: 1, max: 6 }) }),
    fc.record({ kind: fc.constant('rebuild' as const) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
      const { workspaceId, companyId, otherId, inside, deliver, rebuild, read } = await newOffice()
      const written = new Map<number, TestNote>()
      for (const one of steps) {
        if (one.kind === 'rebuild') await rebuild()
        else if (one.kind === 'cancel')
          await deliver(evento(110111, { number: one.number, ...issuerOf(written.get(one.number)) }))
        else {
          const note = written.get(one.number) ?? one
          written.set(one.number, note)
          await deliver(noteWith(note))
        }
      }
      await readEverything(ctx)
      const { rows } = await inside((db) =>
        sql<{ total: number; documents: number }>`
          select coalesce(sum(cents), 0)::float8 as total, count(*)::int as documents from document
           where workspace_id = ${workspaceId} and complete and status = 2`.execute(db),
      )
      const { total, documents } = rows[0]!
      for (const group of groups)
        for (const month of ['2026-11', '2026-12', '2027-11']) {
          const report = await read({ group, from: month, to: month })
          const whole = { '2026-11': 'valor', '2026-12': 'anterior', '2027-11': 'anoAnterior' } as const
          const name = whole[month as keyof typeof whole]
          expect([group, name, cents(report.total[name])]).toEqual([group, name, total])
          const lines = [...report.linhas, ...(report.demais ? [report.demais] : [])]
          expect([group, name, lines.reduce((sum, line) => sum + cents(line[name]), 0)]).toEqual([group, name, total])
          if (name === 'valor') expect(report.total.documentos).toBe(documents)
        }
      expect((await read({ group: 'mes', from: '2026-10', to: '2026-12' })).demais).toBeNull()
      expect(cents((await read({ companyId })).total.valor)).toBe(total)
      expect((await read({ companyId: otherId })).linhas).toEqual([])
    }),
    { numRuns: runs(8) },
  )
})

const issuerOf = (note: TestNote | undefined) => (note?.issuer === undefined ? {} : { issuer: note.issuer })

test('of many products the largest come first and exactly, whichever months and companies they were bought in', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          id: fc.integer({ min: 1, max: 160 }),
          month: fc.constantFrom('2025-12', '2026-10', '2026-11'),
          other: fc.boolean(),
          value: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 1_000_000 })),
        }),
        { minLength: 60, maxLength: 250 },
      ),
      async (sales) => {
        const { workspaceId, companyId, otherId, inside, read } = await newOffice()
        const cells = new Map(sales.map((one) => [`${one.id} ${one.month} ${one.other}`, one]))
        await inside(async (db) => {
          await addProductSums(
            db,
            workspaceId,
            [...cells.values()].map(({ id, month, other, value }) => ({
              ...{ product: id, company: other ? otherId : companyId, month: `${month}-01` },
              ...{ value, units: 1 },
            })),
          )
          await sql`
            insert into product (workspace_id, id, issuer, code, name, ncm, unit, bare)
            select ${workspaceId}::int, u.id, '', '', '', '', 'UN', '' from unnest(${[...new Set(sales.map(({ id }) => id))]}::int[]) u (id) returning id`.execute(
            db,
          )
        })
        const totals = new Map<number, number>()
        for (const { id, value } of cells.values()) totals.set(id, (totals.get(id) ?? 0) + value)
        const expected = [...totals].sort(([a, x], [b, y]) => y - x || a - b)
        for (const page of [1, 2]) {
          const { linhas } = await read({ group: 'produto', from: '2025-12' }, page)
          expect(linhas.map(({ chave, valor }) => [Number(chave), cents(valor)])).toEqual(
            expected.slice((page - 1) * 50, page * 50),
          )
        }
      },
    ),
    { numRuns: runs(5) },
  )
})

test('who sees some companies only sees their sums, products and prices, whoever asked before', async () => {
  const { workspaceId, companyId, otherId, read, sell } = await newOffice()
  await sell(1, 1000)
  await sell(2, 500, { company: otherId })
  const of = (companies: number[]) => ({ db: limitTo(limited, companies, ctx.db) })
  const products = async (companies: number[]) =>
    (await readReport(of(companies), workspaceId, { ...purchases, group: 'produto' }, 1)).linhas.map(
      ({ chave }) => chave,
    )
  expect((await read({ group: 'produto' })).linhas.map(({ chave }) => chave)).toEqual(['1', '2'])
  expect([await products([companyId]), await products([otherId]), await products([])]).toEqual([['1'], ['2'], []])
  const prices = (companies: number[]) =>
    readPrices(of(companies), workspaceId, 2, { to: '2026-11', companyId: undefined })
  expect(await prices([companyId])).toBeNull()
  expect((await prices([otherId]))?.produto.meses).toEqual([
    { mes: '2026-11', quantidade: 4, valor: 5, precoMedio: 1.25 },
  ])
})

test('a text finds names, codes and beginnings, and its signs are no pattern', async () => {
  const { read, sell } = await newOffice()
  await sell(1, 1000, { name: 'Café TORRADO 500g' })
  await sell(2, 500, { name: 'CAFE VERDE 100%' })
  await sell(3, 200, { name: 'AÇÚCAR_DEMERARA', gtin: '7891000100103' })
  const find = async (text: string) =>
    (await read({ group: 'produto', text })).linhas.map(({ nome }) => nome.slice(0, 6))
  expect(await find('cafe')).toEqual(['Café T', 'CAFE V'])
  expect(await find('TORRADO café')).toEqual(['Café T'])
  expect(await find('100%')).toEqual(['CAFE V'])
  expect(await find('_')).toEqual(['AÇÚCAR'])
  expect(await find('7891000100103')).toEqual(['AÇÚCAR'])
  expect(await find('chá')).toEqual([])
  const { total, totalDeLinhas } = await read({ group: 'produto', text: 'café' })
  expect([total.valor, total.documentos, totalDeLinhas]).toEqual([15, null, 2])
})

test('prices of others are those of the same name or the same GTIN', async () => {
  const { workspaceId, sell } = await newOffice()
  await sell(1, 1000, { name: 'PAPEL', gtin: '789' })
  await sell(2, 1200, { name: 'PAPEL' })
  await sell(3, 800, { name: 'PAPEL A4', gtin: '789' })
  await sell(4, 700, { name: 'TINTA' })
  const found = await readPrices(ctx, workspaceId, 1, { to: '2026-11', companyId: undefined })
  expect(found?.iguais.map(({ id, meses }) => [id, meses[0]?.precoMedio])).toEqual([
    ['2', 3],
    ['3', 2],
  ])
  expect(await readPrices(ctx, workspaceId, 9, { to: '2026-11', companyId: undefined })).toBeNull()
})

test('a spreadsheet of all lines is made, whatever the names are', async () => {
  const { workspaceId, sell } = await newOffice()
  await sell(1, 1000, { name: '=HYPERLINK("http://x")' })
  const content = await makeSheet(ctx, workspaceId, { ...purchases, group: 'produto' }, 'Todas as empresas')
  expect(content.subarray(0, 2).toString()).toBe('PK')
})
