import type { AnswerRule } from '@vigia/contract/answer-rules'
import { formatCount, formatList, formatMoney } from '@vigia/contract/text'

type Conditions = AnswerRule['condicoes']

/** The bands from which a rule may ask. */
export const bandWords = {
  informativo: 'de qualquer gravidade',
  medio: 'médio ou mais grave',
  alto: 'alto ou crítico',
  critico: 'crítico',
} as const

/** tpNF. */
export const operationWords = { 0: 'de entrada do emitente', 1: 'de saída do emitente' } as const

/** finNFe. */
export const purposeWords = {
  1: 'normal',
  2: 'complementar',
  3: 'ajuste',
  4: 'devolução',
  5: 'nota de crédito',
  6: 'nota de débito',
} as const

const someOf = (all: readonly string[]) => (all.length > 3 ? [...all.slice(0, 3), `mais ${all.length - 3}`] : all)

/** To which notes a rule applies, in words. */
export function conditionText(
  { idsEmpresa, emitentes, emitenteNovo, comAlerta, operacao, finalidades, cfops, valorDe, valorAte }: Conditions,
  nameOf: (idEmpresa: string) => string,
): string {
  const parts = [
    ...(emitentes ? [`de ${formatList(someOf(emitentes))}`] : []),
    ...(emitenteNovo === undefined ? [] : [emitenteNovo ? 'de emitente novo' : 'de emitente conhecido']),
    ...(comAlerta ? [`com alerta ${bandWords[comAlerta]}`] : []),
    ...(operacao === undefined ? [] : [operationWords[operacao]]),
    ...(finalidades ? [`com finalidade ${formatList(finalidades.map((one) => purposeWords[one]))}`] : []),
    ...(cfops ? [`com CFOP ${formatList(someOf(cfops))}`] : []),
    ...(valorDe === undefined ? [] : [`a partir de ${formatMoney(valorDe)}`]),
    ...(valorAte === undefined ? [] : [`até ${formatMoney(valorAte)}`]),
    ...(idsEmpresa ? [`para ${companiesText(idsEmpresa, nameOf)}`] : []),
  ]
  return parts.length > 0 ? `Notas ${parts.join(', ')}` : 'Todas as notas'
}

function companiesText(ids: readonly string[], nameOf: (idEmpresa: string) => string): string {
  if (ids.length === 0) return 'nenhuma empresa: as escolhidas não existem mais'
  return ids.length > 2 ? formatCount(ids.length, 'empresa', 'empresas') : formatList(ids.map(nameOf))
}

export function answerText({ resposta, dias }: Pick<AnswerRule, 'resposta' | 'dias'>): string {
  if (resposta === 'perguntar') return 'Sempre perguntar'
  if (resposta === 'sugerir-confirmacao') return 'Confirmação sugerida, para uma pessoa enviar'
  if (resposta === 'preparar-desconhecimento') return 'Desconhecimento preparado, para uma pessoa enviar'
  return resposta === 'ciencia'
    ? 'Ciência quando a nota chega'
    : `Ciência ${formatCount(dias ?? 0, 'dia', 'dias')} depois da autorização`
}
