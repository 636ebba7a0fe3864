import { expect, test } from 'vitest'
import { planChange, suggestedPlan } from './plan-choice.ts'

const trial = (tipoPlano: number, usadas: number) =>
  ({ tipoPlano, situacao: 'teste', empresas: { usadas, limite: null } }) as const

test('the current plan is chosen at first, or the smallest with room for the companies', () => {
  expect(suggestedPlan(trial(1, 1))).toBe(1)
  expect(suggestedPlan(trial(2, 1))).toBe(2)
  expect(suggestedPlan(trial(1, 7))).toBe(2)
  expect(suggestedPlan(trial(2, 40))).toBe(3)
  expect(suggestedPlan(trial(3, 1))).toBe(3)
})

test('a smaller plan says what would have to be archived, a larger one that it counts at once in a trial', () => {
  expect(planChange(trial(3, 40), 2)).toBe(
    'Você tem 40 empresas: para caber nele, 30 teriam de ser arquivadas, à sua escolha. A captura delas para, e nada é apagado.',
  )
  expect(planChange(trial(2, 2), 1)).toMatch(/^Você tem 2 empresas: para caber nele, 1 teria de ser arquivada/)
  expect(planChange(trial(2, 10), 2)).toBeNull()
  expect(planChange(trial(2, 1), 1)).toBeNull()
  expect(planChange(trial(2, 10), 3)).toBe('Vale na hora, até o fim do teste.')
  expect(planChange({ ...trial(2, 10), situacao: 'ativo' }, 3)).toBeNull()
})
