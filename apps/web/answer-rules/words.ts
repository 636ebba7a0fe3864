import type { AnswerRule } from '@vigia/contract/manifestation'
import { formatCount, formatList, formatMoney } from '@vigia/contract/text'

type Conditions = AnswerRule['condicoes']

/** The bands from which a rule may ask. */
export const bandWords = {
  informativo: 'de qualquer gravidade',
  medio: 'médio ou mais grave',
  alto: 'alto ou crítico',
  critico: 'crítico',
} as const

/** To which notes a rule applies, in words. */
export function conditionText(
  { idsEmpresa, emitentes, emitenteNovo, comAlerta, valorDe, valorAte }: Conditions,
  nameOf: (idEmpresa: string) => string,
): string {
  const parts = [
    ...(emitentes
      ? [
          `de ${formatList(emitentes.length > 3 ? [...emitentes.slice(0, 3), `mais ${emitentes.length - 3}`] : emitentes)}`,
        ]
      : []),
    ...(emitenteNovo === undefined ? [] : [emitenteNovo ? 'de emitente novo' : 'de emitente conhecido']),
    ...(comAlerta ? [`com alerta ${bandWords[comAlerta]}`] : []),
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

/** What a rule does. */
export function answerText({ resposta, dias }: Pick<AnswerRule, 'resposta' | 'dias'>): string {
  if (resposta === 'perguntar') return 'Nada sai sem uma pessoa'
  return resposta === 'ciencia'
    ? 'Ciência quando a nota chega'
    : `Ciência ${formatCount(dias ?? 0, 'dia', 'dias')} depois da autorização`
}
