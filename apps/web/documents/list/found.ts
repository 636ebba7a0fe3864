import { reachMax } from '@vigia/contract/documents'
import { formatCount } from '@vigia/contract/text'
import type { DocumentKind } from '../../lib/kinds.ts'

/** How many documents a filter found: a search by frequent words reaches the newest ones only. */
export function foundText(
  { totalDeItens = 0, contadosDesde }: { totalDeItens?: number; contadosDesde?: string },
  { one, many }: Pick<DocumentKind, 'one' | 'many'>,
): string {
  const isMore = contadosDesde !== undefined && totalDeItens >= reachMax
  return `${isMore ? 'mais de ' : ''}${formatCount(totalDeItens, one, many)}`
}
