import { clsx } from 'clsx'

export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={clsx('block h-3 animate-pulse rounded-control bg-line', className)} />
}
