import { getReformSheet } from '@vigia/contract/reform'
import { beforeEach, describe, expect, test } from 'vitest'
import { noteWith, readEverything, type TestNote } from '../../documents/contents/testing.ts'
import { searchDocuments } from '../../documents/list/list.ts'
import { company, deliverTo, evento } from '../../documents/testing.ts'
import { useContext } from '../../platform/database.testing.ts'
import { readWorkspace } from '../../platform/database.ts'
import { insertCompany, newWorkspace } from '../../platform/testing.ts'
import { requestText } from './request-text.ts'
import { readSheet, type SheetFilter } from './sheet.ts'
import { sheetFile } from './spreadsheet.ts'

const { ctx } = await useContext()
let workspaceId: number
let companyId: number

beforeEach(async () => {
  workspaceId = await newWorkspace(ctx.db)
  companyId = (await insertCompany(ctx.db, workspaceId, { cnpj: company })).id
})

const [normal, simples, other] = ['11222333000181', '99888777000166', '33444555000181']
const taxes = (rate = '0.9000', cbs = '0.18') =>
  `<IBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib><gIBSCBS><vBC>20.00</vBC><gIBSUF><pIBSUF>0.1000</pIBSUF><vIBSUF>0.02</vIBSUF></gIBSUF><gIBSMun><pIBSMun>0.0000</pIBSMun><vIBSMun>0.00</vIBSMun></gIBSMun><vIBS>0.02</vIBS><gCBS><pCBS>${rate}</pCBS><vCBS>${cbs}</vCBS></gCBS></gIBSCBS></IBSCBS>`

async function deliver(...files: string[]): Promise<void> {
  await deliverTo(ctx, { workspaceId, companyId }, 'nfe', files)
  await readEverything(ctx)
}

const note = (options: TestNote) => noteWith({ amount: '20.00', ...options })
const size = { suppliers: 10, codes: 10, findings: 10, notes: 10 }
const read = (filter: Partial<SheetFilter> = {}) =>
  readWorkspace(ctx, workspaceId, ({ db }) =>
    readSheet({ db, ids: ctx.ids }, workspaceId, { month: '2026-11', ...filter }, size),
  )

test('a month: what suppliers informed, by supplier, CFOP and NCM, and who did not', async () => {
  await deliver(
    note({ number: 1, issuer: other, items: [{ taxes: taxes() }] }),
    note({ number: 2, issuer: other, items: [{ taxes: taxes() }, { cfop: '5405', ncm: '48010000' }] }),
    note({ number: 3, issuer: normal, issuerName: 'PAPELARIA', items: [{}] }),
    note({ number: 4, issuer: normal, issuerName: 'PAPELARIA', items: [{}] }),
    note({ number: 5, issuer: simples, crt: '1', items: [{}] }),
    note({ number: 6, issuer: other, issuedAt: '2026-10-10T09:15:00-03:00', items: [{ taxes: taxes() }] }),
    note({ number: 7, issuer: normal, items: [{}] }),
    evento(110111, { number: 7, issuer: normal }),
  )
  const sheet = await read()
  expect(getReformSheet.data.parse(sheet)).toEqual(sheet)
  expect(sheet.aviso).toMatch(/^2026 é ano-teste/)
  expect(sheet.total).toEqual([{ tipoDFe: 0, documentos: 5, valor: 100, ibs: 0.04, cbs: 0.36, is: 0 }])
  expect(sheet.fornecedores).toEqual([
    {
      tipoDFe: 0,
      cnpjCpf: other,
      nome: 'PAPELARIA SÃO JOÃO LTDA',
      documentos: 2,
      valor: 40,
      ibs: 0.04,
      cbs: 0.36,
      is: 0,
    },
  ])
  expect(sheet.cfops.map(({ codigo, documentos, cbs }) => [codigo, documentos, cbs])).toEqual([['5102', 5, 0.36]])
  expect(sheet.ncms.map(({ codigo }) => codigo)).toEqual(['48025610'])
  const { rows: _, ...behind } = await searchDocuments(ctx, workspaceId, {
    TipoDFe: 0,
    DataDe: '2026-11-01T00:00:00',
    DataAte: '2026-11-30T23:59:59',
    ContaComo: 'compras',
    LinhaDoRelatorio: 'classificacao:000001',
    page: 1,
  })
  expect(sheet.classificacoes.map(({ codigo, nome, documentos, cbs }) => [codigo, nome, documentos, cbs])).toEqual([
    ['000001', 'Tributação integral', behind.total, 0.36],
  ])
  expect(behind).toMatchObject({ total: 2, amount: '40.00' })
  expect([sheet.com, sheet.parcial, sheet.sem, sheet.dispensado]).toEqual(
    [20, 20, 40, 20].map((valor) => [{ tipoDFe: 0, documentos: valor / 20, valor }]),
  )
  expect(sheet.semGrupos).toMatchObject([{ cnpjCpf: normal, nome: 'PAPELARIA', tipoDFe: 0, documentos: 2, valor: 40 }])
  expect(sheet.semGrupos[0]!.texto).toMatch(
    /PAPELARIA \(CNPJ 11\.222\.333\/0001-81\) 2 notas fiscais de novembro de 2026 .*3 e 4/,
  )
  expect((await read({ month: '2026-10' })).total[0]!.documentos).toBe(1)
  expect((await read({ companyId: companyId + 1 })).total).toEqual([])
})

