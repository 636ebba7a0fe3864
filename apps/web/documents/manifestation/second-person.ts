import type { DocumentRow } from '@vigia/contract/documents'
import { formatCount, formatMoney } from '@vigia/contract/text'
import type { DocumentKind } from '../kinds.ts'

// docs/decisions/0048-two-people.md: the final answers of NF-e, the desacordo and its withdrawal.
const wanting: Record<DocumentKind['type'], readonly number[]> = { nfe: [2, 3, 4], cte: [610110, 610111] }

/** Whether an answer needs a second person where the workspace has an amount for it. */
export function mayNeedTwo({ type }: DocumentKind, code: number): boolean {
  return wanting[type].includes(code)
}

/** What is said of the answers to `ids` that wait for a second person when they are sent; null: none does. */
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
