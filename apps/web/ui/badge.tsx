import { clsx } from 'clsx'
import { Circle, CircleCheck, CircleDot, CircleX, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

export type Tone = 'green' | 'red' | 'yellow' | 'blue' | 'plain'

const looks: Record<Tone, { icon: LucideIcon | null; loud: string; quiet: string }> = {
  green: { icon: CircleCheck, loud: 'border-success-line bg-success-soft text-success', quiet: 'text-success' },
  red: { icon: CircleX, loud: 'border-error-line bg-error-soft text-error', quiet: 'text-error' },
  yellow: {
    icon: Circle,
    loud: 'border-warning-line bg-warning-soft text-warning',
    quiet: 'border-warning-line text-warning',
  },
  blue: { icon: CircleDot, loud: 'border-info-line bg-info-soft text-info', quiet: 'text-info' },
  plain: { icon: null, loud: 'border-line bg-sunken text-muted', quiet: 'text-muted' },
}

interface BadgeProps {
  tone: Tone
  /** Its own mark, in the place of that of its colour. */
  icon?: LucideIcon | undefined
  /** Quiet style for a good state: a word and its mark, in yellow with a border. */
  quiet?: boolean
  wrap?: boolean
  children: ReactNode
}

/** A word in a colour, with an icon for people who do not see the colour. */
export function Badge({ tone, icon, quiet = false, wrap = false, children }: BadgeProps) {
  const look = looks[tone]
  const Icon = icon ?? look.icon
  const isPill = !quiet || tone === 'yellow'
  return (
    <span
      data-tone={tone}
      className={clsx(
        'inline-flex min-w-0 max-w-full items-center gap-1 text-left text-xs leading-3.5',
        isPill ? clsx('min-h-5.5 rounded-[11px] border py-px pr-2', Icon ? 'pl-1' : 'pl-2') : 'min-h-5 pr-1',
        quiet ? look.quiet : clsx('font-semibold', look.loud),
      )}
    >
      {Icon && <Icon aria-hidden className="size-3.5 shrink-0" />}
      <span className={wrap ? undefined : 'truncate'}>{children}</span>
    </span>
  )
}
