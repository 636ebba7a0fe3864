import { type KeyboardEvent, useState } from 'react'

/** Keys and open state of a combobox with a list (WAI-ARIA); the field keeps the focus. */
export function useCombobox<T>(options: readonly T[], onChoose: (option: T) => void) {
  const [open, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const shown = open && options.length > 0
  const current = shown ? options[active] : undefined
  const close = () => {
    setOpen(false)
    setActive(-1)
  }
  const choose = (option: T) => {
    close()
    onChoose(option)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setOpen(true)
      const places = options.length + 1
      // Below the last option comes the field itself again.
      setActive(((active + 1 + step + places) % places) - 1)
    } else if (event.key === 'Escape' && shown) {
      event.preventDefault()
      close()
    } else if (event.key === 'Enter' && current) {
      event.preventDefault()
      choose(current)
    } else if (event.key === 'Enter' || event.key === 'Tab') close()
  }
  return {
    shown,
    current,
    choose,
    close,
    onKeyDown,
    /** Also resets an open list, because Enter must not take an old option. */
    show: () => {
      setOpen(true)
      setActive(-1)
    },
  }
}
