import {
  type ComponentProps,
  type ComponentType,
  cloneElement,
  type KeyboardEvent,
  type MouseEvent,
  type ReactElement,
  useEffect,
  useRef,
  useState,
} from 'react'
import { lazyWithPreload } from '../../lib/lazy.ts'
import { notifyError } from '../../lib/notify.ts'
import { whenIdle } from '../../lib/query.ts'

export interface TriggerProps {
  /** The button that opens it. */
  trigger: ReactElement<ComponentProps<'button'>>
}

/**
 * A lazy menu or dialog with its trigger. The trigger is rendered alone until the first press; then
 * the component replaces it and the press is repeated, which keeps press and focus.
 */
export function lazyWithTrigger<P extends TriggerProps>(
  opens: 'menu' | 'dialog',
  fetchCode: () => Promise<ComponentType<P>>,
) {
  const Whole = lazyWithPreload(fetchCode)
  const preload = () => void Whole.preload()
  return function LazyWithTrigger(props: P) {
    const button = useRef<HTMLButtonElement>(null)
    const pressed = useRef<Press>(null)
    const [whole, setWhole] = useState(Whole.isLoaded)
    useEffect(() => whenIdle(Whole.preload), [])
    useEffect(() => {
      if (!whole || !pressed.current || !button.current) return
      button.current.focus({ preventScroll: true })
      repeat(pressed.current, button.current)
      pressed.current = null
    }, [whole])
    const trigger = cloneElement(props.trigger, { ref: button })
    if (whole) return <Whole {...props} trigger={trigger} />
    const open = async (press: Press) => {
      pressed.current = press
      await Whole.preload()
      if (!pressed.current) return
      if (Whole.isLoaded()) setWhole(true)
      else notifyError('Não conseguimos abrir. Recarregue a página e tente novamente.')
    }
    return cloneElement(trigger, {
      'aria-haspopup': opens,
      'aria-expanded': false,
      onPointerEnter: preload,
      onFocus: preload,
      // A click without a pointer is a key.
      onClick: ({ detail }: MouseEvent) => void open({ key: detail === 0 ? 'Enter' : null }),
      onKeyDown: (event: KeyboardEvent) => {
        if (opens !== 'menu' || event.key !== 'ArrowDown') return
        event.preventDefault()
        void open({ key: event.key })
      },
      // Moving on before the code is loaded cancels the opening.
      onBlur: () => {
        pressed.current = null
      },
    })
  }
}

interface Press {
  /** Null: it was pressed with a pointer. */
  key: string | null
}

// Like a browser: the click follows unless a handler prevented the press.
function repeat({ key }: Press, button: HTMLButtonElement) {
  const options = { bubbles: true, cancelable: true }
  const event = key ? new KeyboardEvent('keydown', { ...options, key }) : new PointerEvent('pointerdown', options)
  if (button.dispatchEvent(event)) button.click()
}
