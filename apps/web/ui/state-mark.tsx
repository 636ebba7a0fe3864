import { clsx } from 'clsx'
import { CircleAlert, CircleCheck, CircleDashed, CircleX, type LucideIcon, RefreshCw } from 'lucide-react'
import type { LampState } from './lamp.tsx'

const marks: Record<LampState, { icon: LucideIcon; className: string }> = {
  steady: { icon: RefreshCw, className: 'text-success' },
  waiting: { icon: CircleCheck, className: 'text-success' },
  blocked: { icon: CircleAlert, className: 'text-warning' },
  stopped: { icon: CircleX, className: 'text-error' },
  unlit: { icon: CircleDashed, className: 'text-muted' },
}

/** Mark for a state, quiet if all is well. The caller writes the text beside it. */
export function StateMark({ state, className }: { state: LampState; className?: string }) {
  const { icon: Icon, className: colour } = marks[state]
  return <Icon aria-hidden data-mark={state} className={clsx('size-4 shrink-0', colour, className)} />
}
