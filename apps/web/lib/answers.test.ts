import { getCompany, listCompanies } from '@vigia/contract/companies'
import { listDocuments } from '@vigia/contract/documents'
import { previewManifestation } from '@vigia/contract/manifestation'
import { getDashboard, getPlan } from '@vigia/contract/workspace'
import { expect, test } from 'vitest'
import { complete, isUnknownCall } from './answers.ts'
import { ApiError } from './api.ts'

test('what an answer does not tell is unknown', () => {
  expect(complete(listCompanies, [{ id: 7, razaoSocial: 'Sol' }])).toMatchObject([
    { id: '7', cnpj: '', captura: null, sincronizacaoAutomatica: null, documentosNoMes: null },
  ])
  const company = complete(getCompany, { empresaUf: null, configuracaoNFe: { emitenteNFe: true } })
  expect(company.empresaUf).toEqual({ codUf: 35, uf: 'SP' })
  expect(company.configuracaoNFe).toMatchObject({ emitenteNFe: true, terceiroNFe: null, ultimoNsu: '' })
  expect(company.certificado).toBeUndefined()
  expect(complete(listDocuments, { items: null, totalDePaginas: 3 })).toEqual({
    items: [],
    totalDePaginas: 3,
    totalDeItens: null,
    valorTotal: null,
  })
  expect(complete(getDashboard, { qtdNfe: 3 })).toMatchObject({ qtdNfe: 3, documentosPorDia: null, pendencias: null })
})

test('what an answer tells stays, and the id of a document goes back as it came', () => {
  const row = { idDfe: 7, valor: 0, status: { codigoEvento: 100, descricaoEvento: 'Autorizada' }, notaCompleta: true }
  const [document] = complete(listDocuments, { items: [row] }).items
  expect(document).toMatchObject(row)
  expect(complete(getCompany, { certificado: null }).certificado).toBeNull()
})

test('a certificate of which the day alone is told lasts until the end of that day', () => {
  const validity = (validadeCertificadoA1: string) =>
    complete(listCompanies, [{ validadeCertificadoA1 }])[0]?.validadeCertificadoA1
  expect(validity('2026-12-31')).toBe('2026-12-31T23:59:59')
  expect(validity('2026-12-31T12:00:00Z')).toBe('2026-12-31T12:00:00Z')
})

test('an answer of another shape is none', () => {
  for (const data of [{}, [], 'ok', { situacao: '', mensagem: '', empresas: [], documentosNoMes: {} }])
    expect(() => complete(getPlan, data)).toThrow('a resposta do servidor veio incompleta')
  expect(() => complete(listCompanies, {})).toThrow('incompleta')
})

test('a server that does not know a call of ours says so by its status or by the shape', () => {
  expect([404, 405, 501, 400, 500, 0].map((status) => isUnknownCall(new ApiError('', status)))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ])
  const shapeless = () => complete(previewManifestation, {})
  expect(shapeless).toThrow(expect.toSatisfy(isUnknownCall))
})
