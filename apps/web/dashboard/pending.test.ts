import type { CaptureState } from '@vigia/contract/companies'
import { expect, test } from 'vitest'
import { pendingOf } from './pending.ts'

const now = new Date(2026, 10, 20, 12)
const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000).toISOString()
const nothing = {
  resumos: 0,
  aguardandoResposta: 0,
  canceladasNfe: 0,
  canceladosCte: 0,
  vencemNfe: 0,
  vencemCte: 0,
  mudaramNfe: 0,
  mudaramCte: 0,
  confirmacoesSugeridas: 0,
  desconhecimentosPreparados: 0,
  aguardamSegunda: 0,
  alertas: 0,
  alertasCriticos: 0,
  alertasAltos: 0,
  alertasMedios: 0,
  parcelasVencidas: 0,
  fretesAConferir: 0,
}

function company(id: string, validity: string | null, state: CaptureState['estado'] = 'aguardando') {
  const capture = {
    servico: 'nfe',
    estado: state,
    mensagem: '',
    proximaConsulta: null,
    ultimoNsu: '0',
    maxNsu: '0',
    ultimaResposta: null,
    causaComum: null,
    providencia: null,
  } as const
  return {
    id,
    razaoSocial: id,
    cnpj: '',
    ativa: true,
    ultimaSincronizacaoNFe: null,
    ultimaSincronizacaoCTe: null,
    validadeCertificadoA1: validity,
    sincronizacaoAutomatica: true,
    captura: [capture],
    documentosNoMes: 0,
  }
}

const told = (...parameters: Parameters<typeof pendingOf>) =>
  pendingOf(...parameters).map(({ count, words, to }) => `${count} ${words} → ${to}`)

test('nothing is pending while all is well', () => {
  expect(told(nothing, [company('a', inDays(31)), company('b', inDays(90))], now)).toEqual([])
})

test('problems of the capture come first; the link leads to one company or to the list of several', () => {
  const companies = [company('a', inDays(-1), 'parada'), company('b', inDays(30)), company('c', inDays(0), 'bloqueada')]
  expect(told(nothing, companies, now)).toEqual([
    '2 empresas com problema na captura → /empresas?so=problema',
    '1 certificado vencido → /empresas/editar/a',
    '2 certificados vencem em até 30 dias → /empresas?so=a-vencer',
  ])
})

test('a company without a valid certificate counts as one with a problem, as in the list', () => {
  expect(told(nothing, [company('a', null), company('b', inDays(90))], now)).toEqual([
    '1 empresa com problema na captura → /empresas?so=problema',
  ])
})

test('deadlines until tomorrow lead to the list of what can still end, the first to end above', () => {
  const companies = [company('a', inDays(20))]
  expect(told({ ...nothing, resumos: 1, vencemNfe: 3, vencemCte: 1 }, companies, now)).toEqual([
    '3 notas com prazo de resposta até amanhã → /notas-fiscais?periodo=todos&empresa=ativas&prazoAte=2026-11-21&ordem=prazo',
    '1 CTe com prazo de desacordo até amanhã → /cte?periodo=todos&empresa=ativas&prazoAte=2026-11-21&ordem=prazo',
    '1 certificado vence em até 30 dias → /empresas/editar/a',
    '1 nota só com o resumo: responda para receber o XML → /notas-fiscais?de=2026-08-23&ate=2026-11-20&status=1&empresa=ativas&ordem=prazo',
  ])
})

test('a company with a problem is named, and of many the first', () => {
  const many = ['a', 'b', 'c', 'd', 'e'].map((id) => company(id, inDays(90), 'parada'))
  const detail = (companies: ReturnType<typeof company>[]) => pendingOf(nothing, companies, now)[0]?.detail
  expect(detail(many.slice(0, 1))).toBe('a')
  expect(detail(many.slice(0, 3))).toBe('a, b e c')
  expect(detail(many)).toBe('a, b, c e mais 2')
  const ended = { ...company('a', inDays(-1)), cnpj: '11222333000181' }
  expect(pendingOf(nothing, [ended, { ...company('b', inDays(90)), razaoSocial: 'A' }], now)[0]?.detail).toBe(
    'a (11.222.333/0001-81)',
  )
})

test('links for answers cover the 90 days that the server counts, links for cancelled notes the month', () => {
  const counts = { ...nothing, resumos: 1, aguardandoResposta: 12, canceladasNfe: 2, canceladosCte: 1 }
  expect(told(counts, [], now)).toEqual([
    '1 nota só com o resumo: responda para receber o XML → /notas-fiscais?de=2026-08-23&ate=2026-11-20&status=1&empresa=ativas&ordem=prazo',
    '12 notas com Ciência esperam a resposta final → /notas-fiscais?de=2026-08-23&ate=2026-11-20&status=8&empresa=ativas&ordem=prazo',
    '2 notas canceladas neste mês → /notas-fiscais?de=2026-11-01&ate=2026-11-30&status=3',
    '1 CTe cancelado neste mês → /cte?de=2026-11-01&ate=2026-11-30&status=3',
  ])
})

test('documents that changed after somebody relied on them lead to the filtered list', () => {
  expect(pendingOf({ ...nothing, mudaramNfe: 2, mudaramCte: 1 }, [], now)).toMatchObject([
    { count: 2, to: '/notas-fiscais?periodo=todos&marca=mudaram-depois&empresa=ativas', news: false },
    {
      count: 1,
      words: 'CTe cancelado ou corrigido depois de conferido',
      to: '/cte?periodo=todos&marca=mudaram-depois&empresa=ativas',
    },
  ])
})

test('alerts, approvals, bills of freight and overdue parcels are told, the critical ones as urgent', () => {
  const counts = {
    ...nothing,
    alertas: 20,
    alertasCriticos: 3,
    alertasAltos: 5,
    alertasMedios: 10,
    aguardamSegunda: 2,
    fretesAConferir: 7,
    parcelasVencidas: 3_381,
  }
  expect(told(counts, [], now)).toEqual([
    '3 alertas críticos → /alertas?faixa=critico',
    '5 alertas altos → /alertas?faixa=alto',
    '2 respostas aguardam aprovação: nada é enviado até lá → /aprovacoes',
    '10 alertas médios → /alertas?faixa=medio',
    '7 CTe com cobrança a conferir → /fretes?de=2026-09&ate=2026-11',
    '3381 parcelas vencidas → /vencimentos?mostrar=vencidas',
  ])
  expect(pendingOf(counts, [], now).filter(({ urgent }) => urgent)).toHaveLength(1)
})
