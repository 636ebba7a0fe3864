import { useEffect } from 'react'
import { useScreenKeys } from './screen-keys.ts'

const rowSelector = '[data-row]'
const rowSteps: Partial<Record<string, number>> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 }
const controlSteps: Partial<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 }

/** Tab index of controls in a row other than its link: Tab skips them, arrow keys reach them. */
export const besideLink = -1

/**
 * Tab stops once in each row. The arrow keys go to the other controls of the row and to the rows around it, j and k go from row to row, and x
 * selects the row that has the focus; Enter opens it, being a link. Rows are marked `data-row`.
 */
export function useRowKeys(): void {
  useScreenKeys((key) => {
    const row = rowOf(document.activeElement)
    if (key === 'x') {
      const box = row?.querySelector<HTMLInputElement>('input[type=checkbox]')
      box?.click()
      return box !== undefined && box !== null
    }
    return (key === 'j' || key === 'k') && goToRow(row, key)
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const row = rowOf(event.target)
      if (!row || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
      if (event.key.startsWith('Arrow') && (goToControl(row, event.key) || goToRow(row, event.key)))
        event.preventDefault()
    }
    // Keeps one tab stop per row: otherwise Tab would go from a control to the link of its row.
    const onFocus = ({ target }: FocusEvent) => {
      for (const control of controlsOf(rowOf(target))) control.tabIndex = control === target ? 0 : besideLink
    }
    const onBlur = ({ target, relatedTarget }: FocusEvent) => {
      const row = rowOf(target)
      if (row === rowOf(relatedTarget)) return
      for (const control of controlsOf(row)) control.tabIndex = control === linkOf(row) ? 0 : besideLink
    }
    document.addEventListener('keydown', onKey)
    document.addEventListener('focusin', onFocus)
    document.addEventListener('focusout', onBlur)
    return () => {
      document.removeEventListener('keydown', onKey)
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('focusout', onBlur)
    }
  }, [])
}

function goToControl(row: Element, key: string): boolean {
  const next = controlsOf(row)[placeIn(row) + (controlSteps[key] ?? Number.NaN)]
  next?.focus()
  return next !== undefined
}

// Goes to the same control of the next row, or to its link if the focus was elsewhere.
function goToRow(row: Element | null, key: string): boolean {
  const step = rowSteps[key]
  if (step === undefined) return false
  const rows = [...document.querySelectorAll(rowSelector)]
  const next = row ? rows[rows.indexOf(row) + step] : rowInSight(rows, step)
  if (!next) return false
  const controls = controlsOf(next)
  const place = key.startsWith('Arrow') ? placeIn(row) : -1
  const target = controls[place] ?? linkOf(next)
  target?.focus({ preventScroll: true })
  next.scrollIntoView({ block: 'nearest' })
  return true
}

// The first that is seen going down, the last going up: more are rendered than fit.
function rowInSight(rows: readonly Element[], step: number): Element | undefined {
  if (step < 0) return rows.findLast((row) => row.getBoundingClientRect().bottom <= window.innerHeight) ?? rows.at(-1)
  return rows.find((row) => row.getBoundingClientRect().top >= covered(row)) ?? rows[0]
}

// By the header of the page and that of the list, which stay where they are.
const covered = (row: Element) => Number.parseFloat(getComputedStyle(row).scrollMarginTop) || 0

const rowOf = (target: EventTarget | null) => (target instanceof Element ? target.closest(rowSelector) : null)
const linkOf = (row: Element | null) => row?.querySelector('a') ?? null

function placeIn(row: Element | null): number {
  return controlsOf(row).findIndex((control) => control.matches(':focus'))
}

function controlsOf(row: Element | null): HTMLElement[] {
  return [...(row?.querySelectorAll<HTMLElement>('a, button:not(:disabled), input:not(:disabled)') ?? [])]
}
