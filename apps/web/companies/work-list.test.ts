import type { CompanyRow } from '@vigia/contract/companies'
import { expect, test } from 'vitest'
import { capturesOf, isTroubled } from '../lib/capture.ts'
import {
  arrange,
  countOf,
  daysLeft,
  isOffered,
  monitoringOf,
  percentText,
  problemsOf,
  readView,
  validityText,
} from './work-list.ts'

const now = new Date(2026, 10, 20, 12, 0)
const inDays = (days: number, hour = 9) => new Date(2026, 10, 20 + days, hour).toISOString()

type State = NonNullable<CompanyRow['captura']>[number]['estado']

function company(id: string, part: Partial<CompanyRow> = {}, estado: State = 'aguardando'): CompanyRow {
  const capture = {
    estado,
    mensagem: `Está ${estado}.`,
    proximaConsulta: null,
    ultimoNsu: '1',
    maxNsu: '1',
    ultimaResposta: null,
    causaComum: null,
    providencia: null,
  }
  return {
    id,
    razaoSocial: id,
    cnpj: '12ABC34501DE35',
    ativa: true,
    ultimaSincronizacaoNFe: inDays(-1),
    ultimaSincronizacaoCTe: inDays(-1),
    validadeCertificadoA1: inDays(200),
    sincronizacaoAutomatica: true,
    captura: [
      { servico: 'nfe', ...capture },
      { servico: 'cte', ...capture },
    ],
    documentosNoMes: 0,
    ...part,
  }
}

const companies = [
  company('bem'),
  company('bloqueada', {}, 'bloqueada'),
  company('inativa', { ativa: false }),
  company('logo', { validadeCertificadoA1: inDays(20) }),
  company('já', { validadeCertificadoA1: inDays(3) }),
  company('desligada', { sincronizacaoAutomatica: false }),
  company('nunca', { ultimaSincronizacaoNFe: null }),
  company('falha', {}, 'falha'),
  company('parada', {}, 'parada'),
  company('sem certificado', { validadeCertificadoA1: null }),
  company('vencida', { validadeCertificadoA1: inDays(-3), ultimaSincronizacaoCTe: inDays(-9) }),
]
const ids = (rows: readonly CompanyRow[]) => rows.map(({ id }) => id)

test('companies that need a person come first, equal ones stay in the order of their names', () => {
  expect(ids(arrange(companies, { order: 'problema', narrowing: null }, now))).toEqual([
    'parada',
    'sem certificado',
    'vencida',
    'falha',
    'bloqueada',
    'já',
    'logo',
    'desligada',
    'bem',
    'nunca',
    'inativa',
  ])
})

test('the other orders', () => {
  expect(ids(arrange(companies, { order: 'nome', narrowing: null }, now))).toEqual(ids(companies))
  const byCertificate = ids(arrange(companies, { order: 'certificado', narrowing: null }, now))
  expect(byCertificate.slice(0, 4)).toEqual(['sem certificado', 'vencida', 'já', 'logo'])
  const bySync = ids(arrange(companies, { order: 'sincronizacao', narrowing: null }, now))
  expect(bySync.slice(0, 3)).toEqual(['nunca', 'vencida', 'bem'])
})

test('the filters of the list', () => {
  const only = (narrowing: 'problema' | 'certificado' | 'inativas') =>
    ids(arrange(companies, { order: 'nome', narrowing }, now))
  expect(only('problema')).toEqual(['bloqueada', 'falha', 'parada', 'sem certificado', 'vencida'])
  expect(only('certificado')).toEqual(['logo', 'já', 'vencida'])
  expect(only('inativas')).toEqual(['inativa'])
  expect(countOf('problema', companies, now)).toBe(5)
})

test('an address with invalid values shows the default list', () => {
  expect(readView(new URLSearchParams('ordem=certificado&so=inativas'))).toEqual({
    order: 'certificado',
    narrowing: 'inativas',
  })
  expect(readView(new URLSearchParams('ordem=cor&so=1'))).toEqual({ order: 'problema', narrowing: null })
})

test.each([
  [inDays(12), 12, 'Vence em 12 dias'],
  [inDays(1), 1, 'Vence em 1 dia'],
  [inDays(0, 18), 0, 'Vence hoje'],
  [inDays(0, 9), 0, 'Vencido hoje'],
  [inDays(-1), -1, 'Vencido há 1 dia'],
  [inDays(-1200), -1200, 'Vencido há 1.200 dias'],
])('%s is told in days', (validity, days, words) => {
  expect(daysLeft(validity, now)).toBe(days)
  expect(validityText(validity, now)).toBe(words)
})

test('an unreadable validity has no number of days', () => {
  expect(daysLeft('nada', now)).toBeNull()
  expect(daysLeft(null, now)).toBeNull()
})

test('a reason that stops both services is shown once', () => {
  expect(problemsOf(company('a', {}, 'parada'), now)).toHaveLength(1)
  expect(problemsOf(company('a'), now)).toEqual([])
})

test('a company counts as one with a problem when its lamp and its text show one', () => {
  const troubled = companies.filter((company) => capturesOf(company, now).some(isTroubled))
  expect(ids(troubled)).toEqual(ids(arrange(companies, { order: 'nome', narrowing: 'problema' }, now)))
  for (const company of troubled) expect(problemsOf(company, now).every(({ mensagem }) => mensagem !== '')).toBe(true)
  expect(countOf('problema', companies, now)).toBe(troubled.length)
})

test('a synchronization that people switched off is no trouble', () => {
  const off = company('desligada', { sincronizacaoAutomatica: false })
  expect(monitoringOf([off], now)).toEqual({ percent: '100%', note: 'Monitoramento ativo, 2 consultas desligadas' })
  expect(monitoringOf([off, company('bem')], now)).toEqual({
    percent: '100%',
    note: 'Monitoramento ativo, 2 consultas desligadas',
  })
  expect(monitoringOf([off, company('falha', {}, 'falha')], now)).toEqual({
    percent: '0%',
    note: '2 consultas com problema, 2 desligadas',
  })
})

test.each([
  [2, 3, '67%'],
  [1, 3, '33%'],
  [999, 1000, '99%'],
  [1, 1000, '1%'],
  [3, 3, '100%'],
  [0, 3, '0%'],
  [0, 0, '100%'],
])('%i of %i are %s', (part, whole, words) => {
  expect(percentText(part, whole)).toBe(words)
})

test('a certificate that has ended or ends soon is in one list each, offered where it has companies', () => {
  const ended = company('vencida', { validadeCertificadoA1: inDays(-1) })
  const some = [ended, company('último dia', { validadeCertificadoA1: inDays(30) }), company('bem')]
  const view = readView(new URLSearchParams())
  const named = (so: string) =>
    arrange(some, readView(new URLSearchParams({ so })), now).map(({ razaoSocial }) => razaoSocial)
  expect(['vencido', 'a-vencer'].map(named)).toEqual([['vencida'], ['último dia']])
  expect(isOffered('vencido', view, some, now)).toBe(true)
  expect(isOffered('vencido', view, [company('bem')], now)).toBe(false)
  expect(isOffered('certificado', view, some, now)).toBe(false)
})
