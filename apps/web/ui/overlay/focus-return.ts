import { useRef } from 'react'

/**
 * Focus of a dialog that has no trigger of its own: on closing it goes back to where it was. On opening it goes to the control marked
 * `data-initial-focus`, else to the dialog; on touch always to the dialog, because a field would open the keyboard over the text.
 */
export function useFocusReturn() {
  const before = useRef<Element>(null)
  return {
    onOpenAutoFocus: (event: Event) => {
      event.preventDefault()
      before.current = focusTarget(document.activeElement)
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

// A menu is closed by then: the focus returns to the button that opened it.
function focusTarget(active: Element | null): Element | null {
  const opener = active?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return (opener && document.getElementById(opener)) || active
}
