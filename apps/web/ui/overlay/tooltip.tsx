import {
  cloneElement,
  type HTMLAttributes,
  type ReactElement,
  type RefAttributes,
  useEffect,
  useRef,
  useState,
} from 'react'
import { lazyWithPreload } from '../../lib/lazy.ts'
import { whenIdle } from '../../lib/query.ts'
import { useStable } from '../hooks/stable.ts'

const Balloon = lazyWithPreload(() => import('./balloon.tsx').then((module) => module.Balloon))

interface TooltipProps {
  text: string
  /** False shows the child alone. */
  when?: boolean
  children: ReactElement<HTMLAttributes<HTMLElement> & RefAttributes<HTMLElement>>
}

/** No screen waits for the code of tooltips: until it is here the child is rendered alone. */
export function Tooltip({ text, when = true, children }: TooltipProps) {
  const child = useRef<HTMLElement>(null)
  const [wrapped, setWrapped] = useState(Balloon.isLoaded)
  // Wrapping replaces the element, which loses its focus or a click in progress.
  const wrap = useStable(() => {
    if (Balloon.isLoaded() && !child.current?.matches(':focus, :active')) setWrapped(true)
  })
  const alone = when && !wrapped
  useEffect(() => (alone ? whenIdle(() => Balloon.preload().then(wrap)) : undefined), [alone, wrap])
  if (!when) return children
  if (!wrapped) return cloneElement(children, { ref: child, onBlur: wrap })
  return <Balloon text={text}>{children}</Balloon>
}
