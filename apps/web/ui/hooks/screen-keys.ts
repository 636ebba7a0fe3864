import { useEffect, useRef } from 'react'

const offKey = 'vigia.keys'

/** Whether single keys do something; who dictates to the computer turns them off (WCAG 2.1.4). */
export function areScreenKeysOn(): boolean {
  return localStorage.getItem(offKey) !== 'off'
}

export function setScreenKeys(on: boolean): void {
  if (on) localStorage.removeItem(offKey)
  else localStorage.setItem(offKey, 'off')
}

/**
 * Calls `handle` for keys without Ctrl, Alt or Command, unless these keys are off, a person is
 * typing or an overlay is open; true: the key was handled.
 */
export function useScreenKeys(handle: (key: string) => boolean): void {
  const latest = useRef(handle)
  useEffect(() => {
    latest.current = handle
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !areScreenKeysOn()) return
      const isTaken = 'input:not([type=checkbox]), textarea, select, [role=dialog], [role=alertdialog], [role=menu]'
      if (document.activeElement?.closest(isTaken)) return
      if (latest.current(event.key)) event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
