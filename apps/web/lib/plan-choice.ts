import { planKinds } from '@vigia/contract/codes'
import { formatCount } from '@vigia/contract/text'
import type { Plan } from '@vigia/contract/workspace'

/** The `tipoPlano` of a plan that can be asked for. */
export type PlanType = keyof typeof planKinds

type PlanUse = Pick<Plan, 'tipoPlano' | 'situacao' | 'empresas'>

/** The initially selected plan: the current one, or the smallest that fits the companies. */
export function suggestedPlan({ tipoPlano, empresas }: PlanUse): PlanType {
  const fits = (type: PlanType) => (planKinds[type].companiesMax ?? Number.POSITIVE_INFINITY) >= empresas.usadas
  const types: PlanType[] = [1, 2, 3]
  return types.find((type) => type >= tipoPlano && fits(type)) ?? 3
}

/** Effect of a plan change on the companies; null: none. Nothing is archived automatically. */
export function planChange({ tipoPlano, situacao, empresas }: PlanUse, type: PlanType): string | null {
  const { companiesMax } = planKinds[type]
  const over = companiesMax === null ? 0 : empresas.usadas - companiesMax
  if (over > 0)
    return `Você tem ${formatCount(empresas.usadas, 'empresa', 'empresas')}: para caber nele, ${over === 1 ? '1 teria de ser arquivada' : `${over} teriam de ser arquivadas`}, à sua escolha. A captura delas para, e nada é apagado.`
  if (situacao === 'teste' && type > tipoPlano) return 'Vale na hora, até o fim do teste.'
  return null
}
