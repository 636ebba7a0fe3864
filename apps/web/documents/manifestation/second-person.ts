import type { DocumentRow } from '@vigia/contract/documents'
import { formatCount, formatMoney } from '@vigia/contract/text'
import { disagreement } from '@vigia/dfe/families/cte'
import { conclusive } from '@vigia/dfe/families/nfe'
import type { DocumentKind } from '../../lib/kinds.ts'

// docs/decisions/0048-two-people.md: the final answers of NF-e, the desacordo and its withdrawal.
const wanting = [...conclusive, ...disagreement]

/** Whether an answer needs a second person where the workspace has an amount for it. */
export function mayNeedTwo({ answers }: DocumentKind, code: number): boolean {
  return answers.some((answer) => answer.code === code && wanting.includes(answer.tpEvento))
}

/** Notice about the answers to `ids` that need a second person; null: none does. */
export function secondPersonText(
  ids: readonly string[],
  known: ReadonlyMap<string, Pick<DocumentRow, 'valor'>>,
  from: number,
): string | null {
  if (ids.length === 0) return null
  const amounts = ids.flatMap((id) => known.get(id)?.valor ?? [])
  if (amounts.length < ids.length) return `As respostas a partir de ${formatMoney(from)} esperam uma segunda pessoa.`
  const reached = amounts.filter((amount) => amount >= from).length
  if (reached === 0) return null
  return `${formatCount(reached, 'resposta vai esperar', 'respostas vão esperar')} uma segunda pessoa (a partir de ${formatMoney(from)}).`
}
