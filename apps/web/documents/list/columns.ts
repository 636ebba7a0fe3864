import type { DocumentRow, ListOrder } from '@vigia/contract/documents'
import { formatMoney } from '@vigia/contract/text'
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
  | 'natureza'
  | 'reforma'

export interface Column {
  id: ColumnId
  label: string
  width: number
  /** Enough for it in a table that is too narrow for all the widths. */
  least?: number
  /** The column under which it is shown as a second line when the table is too narrow. */
  home?: ColumnId
  /** The content of a cell that is plain text. */
  text?: (row: DocumentRow) => string | null | undefined
  /** The order of the list that its header chooses. */
  order?: ListOrder
  /** Shown only when the person chooses it. */
  optional?: boolean
}

/** In table order; those with `home` and the optional ones are ours, the others specified. */
export const columns: readonly Column[] = [
  { id: 'numero', label: 'Número', width: 60, least: 50 },
  { id: 'emitente', label: 'Emitente', width: 336, least: 160, order: 'emitente' },
  { id: 'empresa', label: 'Empresa', width: 160, home: 'participacao' },
  { id: 'valor', label: 'Valor', width: 96, least: 88, order: 'valor' },
  { id: 'emissao', label: 'Data Emissão', width: 92, least: 82, order: 'data' },
  { id: 'chegada', label: 'Chegada', width: 88, home: 'emissao', order: 'chegada' },
  { id: 'participacao', label: 'Participação', width: 104, least: 86 },
  { id: 'status', label: 'Status', width: 144, least: 114 },
  { id: 'prazo', label: 'Prazo', width: 152, home: 'status', order: 'prazo' },
  {
    id: 'natureza',
    label: 'Natureza da operação',
    width: 176,
    text: ({ naturezaOperacao }) => naturezaOperacao,
    optional: true,
  },
  { id: 'reforma', label: 'IBS/CBS (informativo)', width: 176, text: reformText, optional: true },
]

// Values of 2026 are not due and give no credit; the column label says so.
function reformText({ reforma }: DocumentRow): string | null {
  if (!reforma) return null
  const { presenca, ibs, cbs, achados } = reforma
  const text = ibs === null && cbs === null ? presenca : `${formatMoney(ibs)} · ${formatMoney(cbs)}`
  return achados ? `${text} · com divergência` : text
}

/** The narrowest table that has all columns of the specification; a window of 768 pixels has it. */
export const tableMinWidth = 640

/** Width of the checkbox and the actions. */
const edgesWidth = 36 + 40

/** Contents of the rows of a page. */
interface CellContents {
  /** Columns that no row fills. */
  empty: readonly ColumnId[]
  /** Characters of the longest text in a column whose texts must not break. */
  longest: Partial<Record<ColumnId, number>>
}

// In pixels: a digit at 14 px and at 13 px, the padding of a cell, and what a second line needs in addition.
const figureWidth = { roomy: 7.6, tight: 7 }
const paddingWidth = 12
const underWidth: Partial<Record<ColumnId, number>> = { chegada: 20, empresa: 16 }

export interface ShownColumn {
  id: ColumnId
  label: string
  /** Null: takes the rest of the width. */
  width: number | null
  /** The column that is shown as its second line. */
  under: ColumnId | null
  order: ListOrder | undefined
}

// In a narrower table the widths of the specification's columns do not fit beside a complete chave.
const roomyWidth = 908

/** Columns for a table of `width` pixels: chosen, not empty, as second lines if it is narrow. */
export function layOut(hidden: readonly ColumnId[], contents: CellContents, width: number): ShownColumn[] {
  const all = columns.filter(({ id }) => !hidden.includes(id) && !contents.empty.includes(id))
  const tight = width < roomyWidth
  const chosen = all.filter(({ optional }) => !tight || !optional)
  const widthOf = (column: Column) =>
    Math.max(
      (tight && column.least) || column.width,
      Math.ceil((contents.longest[column.id] ?? 0) * figureWidth[tight ? 'tight' : 'roomy']) + paddingWidth,
    )
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
        width: column.id === 'emitente' ? null : widthOf(column) + ((!tight && under && underWidth[under]) || 0),
        // A third line would make the rows too high.
        under: tight && under === 'chegada' ? null : under,
        order: column.order,
      }
    })
}

/** Columns hidden in this browser, by list; the column naming the document is always shown. */
export function useHiddenColumns(list: string): [ColumnId[], (id: ColumnId, shown: boolean) => void] {
  const key = `vigia.columns.${list}`
  const [hidden, setHidden] = useState(() => readHidden(localStorage.getItem(key)))
  return [
    hidden,
    (id, shown) => {
      const next = shown ? hidden.filter((one) => one !== id) : [...hidden, id]
      setHidden(next)
      localStorage.setItem(key, writeHidden(next))
    },
  ]
}

/** Columns hidden by an address; null if it has no setting. */
export function readHiddenColumns(address: string): ColumnId[] | null {
  if (address === '') return null
  const ids = address.split('.')
  return columns.filter(({ id }) => id !== 'emitente' && ids.includes(id)).map(({ id }) => id)
}

/** The hidden columns as an address has them. */
export function writeHiddenColumns(hidden: readonly ColumnId[]): string {
  return hidden.join('.') || '-'
}

// A plus marks optional columns that are shown.
function writeHidden(hidden: readonly ColumnId[]): string {
  return JSON.stringify(
    columns.flatMap(({ id, optional }) =>
      optional ? (hidden.includes(id) ? [] : [`+${id}`]) : hidden.includes(id) ? [id] : [],
    ),
  )
}

export function readHidden(stored: string | null): ColumnId[] {
  let ids: unknown
  try {
    ids = JSON.parse(stored ?? '[]')
  } catch {
    ids = []
  }
  const listed: unknown[] = Array.isArray(ids) ? ids : []
  const isHidden = ({ id, optional }: Column) => (optional ? !listed.includes(`+${id}`) : listed.includes(id))
  return columns.filter((column) => column.id !== 'emitente' && isHidden(column)).map(({ id }) => id)
}
