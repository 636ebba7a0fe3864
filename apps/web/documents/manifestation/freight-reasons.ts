import { type FreightFinding, getFreight } from '@vigia/contract/freight'
import { formatDate } from '@vigia/contract/text'
import { desacordo } from '@vigia/dfe/families/cte'
import type { AnswerType } from '../../lib/answer-types.ts'
import { useScreenQuery } from '../../lib/query.ts'

/** Reasons for a desacordo of one CT-e, from what does not fit in its freight; undefined until they are known. */
export function useFreightReasons({ code }: AnswerType, ids: readonly string[]): string[] | undefined {
  const [only = ''] = ids
  const enabled = code === desacordo && ids.length === 1
  const { data, isPending } = useScreenQuery(getFreight, { params: { idDFe: only } }, { enabled })
  if (enabled && isPending) return undefined
  return [...new Set((data ?? []).filter(({ certo }) => certo === null).map(reasonOf))]
}

// Text for the authority and the carrier; claims no more than the documents show.
function reasonOf({ regra, documentos }: FreightFinding): string {
  const [first] = documentos
  switch (regra) {
    case 'fr-dobro':
      return first
        ? `Frete já cobrado no CT-e ${first.numero}${first.emissao ? ` de ${formatDate(first.emissao)}` : ''}`
        : 'Frete já cobrado em outro CT-e'
    case 'fr-tomador':
      return `Tomador incorreto no CT-e${first ? `: pela NF-e ${first.numero}, outro paga o frete` : ''}`
    case 'fr-sem-nota':
      return 'CT-e sem NF-e da carga transportada'
    default:
      return 'Valor do frete diferente do combinado'
  }
}
