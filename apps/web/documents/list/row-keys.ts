import { useScreenKeys } from '../../ui/hooks/screen-keys.ts'

const rowSelector = '[data-row]'

/** The keys j and k go from row to row, x selects the row that has the focus; Enter opens it, being a link. */
export function useRowKeys(): void {
  useScreenKeys((key) => {
    const row = document.activeElement?.closest(rowSelector)
    if (key === 'x') {
      const box = row?.querySelector<HTMLInputElement>('input[type=checkbox]')
      box?.click()
      return box !== undefined && box !== null
    }
    const step = { j: 1, k: -1 }[key]
    if (step === undefined) return false
    const rows = [...document.querySelectorAll(rowSelector)]
    const from = row ? rows.indexOf(row) : step > 0 ? -1 : rows.length
    const next = rows[from + step]
    next?.querySelector('a')?.focus({ preventScroll: true })
    next?.scrollIntoView({ block: 'nearest' })
    return next !== undefined
  })
}
