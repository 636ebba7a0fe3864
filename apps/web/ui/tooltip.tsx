import {
  cloneElement,
  type HTMLAttributes,
  type ReactElement,
  type RefAttributes,
  useEffect,
  useRef,
  useState,
} from 'react'
import { piece } from '../lib/piece.ts'
import { whenQuiet } from '../lib/quiet.ts'
import type { BalloonProps } from './balloon.tsx'
import { useStable } from './stable.ts'

const balloon = piece<BalloonProps>(() => import('./balloon.tsx').then(({ Balloon }) => Balloon))

interface TooltipProps {
  text: string
  /** False shows the child alone. */
  when?: boolean
  children: ReactElement<HTMLAttributes<HTMLElement> & RefAttributes<HTMLElement>>
}

/** The child stands alone until the code has come, for which no screen waits. */
export function Tooltip({ text, when = true, children }: TooltipProps) {
  const child = useRef<HTMLElement>(null)
  const [Around, setAround] = useState(() => balloon.arrived)
  // Wrapped, the child is another element: it would lose the focus, or the click that a finger is about to end.
  const wrap = useStable(() => {
    if (!child.current?.matches(':focus, :active')) setAround(() => balloon.arrived)
  })
  const alone = when && !Around
  useEffect(() => (alone ? whenQuiet(() => balloon.load().then(wrap)) : undefined), [alone, wrap])
  if (!when) return children
  if (!Around) return cloneElement(children, { ref: child, onBlur: wrap })
  return <Around text={text}>{children}</Around>
}