test('findings come as sentences, without those that only say that the groups are missing', async () => {
  await deliver(
    note({ number: 1, items: [{ taxes: taxes('0.8000', '0.16') }] }),
    note({ number: 2, items: [{}] }),
    note({ number: 3, issuedAt: '2026-11-20T09:15:00-03:00', items: [{ taxes: taxes() }, {}] }),
  )
  const { achados, achadosAoTodo } = await read()
  expect(achados.map(({ numero, achados }) => [numero, achados.map(({ codigo }) => codigo)])).toEqual([
    [3, ['rt-parcial']],
    [1, ['rt-aliquota']],
  ])
  expect(achados[1]!.achados[0]!.frase).toMatch(/^Item 1: pCBS de 0,8/)
  expect(achadosAoTodo).toEqual([{ tipoDFe: 0, documentos: 2, valor: 40 }])
})

describe('notes of suppliers', () => {
  test('a nota de crédito waits for an answer in any month until one is registered; a nota de débito is told in its month', async () => {
    await deliver(
      note({ number: 1, finNFe: '5', issuedAt: '2026-08-10T09:15:00-03:00' }),
      note({ number: 2, finNFe: '5' }),
      note({ number: 3, finNFe: '6' }),
      note({ number: 4 }),
    )
    const sheet = await read()
    expect(sheet.creditos.map(({ numero }) => numero)).toEqual([1, 2])
    expect(sheet.creditos[0]!.dias).toBeGreaterThan(sheet.creditos[1]!.dias)
    expect(sheet.debitos.map(({ numero }) => numero)).toEqual([3])
    expect([sheet.creditosAoTodo, sheet.debitosAoTodo]).toEqual([2, 1])
    await deliver(evento(211128, { number: 1, detail: '<indAceitacao>1</indAceitacao>' }))
    const after = await read({ month: '2026-12' })
    expect(after.creditos.map(({ numero }) => numero)).toEqual([2])
    expect(after.debitos).toEqual([])
  })
})

test('the letter to a supplier names the documents, and no more of them than somebody reads', () => {
  const missing = {
    cnpjCpf: normal,
    nome: 'PAPELARIA',
    tipoDFe: 0,
    documentos: 1,
    valor: 20,
    numbers: [7],
    month: '2026-11',
    company: 'EMPRESA',
  }
  expect(requestText(missing)).toMatch(/^Prezados,\n\nA EMPRESA recebeu de PAPELARIA .* 1 nota fiscal .*: 7\.\n/)
  expect(requestText({ ...missing, documentos: 30, numbers: [1, 2] })).toMatch(/: 1, 2 e mais 28\./)
  expect(requestText({ ...missing, tipoDFe: 2 })).toMatch(/1 CT-e de novembro/)
})

test('the file has every part, and says what the values are not', async () => {
  await deliver(note({ number: 1, items: [{ taxes: taxes() }] }), note({ number: 2, items: [{}] }))
  const file = await sheetFile(await read(), 'EMPRESA', new Date())
  expect(file.subarray(0, 2).toString()).toBe('PK')
})
