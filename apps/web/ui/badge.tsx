import { clsx } from 'clsx'
import { Circle, CircleCheck, CircleDot, CircleX, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

export type Tone = 'green' | 'red' | 'yellow' | 'blue' | 'plain'

const looks: Record<Tone, { icon: LucideIcon | null; className: string }> = {
  green: { icon: CircleCheck, className: 'border-success-line bg-success-soft text-success' },
  red: { icon: CircleX, className: 'border-error-line bg-error-soft text-error' },
  yellow: { icon: Circle, className: 'border-warning-line bg-warning-soft text-warning' },
  blue: { icon: CircleDot, className: 'border-info-line bg-info-soft text-info' },
  plain: { icon: null, className: 'border-line bg-sunken text-muted' },
}

/** A word in a colour, with an icon for people who do not see the colour. */
export function Badge({ tone, wrap = false, children }: { tone: Tone; wrap?: boolean; children: ReactNode }) {
  const { icon: Icon, className } = looks[tone]
  return (
    <span
      data-tone={tone}
      className={clsx(
        'inline-flex min-h-5.5 max-w-full items-center gap-1 rounded-[11px] border py-px pr-2 text-left font-semibold text-xs leading-3.5',
        Icon ? 'pl-1' : 'pl-2',
        className,
      )}
    >
      {Icon && <Icon aria-hidden className="size-3.5 shrink-0" />}
      <span className={wrap ? undefined : 'truncate'}>{children}</span>
    </span>
  )
}
