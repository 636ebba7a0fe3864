import { formatInstantDate } from '@vigia/contract/text'
import type { Plan } from '@vigia/contract/workspace'

type PlanDates = Pick<Plan, 'situacao' | 'testeAte' | 'pagoAte'>

/** Short text of the state of a plan. */
export function planSituation({ situacao, testeAte, pagoAte }: PlanDates): string {
  if (situacao === 'teste') return `Teste até ${formatInstantDate(testeAte)}`
  if (situacao === 'encerrado') return pagoAte ? 'Plano encerrado' : 'Teste encerrado'
  return pagoAte ? `Ativo até ${formatInstantDate(pagoAte)}` : 'Ativo'
}
