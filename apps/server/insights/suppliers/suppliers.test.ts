import type { RouteData } from '@vigia/contract/route'
import { getSupplier, listSupplierProducts } from '@vigia/contract/suppliers'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { showOnly } from '../../companies/testing.ts'
import { noteWith, readEverything } from '../../documents/contents/testing.ts'
import { company, cteProc, deliverTo, evento } from '../../documents/testing.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { insertCompany, newWorkspace, testCaller, testSession } from '../../platform/testing.ts'
import { supplierRoutes } from './routes.ts'

const { ctx } = await useContext()

async function newOffice() {
  const workspaceId = await newWorkspace(ctx.db)
  const { id: companyId, publicId } = await insertCompany(ctx.db, workspaceId, { cnpj: company, name: 'SOL' })
  const deliver = async (service: 'nfe' | 'cte', ...files: string[]) => {
    await deliverTo(ctx, { workspaceId, companyId }, service, files)
    await readEverything(ctx)
  }
  const run = async <R extends typeof getSupplier | typeof listSupplierProducts>(
    route: R,
    raiz: string,
    query = {},
  ) => {
    const found = supplierRoutes.find((one) => one.route === route)!
    const input = {
      params: { raiz } as never,
      query: route.query.parse(query) as never,
      body: undefined,
      form: undefined,
    }
    return ((await found.run(ctx, input, testSession(workspaceId), testCaller)) as { data: RouteData<R> }).data!
  }
  return { workspaceId, companyId, publicId, deliver, run }
}

// Notes of this month, the one before, and of three years ago, which is in no sum.
const monthOf = (back: number) => {
  const here = new Date(Date.now() - 3 * 3_600_000)
  return new Date(Date.UTC(here.getUTCFullYear(), here.getUTCMonth() - back, 1)).toISOString().slice(0, 7)
}
const at = (back: number, day: string) => `${monthOf(back)}-${day}T09:00:00-03:00`

test('an issuer is told with all its CNPJs, months, share, situations, alerts, answers, taxes and what is due', async () => {
  const { workspaceId, companyId, deliver, run, publicId } = await newOffice()
  const due: [string, string][] = [
    [`${monthOf(1)}-01`, '50.00'],
    ['2099-01-31', '70.00'],
  ]
  await deliver(
    'nfe',
    noteWith({ number: 1, issuedAt: at(36, '01'), amount: '1.00' }),
    noteWith({ number: 2, issuedAt: at(1, '02'), amount: '120.00', dues: due }),
    noteWith({
      number: 3,
      issuedAt: at(0, '01'),
      amount: '30.00',
      issuer: '11222333000262',
      issuerName: 'PAPELARIA FILIAL',
    }),
    noteWith({ number: 4, issuedAt: at(1, '03'), amount: '50.00', issuer: '99888777000104', issuerName: 'OUTRA LTDA' }),
    noteWith({ number: 5, issuedAt: at(1, '04'), amount: '900.00' }),
    evento(210200, { number: 2 }),
    evento(110111, { number: 5 }),
  )
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`
      insert into alert (workspace_id, document_id, company_id, at, score, band, company_base, issuer_base, chave, rules, fired, learning)
      select d.workspace_id, d.id, ${companyId}, 0, 70, 2, '44555666', substr(d.chave, 7, 8), d.chave, '{S01}', '[]', false
        from document d where d.workspace_id = ${workspaceId} and d.number in (2, 4)`.execute(db),
  )
  const supplier = await run(getSupplier, '11222333')
  expect(supplier).toMatchObject({
    raiz: '11222333',
    nome: 'PAPELARIA FILIAL',
    estabelecimentos: [
      { cnpjCpf: '11222333000262', nomes: ['PAPELARIA FILIAL'], uf: 'SP' },
      { cnpjCpf: '11222333000181', nomes: ['PAPELARIA SÃO JOÃO LTDA'], uf: 'SP' },
    ],
    totalDeEstabelecimentos: 2,
    primeiro: { emissao: `${monthOf(36)}-01T09:00:00`, tipoDFe: 0 },
    ultimo: { emissao: `${monthOf(0)}-01T09:00:00` },
    // The cancelled one is in no sum.
    meses: [
      { mes: monthOf(1), notas: { totalDeItens: 1, valorTotal: 120 }, fretes: { totalDeItens: 0, valorTotal: 0 } },
      { mes: monthOf(0), notas: { totalDeItens: 1, valorTotal: 30 } },
    ],
    dozeMeses: { valorTotal: 150, participacao: 0.75 },
    alertas: { abertos: { critico: 0, alto: 1, medio: 0, informativo: 0 }, ultimos: [{ numero: 2, faixa: 'alto' }] },
    vencimentos: {
      abertas: { totalDeItens: 2, valorTotal: 120 },
      vencidas: { totalDeItens: 1, valorTotal: 50 },
      proximo: '2099-01-31',
    },
    faltaLer: 5,
  })
  expect(supplier.situacoes).toEqual(
    expect.arrayContaining([
      { tipoDFe: 0, status: 3, nome: 'Cancelada', totalDeItens: 1 },
      { tipoDFe: 0, status: 6, nome: 'Confirmação', totalDeItens: 1 },
      { tipoDFe: 0, status: 2, nome: 'Autorizada', totalDeItens: 1 },
    ]),
  )
  expect(supplier.recentes.eventos.map(({ tpEvento, totalDeItens }) => [tpEvento, totalDeItens])).toEqual([
    [110111, 1],
    [210200, 1],
  ])
  const { dispensados, sem, parciais, completos } = supplier.recentes.reforma
  expect([supplier.recentes.totalDeItens, dispensados + sem + parciais + completos]).toEqual([4, 4])
  expect(getSupplier.data.parse(supplier)).toStrictEqual(supplier)
  expect(await run(getSupplier, '11222333', { IdEmpresa: publicId })).toEqual(supplier)
})

