import { clsx } from 'clsx'

/** A document that is a watch-house: the lit window over two written lines. */
export function Logo({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" className={clsx('size-7 shrink-0', className)}>
      <rect width="32" height="32" rx="7" fill="oklch(0.255 0.045 246)" />
      <path d="M16 4 7 10.6V28h18V10.6z" fill="oklch(0.975 0.005 230)" />
      <circle cx="16" cy="13.2" r="3.6" fill="oklch(0.8 0.15 75)" />
      <path d="M11 20.2h10M11 23.8h6.5" stroke="oklch(0.255 0.045 246)" strokeWidth="1.7" />
    </svg>
  )
}
