import { expect, test } from 'vitest'
import type { z } from 'zod'
import { ApiError } from './api.ts'
import * as adapter from './response-adapter.ts'
import {
  companiesQuery,
  companyQuery,
  dashboardQuery,
  documentsQuery,
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

// tests/conformance/lists.test.ts shows that the server responds within the contract, whatever the number of rows.
const queries = Object.entries(adapter).flatMap(([name, value]) =>
  typeof value === 'object' && 'adapt' in value ? [[name, value as adapter.ScreenQuery] as const] : [],
)

test.each(queries)('%s takes every response of the contract', (_, { data, adapt }) => {
  for (const rows of [0, 1, 50, 51, 10_000])
    for (const isKnown of [false, true]) expect(() => adapt(responseOf(data!, { rows, isKnown }))).not.toThrow()
})

/** A response with so many rows in each array; what may be null or absent is so, or `isKnown`. */
function responseOf(schema: z.core.$ZodType, options: { rows: number; isKnown: boolean }): unknown {
  const { def } = schema._zod as z.core.$ZodTypes['_zod']
  const inner = (part: z.core.$ZodType) => responseOf(part, options)
  switch (def.type) {
    case 'nullable':
      return options.isKnown ? inner(def.innerType) : null
    case 'optional':
      return options.isKnown ? inner(def.innerType) : undefined
    case 'array':
      return Array(options.rows).fill(responseOf(def.element, { ...options, rows: Math.min(options.rows, 1) }))
    case 'object':
      return Object.fromEntries(Object.entries(def.shape).map(([name, part]) => [name, inner(part)]))
    case 'union':
      return inner(def.options[0]!)
    case 'tuple':
      return def.items.map(inner)
    case 'enum':
      return Object.values(def.entries)[0]
    case 'literal':
      return def.values[0]
    case 'record':
      return {}
    case 'number':
      return 1
    case 'boolean':
      return true
    case 'string':
      return '2026-11-28'
    case 'null':
      return null
    default:
      throw new Error(`write a response of ${def.type}`)
  }
}

test('a server that does not know a call of ours says so by its status or by the shape', () => {
  const statuses = [404, 405, 501, 400, 500, 0]
  expect(statuses.filter((status) => isUnknownCall(new ApiError('', status)))).toEqual([404, 405, 501])
  expect(() => previewQuery.adapt({})).toThrow(expect.toSatisfy(isUnknownCall))
})
