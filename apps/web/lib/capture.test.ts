import type { CaptureState, CompanyRow } from '@vigia/contract/companies'
import { expect, test } from 'vitest'
import {
  captureProgress,
  captureSentence,
  capturesOf,
  commonCauseOf,
  isTroubled,
  lampOf,
  synchronizationOf,
  watchOf,
} from './capture.ts'

const now = new Date(2026, 10, 20, 12, 0)
const at = (hour: number, minute = 0) => new Date(2026, 10, 20, hour, minute).toISOString()

type Told = CaptureState

const capture = (part: Partial<Told>): Told => ({
  servico: 'nfe',
  estado: 'aguardando',
  mensagem: '',
  proximaConsulta: at(12, 40),
  ultimoNsu: '000000000000100',
  maxNsu: '000000000000100',
  ultimaResposta: null,
  causaComum: null,
  providencia: null,
  ...part,
})

const company = (...captura: Told[]): CompanyRow => ({
  id: '1',
  razaoSocial: 'Papelaria Sol',
  cnpj: '12ABC34501DE35',
  ativa: true,
  ultimaSincronizacaoNFe: at(11, 37),
  ultimaSincronizacaoCTe: at(11, 20),
  validadeCertificadoA1: new Date(2027, 5, 1).toISOString(),
  sincronizacaoAutomatica: true,
  captura,
  documentosNoMes: 0,
})

test.each([
  [{}, 'Próxima consulta às 12:40'],
  [{ proximaConsulta: null }, 'Aguardando a próxima consulta'],
  [{ estado: 'bloqueada', proximaConsulta: at(13) }, 'Bloqueada pela SEFAZ até 13:00'],
  [{ estado: 'falha' }, 'Falhou. Nova tentativa às 12:40'],
  [{ estado: 'falha', causaComum: 'A SEFAZ está fora do ar.' }, 'Em espera. Nova tentativa às 12:40'],
  [{ estado: 'parada' }, 'Captura parada'],
  [{ estado: 'capturando' }, 'Capturando agora'],
  [{ estado: 'capturando', ultimoNsu: '000000000000050', maxNsu: '000000000000200' }, 'Capturando agora: 25%'],
] as [Partial<Told>, string][])('%j says %s', (part, sentence) => {
  expect(captureSentence(capture(part), now)).toBe(sentence)
})

test('what is wrong for every company is told once, and is the trouble of none', () => {
  const outage = { estado: 'falha', causaComum: 'A SEFAZ está fora do ar. Nada se perde.' } as const
  const waiting = company(capture(outage), capture({ servico: 'cte' }))
  expect(capturesOf(waiting, now).some(isTroubled)).toBe(false)
  expect(commonCauseOf([company(capture({})), waiting], now)).toBe(outage.causaComum)
  expect(commonCauseOf([waiting], now, 'cte')).toBeNull()
  expect(watchOf([waiting, waiting], now)).toMatchObject({ title: 'Captura em espera', detail: outage.causaComum })
  // A problem of a single company is more urgent.
  expect(watchOf([waiting, company(capture({ estado: 'parada' }))], now)?.title).toBe('1 empresa sem captura')
  expect(watchOf([waiting, company(capture({ estado: 'capturando' }))], now)?.title).toBe('Captura em espera')
  // Without a certificate it would fail all the same.
  const ended = { ...waiting, validadeCertificadoA1: at(11) }
  expect(capturesOf(ended, now)).toMatchObject([
    { estado: 'parada', causaComum: null, providencia: 'certificado' },
    { estado: 'parada', causaComum: null, providencia: 'certificado' },
  ])
})

test('there is no progress at the end of the sequence', () => {
  expect(captureProgress(capture({ ultimoNsu: '0', maxNsu: '0' }))).toBeNull()
  expect(captureProgress(capture({ ultimoNsu: '199', maxNsu: '200' }))).toBe(99)
  expect(captureProgress(capture({ ultimoNsu: '200', maxNsu: '200' }))).toBeNull()
})

