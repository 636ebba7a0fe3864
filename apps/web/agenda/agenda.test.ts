import type { Due } from '@vigia/contract/agenda'
import type { CompanyRow } from '@vigia/contract/companies'
import { expect, test } from 'vitest'
import { agendaOf } from './agenda.ts'

const now = new Date(2026, 10, 25, 12)
const at = (day: number, hour = 9) => new Date(2026, 10, day, hour).toISOString()
const company = (part: Partial<CompanyRow>) =>
  ({
    id: 'x',
    razaoSocial: 'SOL',
    ativa: true,
    sincronizacaoAutomatica: true,
    validadeCertificadoA1: new Date(2028, 0, 1).toISOString(),
    captura: [],
    ...part,
  }) as CompanyRow
const due = (part: Partial<Due>): Due => ({
  dia: '2026-11-26',
  tipoDFe: 0,
  para: 'ciencia',
  totalDeItens: 12,
  valorTotal: 1200,
  totalDeEmpresas: 5,
  empresas: ['SOL', 'LUA', 'MAR'],
  ...part,
})

test('what ends stands under its day, what has ended under today', () => {
  const blocked = {
    servico: 'cte',
    estado: 'bloqueada',
    mensagem: '',
    proximaConsulta: at(25, 14),
    causaComum: null,
  } as NonNullable<CompanyRow['captura']>[number]
  const agenda = agendaOf(
    [
      due({}),
      due({ dia: '2026-12-01', tipoDFe: 2, para: 'desacordo', totalDeItens: 1, totalDeEmpresas: 1, empresas: ['SOL'] }),
    ],
    [
      company({ validadeCertificadoA1: at(20) }),
      company({ id: 'y', razaoSocial: 'LUA', validadeCertificadoA1: at(26) }),
      company({ id: 'z', razaoSocial: 'MAR', captura: [blocked] }),
      company({ razaoSocial: 'ARQUIVADA', ativa: false, validadeCertificadoA1: at(26) }),
    ],
    now,
  )
  expect(agenda.map(({ day, entries }) => [day, entries.map(({ words }) => words)])).toEqual([
    ['2026-11-25', ['Certificado vencido: SOL', 'Pausa da captura de CTe termina: MAR']],
    ['2026-11-26', ['Ciência da Operação: 12 notas', 'Certificado vence: LUA']],
    ['2026-12-01', ['Prestação em Desacordo: 1 CTe']],
  ])
  expect(agenda[1]!.entries[0]).toMatchObject({
    detail: 'SOL, LUA, MAR e mais 2',
    amount: 'R$\u00a01.200,00',
    to: '/notas-fiscais?periodo=todos&empresa=ativas&prazoDe=2026-11-26&prazoAte=2026-11-26&prazoPara=ciencia&ordem=prazo',
  })
})

test('of two companies with one name each entry says the CNPJ', () => {
  const companies = [
    company({ cnpj: '11222333000181', validadeCertificadoA1: at(26) }),
    company({ id: 'y', razaoSocial: 'Sol', cnpj: '12ABC34501DE35' }),
  ]
  expect(agendaOf([], companies, now)[0]!.entries[0]!.words).toBe('Certificado vence: SOL (11.222.333/0001-81)')
})
