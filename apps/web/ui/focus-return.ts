import { useRef } from 'react'

/**
 * For what opens over the page without a trigger of its own: where the focus was is where it goes back to. A control marked
 * `data-initial-focus` takes the focus when it opens, else the whole does; so it does on touch, where a field would raise the
 * keyboard over what is to be read first.
 */
export function useFocusReturn() {
  const before = useRef<Element>(null)
  return {
    onOpenAutoFocus: (event: Event) => {
      event.preventDefault()
      before.current = placeOf(document.activeElement)
      if (!(event.currentTarget instanceof HTMLElement)) return
      const touch = matchMedia('(pointer: coarse)').matches
      const first = touch ? null : event.currentTarget.querySelector<HTMLElement>('[data-initial-focus]')
      const target = first ?? event.currentTarget
      target.focus()
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault()
      if (before.current instanceof HTMLElement) before.current.focus()
    },
  }
}

// A menu is gone by then; the button that opened it is not.
function placeOf(active: Element | null): Element | null {
  const opener = active?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return (opener && document.getElementById(opener)) || active
}
