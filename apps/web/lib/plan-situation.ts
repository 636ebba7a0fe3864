import type { Plan } from '@vigia/contract/workspace'
import { formatInstantDate } from './format.ts'

type Standing = Pick<Plan, 'situacao' | 'testeAte' | 'pagoAte'>

/** How a plan stands, in a few words. */
export function planSituation({ situacao, testeAte, pagoAte }: Standing): string {
  if (situacao === 'teste') return `Teste até ${formatInstantDate(testeAte)}`
  if (situacao === 'encerrado') return pagoAte ? 'Plano encerrado' : 'Teste encerrado'
  return pagoAte ? `Ativo até ${formatInstantDate(pagoAte)}` : 'Ativo'
}
