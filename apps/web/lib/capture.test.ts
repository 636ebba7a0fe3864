import type { CompanyRow } from '@vigia/contract/companies'
import { expect, test } from 'vitest'
import { type Capture, captureProgress, captureSentence, watchOf } from './capture.ts'

const now = new Date(2026, 10, 20, 12, 0)
const at = (hour: number, minute = 0) => new Date(2026, 10, 20, hour, minute).toISOString()

const capture = (part: Partial<Capture>): Capture => ({
  servico: 'nfe',
  estado: 'aguardando',
  mensagem: '',
  proximaConsulta: at(12, 40),
  ultimoNsu: '000000000000100',
  maxNsu: '000000000000100',
  ...part,
})

const company = (...captura: Capture[]): CompanyRow => ({
  id: '1',
  razaoSocial: 'Papelaria Sol',
  cnpj: '12ABC34501DE35',
  ativa: true,
  ultimaSincronizacaoNFe: at(11, 37),
  ultimaSincronizacaoCTe: at(11, 20),
  validadeCertificadoA1: null,
  captura,
})

test.each([
  [{}, 'Próxima consulta às 12:40'],
  [{ proximaConsulta: null }, 'Aguardando a próxima consulta'],
  [{ estado: 'bloqueada', proximaConsulta: at(13) }, 'Bloqueada pela SEFAZ até 13:00'],
  [{ estado: 'falha' }, 'Falhou. Nova tentativa às 12:40'],
  [{ estado: 'parada' }, 'Captura parada'],
  [{ estado: 'capturando' }, 'Capturando agora'],
  [{ estado: 'capturando', ultimoNsu: '000000000000050', maxNsu: '000000000000200' }, 'Capturando agora: 25%'],
] as [Partial<Capture>, string][])('%j says %s', (part, sentence) => {
  expect(captureSentence(capture(part), now)).toBe(sentence)
})

test('progress ends when the sequence does', () => {
  expect(captureProgress(capture({ ultimoNsu: '0', maxNsu: '0' }))).toBeNull()
  expect(captureProgress(capture({ ultimoNsu: '199', maxNsu: '200' }))).toBe(99)
  expect(captureProgress(capture({ ultimoNsu: '200', maxNsu: '200' }))).toBeNull()
})

test('without companies nobody is watching', () => {
  expect(watchOf([], now)).toBeNull()
})

test('when all is well the freshest news and the nearest query are told', () => {
  expect(watchOf([company(capture({})), company(capture({ proximaConsulta: at(12, 15) }))], now)).toEqual({
    lamp: 'waiting',
    healthy: true,
    title: 'Captura em dia',
    detail: 'Atualizado há 23 minutos • próxima consulta às 12:15',
  })
})

test('the worst state speaks, with its reason', () => {
  const blocked = capture({ estado: 'bloqueada', mensagem: 'Consumo indevido até 13:00.' })
  const stopped = capture({ estado: 'parada', mensagem: 'Certificado vencido.' })
  expect(watchOf([company(capture({})), company(blocked, capture({}))], now)).toMatchObject({
    lamp: 'blocked',
    healthy: false,
    title: '1 empresa bloqueada',
    detail: 'Consumo indevido até 13:00.',
  })
  expect(watchOf([company(stopped), company(blocked), company(stopped)], now)).toMatchObject({
    lamp: 'stopped',
    title: '2 empresas sem captura',
    detail: 'Certificado vencido.',
  })
  expect(watchOf([company()], now)).toMatchObject({ lamp: 'stopped', healthy: false })
})
