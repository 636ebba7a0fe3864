import { expect, test } from 'vitest'
import { ApiError } from './api.ts'
import {
  alertsQuery,
  companiesQuery,
  companyQuery,
  dashboardQuery,
  documentsQuery,
  freightQuery,
  installmentsQuery,
  isUnknownCall,
  planQuery,
  previewQuery,
} from './response-adapter.ts'

test('what a response does not tell is null', () => {
  expect(companiesQuery.adapt([{ id: 7, razaoSocial: 'Sol' }])).toMatchObject([
    { id: '7', cnpj: '', captura: null, sincronizacaoAutomatica: null, documentosNoMes: null },
  ])
  const company = companyQuery.adapt({ empresaUf: null, configuracaoNFe: { emitenteNFe: true } })
  expect(company.empresaUf).toEqual({ codUf: 35, uf: 'SP' })
  expect(company.configuracaoNFe).toMatchObject({ emitenteNFe: true, terceiroNFe: null, ultimoNsu: '' })
  expect(company.certificado).toBeUndefined()
  expect(documentsQuery.adapt({ items: null, totalDePaginas: 3 })).toEqual({
    items: [],
    totalDePaginas: 3,
    totalDeItens: null,
    valorTotal: null,
  })
  expect(dashboardQuery.adapt({ qtdNfe: 3 })).toMatchObject({
    qtdNfe: 3,
    documentosPorDia: null,
    pendencias: null,
    avisos: [],
  })
})

test('what a response tells stays, and the id of a document goes back as it came', () => {
  const row = { idDfe: 7, valor: 0, status: { codigoEvento: 100, descricaoEvento: 'Autorizada' }, notaCompleta: true }
  const [document] = documentsQuery.adapt({ items: [row] }).items
  expect(document).toMatchObject(row)
  expect(companyQuery.adapt({ certificado: null }).certificado).toBeNull()
})

test('a certificate whose validity is a date without a time lasts until the end of that day', () => {
  const validity = (validadeCertificadoA1: string) =>
    companiesQuery.adapt([{ validadeCertificadoA1 }])[0]?.validadeCertificadoA1
  expect(validity('2026-12-31')).toBe('2026-12-31T23:59:59')
  expect(validity('2026-12-31T12:00:00Z')).toBe('2026-12-31T12:00:00Z')
})

test('a response of another shape is refused', () => {
  for (const data of [{}, [], 'ok', { situacao: '', mensagem: '', empresas: [], documentosNoMes: {} }])
    expect(() => planQuery.adapt(data)).toThrow('a resposta do servidor veio incompleta')
  expect(() => companiesQuery.adapt({})).toThrow('incompleta')
})

test('a list says where it goes on, or null after its last row', () => {
  const page = { items: [], totalDeItens: 51, somas: [], total: {} }
  for (const query of [alertsQuery, freightQuery, installmentsQuery])
    for (const proximo of [null, '0190'])
      expect(query.adapt({ ...page, proximo }), `${query.path} ${proximo}`).toMatchObject({ proximo })
  expect(() => alertsQuery.adapt(page)).toThrow('incompleta')
})

test('a server that does not know a call of ours says so by its status or by the shape', () => {
  const statuses = [404, 405, 501, 400, 500, 0]
  expect(statuses.filter((status) => isUnknownCall(new ApiError('', status)))).toEqual([404, 405, 501])
  expect(() => previewQuery.adapt({})).toThrow(expect.toSatisfy(isUnknownCall))
})