test('without companies there is no state', () => {
  expect(watchOf([], now)).toBeNull()
})

test('when all is well the latest update and the next query are shown', () => {
  expect(watchOf([company(capture({})), company(capture({ proximaConsulta: at(12, 15) }))], now)).toEqual({
    lamp: 'waiting',
    state: 'well',
    title: 'Captura em dia',
    detail: 'Atualizado há 23 minutos • próxima consulta às 12:15',
  })
})

test('the worst state is shown, with its reason', () => {
  const blocked = capture({ estado: 'bloqueada', mensagem: 'Consumo indevido até 13:00.' })
  const stopped = capture({ estado: 'parada', mensagem: 'Certificado vencido.' })
  expect(watchOf([company(capture({})), company(blocked, capture({}))], now)).toMatchObject({
    lamp: 'blocked',
    state: 'trouble',
    title: '1 empresa bloqueada',
    detail: 'Consumo indevido até 13:00.',
  })
  expect(watchOf([company(stopped), company(blocked), company(stopped)], now)).toMatchObject({
    lamp: 'stopped',
    title: '2 empresas sem captura',
    detail: 'Certificado vencido.',
  })
  expect(watchOf([company()], now)).toMatchObject({ lamp: 'stopped', state: 'trouble' })
})

test('without a valid certificate a capture is stopped and says why, also while it waits for a query', () => {
  const watched = company(capture({}), capture({ servico: 'cte', estado: 'capturando' }))
  for (const [validity, why] of [
    [null, /^Sem certificado digital a SEFAZ não é consultada/],
    [at(11), /O certificado digital venceu/],
  ] as const) {
    const captures = capturesOf({ ...watched, validadeCertificadoA1: validity }, now)
    expect(captures.map(lampOf)).toEqual(['stopped', 'stopped'])
    for (const { mensagem } of captures) expect(mensagem).toMatch(why)
    expect(captureSentence(captures[0]!, now)).toBe('Captura parada')
    expect(watchOf([{ ...watched, validadeCertificadoA1: validity }], now)).toMatchObject({
      lamp: 'stopped',
      title: '1 empresa sem captura',
    })
  }
  expect(capturesOf(watched, now)).toEqual(watched.captura)
})

test('the message of the server about a problem stays, also without a certificate', () => {
  const told = capture({ estado: 'bloqueada', mensagem: 'Consumo indevido até 13:00.' })
  expect(capturesOf({ ...company(told), validadeCertificadoA1: null }, now)).toEqual([told])
})

test('a capture without automatic queries is neither well nor in trouble', () => {
  const byHand = (part: Partial<Told>) => ({ ...company(capture(part)), sincronizacaoAutomatica: false })
  const off = capturesOf(byHand({ proximaConsulta: null }), now)
  expect(off.map(lampOf)).toEqual(['unlit'])
  expect(captureSentence(off[0]!, now)).toBe('Automática desligada: peça quando quiser')
  expect(watchOf([byHand({ proximaConsulta: null })], now)).toMatchObject({
    lamp: 'unlit',
    title: 'Sincronização automática desligada',
  })
  expect(synchronizationOf([byHand({ proximaConsulta: null })], now)).toEqual({
    state: 'unlit',
    value: 'Ativa',
    detail: 'Automática desligada em todas as empresas',
  })
  expect(synchronizationOf([company(capture({})), byHand({ proximaConsulta: null })], now)).toEqual({
    state: 'waiting',
    value: 'Ativa',
    detail: '1 consulta programada, 1 desligada',
  })
  // Requested by a person.
  expect(capturesOf(byHand({}), now).map(lampOf)).toEqual(['waiting'])
})

test('when the server tells no captures the lamp is off', () => {
  const { captura: _, ...untold } = company()
  expect(capturesOf(untold, now)).toEqual([])
  expect(watchOf([untold], now)).toMatchObject({ lamp: 'unlit', state: 'untold' })
})
