import { describe, expect, test } from 'vitest'
import { DocumentFilter, DocumentQuery, ExportForm, selectionMax } from './documents.ts'

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
  [{ TipoDFe: '1' }],
  [{ TipoDFe: 'x' }],
  [{ Status: '99' }],
  [{ TipoParticipacao: '8' }],
  [{ PaginaAtual: '0' }],
  [{ PaginaAtual: '1.5' }],
  [{ DataDe: '2026-02-30T00:00:00' }],
  [{ DataDe: '2026-02-28' }],
  [{ DataDe: '2026-03-01T00:00:00', DataAte: '2026-02-01T00:00:00' }],
])('%j is refused', (query) => {
  expect(parse(query).success).toBe(false)
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
