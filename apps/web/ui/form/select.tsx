import { clsx } from 'clsx'
import { ChevronDown } from 'lucide-react'
import type { ComponentProps } from 'react'
import { controlClass } from './input.tsx'

/** The list of the system: it is the best one on a phone and with a keyboard, and costs nothing. */
export function Select({ className, children, ...rest }: ComponentProps<'select'>) {
  return (
    <div className="relative min-w-0">
      <select className={clsx(controlClass, 'appearance-none truncate pr-8', className)} {...rest}>
        {children}
      </select>
      <ChevronDown aria-hidden className="pointer-events-none absolute inset-y-0 right-2.5 my-auto size-4 text-muted" />
    </div>
  )
}
