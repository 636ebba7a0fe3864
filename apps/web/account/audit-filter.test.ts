import { AuditFilter } from '@vigia/contract/workspace'
import { expect, test } from 'vitest'
import { readAuditFilters, toAuditQuery, writeAuditFilters } from './audit-filter.ts'

test('the address brings back the filter that was written into it', () => {
  const filters = {
    search: 'padaria & cia',
    action: 'login-recusado',
    period: { from: '2026-10-01', to: '2026-10-31' },
    page: 3,
  } as const
  const params = writeAuditFilters(filters)
  expect(params.toString()).toBe('busca=padaria+%26+cia&acao=login-recusado&de=2026-10-01&ate=2026-10-31&pagina=3')
  expect(readAuditFilters(params)).toEqual(filters)
})

test.each(['', 'acao=nada&pagina=-1', 'de=2026-10-31&ate=2026-10-01', 'de=2026-02-30&ate=2026-03-01', 'pagina=x'])(
  'what makes no sense is no filter: %s',
  (address) => {
    const filters = readAuditFilters(new URLSearchParams(address))
    expect(filters).toEqual({ search: '', action: '', period: null, page: 1 })
    expect(writeAuditFilters(filters).toString()).toBe('')
  },
)

test('the call accepts the query', () => {
  const filters = readAuditFilters(new URLSearchParams('busca=ana&acao=senha&de=2026-10-01&ate=2026-10-01&pagina=2'))
  expect(AuditFilter.parse(toAuditQuery(filters))).toEqual({
    PaginaAtual: 2,
    Acao: 'senha',
    CampoPesquisa: 'ana',
    DataDe: '2026-10-01T00:00:00',
    DataAte: '2026-10-01T23:59:59',
  })
})
