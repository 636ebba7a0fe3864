import { describe, expect, test } from 'vitest'
import { ExportForm } from './document-files.ts'
import { DocumentFilter, DocumentQuery, selectionMax } from './documents.ts'

const parse = (query: Record<string, string>) => DocumentQuery.safeParse({ TipoDFe: '0', ...query })

test('the page defaults to 1 and texts become numbers', () => {
  expect(parse({ Status: '3', TipoParticipacao: '0' }).data).toEqual({
    TipoDFe: 0,
    PaginaAtual: 1,
    Ordem: 'data',
    Status: 3,
    TipoParticipacao: 0,
  })
})

test('the filter of an export takes the same numbers, and nothing else', () => {
  const filter = { TipoDFe: '2', Status: 3, TipoParticipacao: '0' }
  expect(DocumentFilter.parse(filter)).toEqual({ TipoDFe: 2, Status: 3, TipoParticipacao: 0 })
  for (const TipoDFe of [null, false, [], '', ' 0', '0x0', '2e0'])
    expect(DocumentFilter.safeParse({ TipoDFe }).error?.issues.map(({ message }) => message)).toEqual([
      'TipoDFe deve ser 0 (NFe) ou 2 (CTe)',
    ])
})

test.each([
  [{ TipoDFe: '1' }, 'TipoDFe deve ser 0 (NFe) ou 2 (CTe)'],
  [{ TipoDFe: 'x' }, 'TipoDFe deve ser 0 (NFe) ou 2 (CTe)'],
  [{ Status: '99' }, 'Status desconhecido'],
  [{ TipoParticipacao: '8' }, 'TipoParticipacao desconhecido'],
  [{ PaginaAtual: '0' }, 'PaginaAtual deve ser um número a partir de 1'],
  [{ PaginaAtual: '1.5' }, 'PaginaAtual deve ser um número a partir de 1'],
  [{ DataDe: '2026-02-30T00:00:00' }, 'DataDe não é uma data válida'],
  [{ DataDe: '2026-02-28' }, 'DataDe deve estar no formato aaaa-MM-ddTHH:mm:ss'],
  [{ DataDe: '2026-03-01T00:00:00', DataAte: '2026-02-01T00:00:00' }, 'A data inicial deve ser anterior à data final'],
])('%j is refused with words', (query, message) => {
  expect(parse(query).error?.issues.map((issue) => issue.message)).toEqual([message])
})

describe('an export', () => {
  const filtro = { TipoDFe: 0 }

  test('holds XML and spreadsheet by default', () => {
    expect(ExportForm.parse({ filtro })).toEqual({ filtro, xml: true, pdf: false, planilha: true })
  })

  test.each([
    [{}],
    [{ filtro, idsDFe: ['x'] }],
    [{ idsDFe: [] }],
    [{ idsDFe: Array(selectionMax + 1).fill('x') }],
    [{ filtro: {} }],
    [{ filtro: { TipoDFe: 0, DataDe: '2026-03-01T00:00:00', DataAte: '2026-02-01T00:00:00' } }],
    [{ filtro, xml: false, planilha: false }],
    [{ filtro, xml: 'sim' }],
  ])('%# is refused', (form) => {
    expect(ExportForm.safeParse(form).success).toBe(false)
  })
})
