import type { Plan } from '@vigia/contract/workspace'
import { expect, test } from 'vitest'
import { planWarning } from './plan-warning.ts'

const now = new Date('2026-11-20T12:00:00Z')
const trial: Plan = {
  tipoPlano: 1,
  nome: 'Básico',
  situacao: 'teste',
  mensagem: '',
  testeAte: '2026-11-27T12:00:00Z',
  pagoAte: null,
  capturaPausada: false,
  empresas: { usadas: 1, limite: 1 },
  documentosNoMes: { usadas: 5_000, limite: 5_000 },
}
const paid: Plan = { ...trial, situacao: 'ativo', testeAte: '2026-01-01T00:00:00Z' }

test.each<[string, Plan, ReturnType<typeof planWarning>]>([
  ['a fresh trial', trial, null],
  ['a trial with more than three days', { ...trial, testeAte: '2026-11-23T12:00:01Z' }, null],
  ['a trial with three days', { ...trial, testeAte: '2026-11-23T12:00:00Z' }, 'info'],
  ['a trial that ended while the page was open', { ...trial, testeAte: '2026-11-20T11:00:00Z' }, 'info'],
  ['a plan without an end', paid, null],
  ['a plan far from its end', { ...paid, pagoAte: '2026-12-20T12:00:00Z' }, null],
  ['a plan near its end', { ...paid, pagoAte: '2026-11-22T12:00:00Z' }, 'info'],
  ['nothing lasts', { ...paid, situacao: 'encerrado' }, 'warning'],
  ['capture is paused', { ...paid, capturaPausada: true }, 'warning'],
  ['more documents than the plan stores', { ...paid, documentosNoMes: { usadas: 5_001, limite: 5_000 } }, 'warning'],
  ['many documents without a limit', { ...paid, documentosNoMes: { usadas: 90_000, limite: null } }, null],
])('%s', (_, plan, tone) => {
  expect(planWarning(plan, now)).toBe(tone)
})
