import { clsx } from 'clsx'
import { CircleAlert, Info, type LucideIcon, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

const looks: Record<'error' | 'warning' | 'info', { icon: LucideIcon; className: string }> = {
  error: { icon: CircleAlert, className: 'border-error-line bg-error-soft [&>svg]:text-error' },
  warning: { icon: TriangleAlert, className: 'border-warning-line bg-warning-soft [&>svg]:text-warning' },
  info: { icon: Info, className: 'border-info-line bg-info-soft [&>svg]:text-info' },
}

/** A text whose first sentence says it all and the others explain. */
export function TextNotice({ tone, text }: { tone: keyof typeof looks; text: string }) {
  const [, first = text, rest] = /^(.*?\.) (.*)$/s.exec(text) ?? []
  return (
    <Notice tone={tone} title={first}>
      {rest}
    </Notice>
  )
}

interface NoticeProps {
  tone: keyof typeof looks
  title: ReactNode
  children?: ReactNode
  action?: ReactNode
}

export function Notice({ tone, title, children, action }: NoticeProps) {
  const { icon: Icon, className } = looks[tone]
  return (
    <div role={tone === 'info' ? 'status' : 'alert'} className={clsx('flex gap-3 rounded border px-4 py-3', className)}>
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 flex-1">
        <p className="break-words font-semibold">{title}</p>
        {children && <div className="mt-0.5 break-words">{children}</div>}
      </div>
      {action}
    </div>
  )
}
