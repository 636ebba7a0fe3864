import { dueDocuments, pendingLists } from '@vigia/contract/pending'
import { expect, test } from 'vitest'
import { parseAmount } from '../../lib/amount.ts'
import { documentKinds } from '../../lib/kinds.ts'
import { defaultFilters, type Filters, isNarrowed, readFilters, toQuery, writeFilters } from './filters.ts'

const { nfe, cte } = documentKinds

const today = new Date(2026, 10, 20)
const read = (address: string, kind = nfe) => readFilters(new URLSearchParams(address), kind, today)
const write = (part: Partial<Filters>) => writeFilters({ ...defaultFilters(today), ...part }, today).toString()

test('an empty address is the current month, all companies, page 1', () => {
  expect(read('')).toEqual(defaultFilters(today))
  expect(toQuery(read(''), nfe)).toEqual({
    TipoDFe: 0,
    CampoPesquisa: undefined,
    PaginaAtual: 1,
    IdEmpresa: undefined,
    Status: undefined,
    TipoParticipacao: undefined,
    DataDe: '2026-11-01T00:00:00',
    DataAte: '2026-11-30T23:59:59',
  })
})

test.each([
  [{}, ''],
  [{ search: 'papelaria sol' }, 'busca=papelaria+sol'],
  [{ participation: '0', status: '3', company: 'x' }, 'empresa=x&participacao=0&status=3'],
  [{ company: 'ativas' }, 'empresa=ativas'],
  [{ dueTo: '2026-11-21' }, 'prazoAte=2026-11-21'],
  [
    { dueFrom: '2026-11-22', dueTo: '2026-11-22', dueAnswer: 'ciencia' },
    'prazoDe=2026-11-22&prazoAte=2026-11-22&prazoPara=ciencia',
  ],
  [{ mark: 'por-conferir' }, 'marca=por-conferir'],
  [{ alert: 'alto' }, 'alerta=alto'],
  [{ reform: 'dispensado' }, 'reforma=dispensado'],
  [{ counted: 'compras' }, 'contaComo=compras'],
  [{ counted: 'emitidas', line: 'participante:' }, 'contaComo=emitidas&linha=participante%3A'],
  [{ period: null }, 'periodo=todos'],
  [{ period: { from: '2026-10-01', to: '2026-10-31' }, page: 3 }, 'de=2026-10-01&ate=2026-10-31&pagina=3'],
  [{ amountFrom: '1000', amountTo: '16471.02' }, 'valorDe=1000&valorAte=16471.02'],
  [{ order: 'valor' }, 'ordem=valor'],
  [{ order: 'prazo', ascending: true }, 'ordem=prazo'],
  [{ order: 'prazo', ascending: false }, 'ordem=prazo&sentido=desc'],
  [{ ascending: true }, 'sentido=asc'],
] as [Partial<Filters>, string][])('%j is written as "%s" and read back', (part, address) => {
  expect(write(part)).toBe(address)
  expect(read(address)).toEqual({ ...defaultFilters(today), ...part })
})

test.each([
  'pagina=0',
  'pagina=-1',
  'pagina=1.5',
  'pagina=x',
  'valorDe=x',
  'valorAte=-1',
  'ordem=toString',
  'sentido=acima',
  'status=7',
  'status=99',
  'marca=todas',
  'prazoDe=2026-02-30',
  'prazoDe=2026-11-22&prazoAte=2026-11-21',
  'prazoPara=nada',
  'reforma=todas',
  'participacao=7',
  'de=2026-02-30&ate=2026-03-01',
  'de=2026-03-01&ate=2026-02-01',
  'de=2026-03-01',
])('%s makes no sense and is ignored', (address) => {
  expect(read(address)).toEqual(defaultFilters(today))
})

test.each(Object.keys(defaultFilters(today)) as (keyof Filters)[])(
  '%s narrows the list unless it is place or time',
  (name) => {
    const only = { ...defaultFilters(today), [name]: 'x' }
    expect(isNarrowed(only)).toBe(!['period', 'order', 'ascending', 'hidden', 'page'].includes(name))
  },
)

const numbers = [
  ...Object.values(pendingLists('2026-11-20')).filter(({ to }) => /^\/(notas-fiscais|cte)\?/.test(to)),
  dueDocuments({ dia: '2026-11-25', tipoDFe: 0, para: 'ciencia' }),
  dueDocuments({ dia: '2026-11-25', tipoDFe: 2, para: 'desacordo' }),
]

test.each(numbers)('$to shows the documents that its number counts', ({ to, query }) => {
  const kind = query.TipoDFe === 2 ? cte : nfe
  const asked = toQuery(readFilters(new URL(to, 'https://a.example').searchParams, kind, today), kind)
  const { Ordem, Sentido, PaginaAtual, ...filter } = asked as Record<string, unknown>
  expect([Ordem, Sentido, PaginaAtual]).toEqual(query.Ordem ? ['prazo', 'asc', 1] : [undefined, undefined, 1])
  const { Ordem: _, ...counted } = query
  const texts = (one: object) =>
    Object.fromEntries(
      Object.entries(one).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]])),
    )
  expect(texts(filter)).toEqual(texts(counted))
})

test('each document type knows its own codes', () => {
  expect(read('status=7', cte).status).toBe('7')
  expect(read('participacao=7', cte).participation).toBe('7')
  expect(read('participacao=2', cte).participation).toBe('')
  expect(toQuery(read('status=7&participacao=0', cte), cte)).toMatchObject({
    TipoDFe: 2,
    Status: '7',
    TipoParticipacao: '0',
  })
})

test.each([
  ['16.471,02', '16471.02'],
  ['R$ 16471,5', '16471.5'],
  ['16471.02', '16471.02'],
  ['1.000', '1000'],
  ['1.00.0', null],
  ['-1', null],
  ['mil', null],
])('the amount %s is %s', (text, amount) => {
  expect(parseAmount(text)).toBe(amount)
})
