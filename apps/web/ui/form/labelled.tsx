import { clsx } from 'clsx'
import type { ReactNode } from 'react'

interface LabelledProps {
  id: string
  label: string
  /** Only screen readers get the label. */
  hidden?: boolean
  className?: string | undefined
  children: ReactNode
}

/** A control of a filter with a small label above it. */
export function Labelled({ id, label, hidden = false, className, children }: LabelledProps) {
  return (
    <div className={clsx('grid min-w-0 gap-1', className)}>
      <label htmlFor={id} className={clsx(hidden ? 'sr-only' : 'justify-self-start text-muted text-xs')}>
        {label}
      </label>
      {children}
    </div>
  )
}