test('a carrier is told by its freights, and of whom nothing is shown nothing is told', async () => {
  const { workspaceId, deliver, run } = await newOffice()
  await deliver('cte', cteProc({ payer: company, issuedAt: at(0, '01'), amount: '50.00' }))
  const { rows } = await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{ root: string }>`select left(tax_id, 8) as root from supplier where workspace_id = ${workspaceId}`.execute(db),
  )
  const { root } = rows[0]!
  expect(await run(getSupplier, root)).toMatchObject({
    meses: [{ mes: monthOf(0), notas: { totalDeItens: 0 }, fretes: { totalDeItens: 1, valorTotal: 50 } }],
    dozeMeses: { participacao: null },
  })
  await expect(run(getSupplier, '12345678')).rejects.toMatchObject({ code: 'not-found' })
  // A person who sees no document of a supplier does not learn its name.
  await showOnly(ctx.db, workspaceId, { cte: 0 })
  await expect(run(getSupplier, root)).rejects.toMatchObject({ code: 'not-found' })
})

test('products are told with last, lowest and highest price of a month, found by words and codes, fifty a page', async () => {
  const { deliver, run } = await newOffice()
  const item = (price: string, quantity: string, value: string) => ({
    name: 'PAPEL TOALHA ÉCRU',
    code: 'PT-9',
    price,
    quantity,
    value,
  })
  await deliver(
    'nfe',
    noteWith({ number: 1, issuedAt: at(2, '01'), items: [item('10.00', '2.0000', '20.00')] }),
    noteWith({
      number: 2,
      issuedAt: at(1, '01'),
      items: [item('12.50', '4.0000', '50.00'), { name: 'CANETA', code: '12', value: '5.00' }],
    }),
    noteWith({ number: 3, issuedAt: at(0, '01'), items: [item('11.00', '1.0000', '11.00')] }),
    noteWith({ number: 4, issuedAt: at(36, '01'), items: [{ name: 'VELHO' }] }),
    noteWith({
      number: 5,
      issuedAt: at(1, '01'),
      issuer: '99888777000104',
      items: Array.from({ length: 60 }, (_, n) => ({ name: `ITEM ${n}`, code: `I${n}`, value: '1.00' })),
    }),
  )
  const { items, totalDeItens } = await run(listSupplierProducts, '11222333')
  expect(totalDeItens).toBe(2)
  expect(items[0]).toMatchObject({
    codigo: 'PT-9',
    nome: 'PAPEL TOALHA ÉCRU',
    totalDeDocumentos: 3,
    quantidade: '7',
    valorTotal: 81,
    ultimoMes: monthOf(0),
    ultimoPreco: 11,
    menorPreco: 10,
    maiorPreco: 12.5,
  })
  for (const CampoPesquisa of ['ecru papel', 'pt-9'])
    expect((await run(listSupplierProducts, '11222333', { CampoPesquisa })).items.map(({ codigo }) => codigo)).toEqual([
      'PT-9',
    ])
  expect((await run(listSupplierProducts, '11222333', { CampoPesquisa: '%' })).items).toEqual([])
  const pages = [1, 2, 3].map((PaginaAtual) => run(listSupplierProducts, '99888777', { PaginaAtual }))
  expect((await Promise.all(pages)).map(({ items }) => items.length)).toEqual([50, 10, 0])
})
