import { clsx } from 'clsx'
import type { ComponentProps } from 'react'

export const controlClass =
  'h-9 w-full min-w-0 rounded-control border border-line-strong/70 bg-surface px-3 text-base text-ink transition-[border-color] duration-150 hover:border-line-strong focus-visible:border-brand focus-visible:outline-offset-0 aria-invalid:border-error aria-invalid:outline-error disabled:opacity-55 pointer-coarse:h-11 pointer-coarse:text-lg'

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input className={clsx(controlClass, className)} {...rest} />
}
