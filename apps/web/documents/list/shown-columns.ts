import type { DocumentRow } from '@vigia/contract/documents'
import { formatMoney } from '@vigia/contract/text'
import { useMemo, useState } from 'react'
import type { DocumentKind } from '../../lib/kinds.ts'
import { type ColumnId, layOut, readHiddenColumns, useHiddenColumns, writeHiddenColumns } from './columns.ts'

interface ListContents {
  items: readonly DocumentRow[]
}

// An amount that is longer is rare; it makes its column wider.
const usualAmount = 'R$ 999.999,99'

// Content seen on all pages of a list: column widths stay equal on the next page.
const unseen = { list: '', filled: [] as ColumnId[], valor: usualAmount.length, numero: 0 }

interface ColumnsOptions {
  /** There is more than one company. */
  several: boolean
  /** Names the list to which the page belongs. */
  list: string
  /** Hidden columns in the address, and the setter for it: a saved view has its own columns. */
  address: string
  onAddress: (address: string) => void
}

/** The columns of a list, as wide on each of its pages. */
export function useShownColumns(
  kind: DocumentKind,
  width: number,
  page: ListContents | undefined,
  { several, list, address, onAddress }: ColumnsOptions,
) {
  const [own, onOwnChange] = useHiddenColumns(kind.type)
  const named = useMemo(() => readHiddenColumns(address), [address])
  const hidden = named ?? own
  const onChange = (id: ColumnId, shown: boolean) => {
    if (!named) return onOwnChange(id, shown)
    onAddress(writeHiddenColumns(shown ? named.filter((one) => one !== id) : [...named, id]))
  }
  const [seen, setSeen] = useState(unseen)
  const before = seen.list === list ? seen : { ...unseen, list }
  const next = page ? seenWith(before, page) : before
  if (page && JSON.stringify(next) !== JSON.stringify(seen)) setSeen(next)
  const { filled, valor, numero } = next
  const nothingSeen = !page && seen.list !== list
  const columns = useMemo(() => {
    const isEmpty: Partial<Record<ColumnId, boolean>> = {
      empresa: !several || !(nothingSeen || filled.includes('empresa')),
      chegada: !(nothingSeen || filled.includes('chegada')),
      prazo: !filled.includes('prazo'),
    }
    const empty = (['empresa', 'chegada', 'prazo'] as const).filter((id) => isEmpty[id])
    return layOut(hidden, { empty, longest: { valor, numero } }, width)
  }, [hidden, several, nothingSeen, filled, valor, numero, width])
  return { columns, hidden, onChange }
}

function seenWith(seen: typeof unseen, { items }: ListContents): typeof unseen {
  const longest = (text: (row: DocumentRow) => string) => Math.max(0, ...items.map((row) => text(row).length))
  const isFilled: Partial<Record<ColumnId, boolean>> = {
    empresa: items.some(({ empresa }) => empresa),
    chegada: items.some(({ chegadaEm }) => chegadaEm),
    prazo: items.some(({ prazo }) => prazo),
  }
  const filled = (['empresa', 'chegada', 'prazo'] as const).filter((id) => isFilled[id] || seen.filled.includes(id))
  return {
    list: seen.list,
    filled: filled.length === seen.filled.length ? seen.filled : filled,
    valor: Math.max(
      seen.valor,
      longest((row) => formatMoney(row.valor)),
    ),
    numero: Math.max(
      seen.numero,
      longest((row) => String(row.numero)),
    ),
  }
}
