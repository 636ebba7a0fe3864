import { useState } from 'react'

export type ColumnId =
  | 'numero'
  | 'emitente'
  | 'empresa'
  | 'valor'
  | 'emissao'
  | 'chegada'
  | 'participacao'
  | 'status'
  | 'prazo'

export interface Column {
  id: ColumnId
  label: string
  width: number
  /** Where it goes, as a second line, when the table has no room for it. */
  home?: ColumnId
}

/** In the order of the table; those with a home are ours, the others the specification's. */
export const columns: readonly Column[] = [
  { id: 'numero', label: 'Número', width: 60 },
  { id: 'emitente', label: 'Emitente', width: 336 },
  { id: 'empresa', label: 'Empresa', width: 160, home: 'participacao' },
  { id: 'valor', label: 'Valor', width: 96 },
  { id: 'emissao', label: 'Data Emissão', width: 92 },
  { id: 'chegada', label: 'Chegada', width: 88, home: 'emissao' },
  { id: 'participacao', label: 'Participação', width: 104 },
  { id: 'status', label: 'Status', width: 144 },
  { id: 'prazo', label: 'Prazo', width: 152, home: 'status' },
]

/** Of the checkbox and of the actions. */
const edgesWidth = 36 + 40

/** What the rows of a page have to show. */
export interface Contents {
  /** Columns that no row fills. */
  empty: readonly ColumnId[]
  /** Characters of the longest text in a column whose texts must not break. */
  longest: Partial<Record<ColumnId, number>>
}

// Of a figure at 14 px, of the space at both sides of a cell, and of what a second line asks for.
const figureWidth = 7.6
const paddingWidth = 12
const underWidth: Partial<Record<ColumnId, number>> = { chegada: 32, empresa: 20 }

export interface ShownColumn {
  id: ColumnId
  label: string
  /** Null takes what the others leave. */
  width: number | null
  /** Shown as a second line of it. */
  under: ColumnId | null
}

/** The columns of a table `width` pixels wide: all that are chosen and not empty, folded into second lines where there is no room. */
export function layOut(hidden: readonly ColumnId[], contents: Contents, width: number): ShownColumn[] {
  const chosen = columns.filter(({ id }) => !hidden.includes(id) && !contents.empty.includes(id))
  const widthOf = (column: Column) =>
    Math.max(column.width, Math.ceil((contents.longest[column.id] ?? 0) * figureWidth) + paddingWidth)
  const folded = new Set<ColumnId>()
  const total = () =>
    chosen.filter(({ id }) => !folded.has(id)).reduce((sum, column) => sum + widthOf(column), edgesWidth)
  for (const id of ['chegada', 'prazo', 'empresa'] as const) {
    const column = chosen.find((one) => one.id === id)
    if (total() > width && column && chosen.some((one) => one.id === column.home)) folded.add(id)
  }
  return chosen
    .filter(({ id }) => !folded.has(id))
    .map((column) => {
      const under = chosen.find(({ id, home }) => folded.has(id) && home === column.id)?.id ?? null
      return {
        id: column.id,
        label: column.label,
        width: column.id === 'emitente' ? null : widthOf(column) + ((under && underWidth[under]) ?? 0),
        under,
      }
    })
}

/** The columns that this browser leaves out, remembered per list; the one that names the document stays. */
export function useHiddenColumns(list: string): [ColumnId[], (id: ColumnId, shown: boolean) => void] {
  const key = `vigia.columns.${list}`
  const [hidden, setHidden] = useState(() => readHidden(localStorage.getItem(key)))
  return [
    hidden,
    (id, shown) => {
      const next = shown ? hidden.filter((one) => one !== id) : [...hidden, id]
      setHidden(next)
      localStorage.setItem(key, JSON.stringify(next))
    },
  ]
}

export function readHidden(stored: string | null): ColumnId[] {
  try {
    const ids: unknown = JSON.parse(stored ?? '[]')
    return Array.isArray(ids) ? columns.flatMap(({ id }) => (id !== 'emitente' && ids.includes(id) ? [id] : [])) : []
  } catch {
    return []
  }
}
