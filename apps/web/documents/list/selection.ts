import { useReducer, useState } from 'react'

/** The selected documents; they stay selected on other pages. */
export interface Selection {
  readonly ids: ReadonlySet<string>
  /** Start of a range: the last document selected by hand. */
  readonly anchor: string | null
}

export type SelectionStep =
  | { do: 'toggle'; id: string; on: boolean; page: readonly string[]; range: boolean }
  | { do: 'page'; page: readonly string[]; on: boolean }
  | { do: 'all'; ids: readonly string[] }
  | { do: 'clear' }

export const nothingSelected: Selection = { ids: new Set(), anchor: null }

export function select(selection: Selection, step: SelectionStep): Selection {
  switch (step.do) {
    case 'toggle':
      return { ids: mark(selection.ids, rangeOf(selection, step), step.on), anchor: step.id }
    case 'page':
      return { ids: mark(selection.ids, step.page, step.on), anchor: null }
    case 'all':
      return { ids: new Set(step.ids), anchor: null }
    case 'clear':
      return nothingSelected
  }
}

/** How much of a page is selected. */
export function pageState(ids: ReadonlySet<string>, page: readonly string[]): 'none' | 'some' | 'all' {
  const ticked = page.filter((id) => ids.has(id)).length
  if (ticked === 0) return 'none'
  return ticked === page.length ? 'all' : 'some'
}

/** The selection within one filter: another filter begins with an empty one. */
export function useSelection(filter: string): [Selection, (step: SelectionStep) => void] {
  const [selection, dispatch] = useReducer(select, nothingSelected)
  const [of, setOf] = useState(filter)
  if (of === filter) return [selection, dispatch]
  setOf(filter)
  dispatch({ do: 'clear' })
  return [nothingSelected, dispatch]
}

function mark(ids: ReadonlySet<string>, which: readonly string[], on: boolean): ReadonlySet<string> {
  const next = new Set(ids)
  for (const id of which) {
    if (on) next.add(id)
    else next.delete(id)
  }
  return next
}

function rangeOf(
  { anchor }: Selection,
  { id, page, range }: Extract<SelectionStep, { do: 'toggle' }>,
): readonly string[] {
  const from = range && anchor !== null ? page.indexOf(anchor) : -1
  const to = page.indexOf(id)
  if (from < 0 || to < 0) return [id]
  return page.slice(Math.min(from, to), Math.max(from, to) + 1)
}
