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
import { notifyError } from '../lib/notify.ts'
import { piece } from '../lib/piece.ts'
import { whenQuiet } from '../lib/quiet.ts'

export interface Opening {
  /** The button that opens it. */
  trigger: ReactElement<ComponentProps<'button'>>
}

/**
 * A menu or a dialog with its trigger, whose code the first screen does not wait for. Until somebody opens it the trigger stands alone; then
 * the whole takes its place and is told what was done: neither a press nor the focus is lost, also when the code has yet to come.
 */
export function opener<P extends Opening>(opens: 'menu' | 'dialog', fetchCode: () => Promise<ComponentType<P>>) {
  const code = piece(fetchCode)
  const preload = () => void code.load().catch(() => undefined)
  return function Opener(props: P) {
    const button = useRef<HTMLButtonElement>(null)
    const asked = useRef<Deed>(null)
    const [Whole, setWhole] = useState(() => code.arrived)
    useEffect(() => whenQuiet(code.load), [])
    useEffect(() => {
      if (!Whole || !asked.current || !button.current) return
      button.current.focus({ preventScroll: true })
      repeat(asked.current, button.current)
      asked.current = null
    }, [Whole])
    const trigger = cloneElement(props.trigger, { ref: button })
    if (Whole) return <Whole {...props} trigger={trigger} />
    const ask = (deed: Deed) => {
      asked.current = deed
      code.load().then(
        (Arrived) => asked.current && setWhole(() => Arrived),
        () => asked.current && notifyError('Não conseguimos abrir. Recarregue a página e tente novamente.'),
      )
    }
    return cloneElement(trigger, {
      'aria-haspopup': opens,
      'aria-expanded': false,
      onPointerEnter: preload,
      onFocus: preload,
      // A click without a pointer is a key.
      onClick: ({ detail }: MouseEvent) => ask({ key: detail === 0 ? 'Enter' : null }),
      onKeyDown: (event: KeyboardEvent) => {
        if (opens !== 'menu' || event.key !== 'ArrowDown') return
        event.preventDefault()
        ask({ key: event.key })
      },
      // Whoever went on meanwhile is not called back.
      onBlur: () => {
        asked.current = null
      },
    })
  }
}

interface Deed {
  /** Null: it was pressed with a pointer. */
  key: string | null
}

// As a browser does it: the click follows unless somebody has taken care of the press.
function repeat({ key }: Deed, button: HTMLButtonElement) {
  const how = { bubbles: true, cancelable: true }
  const press = key ? new KeyboardEvent('keydown', { ...how, key }) : new PointerEvent('pointerdown', how)
  if (button.dispatchEvent(press)) button.click()
}
