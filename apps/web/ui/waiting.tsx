import { clsx } from 'clsx'
import { LoaderCircle } from 'lucide-react'

export function Waiting({ text, className }: { text: string; className?: string }) {
  return (
    <div
      role="status"
      className={clsx('flex items-center justify-center gap-2.5 text-muted', className ?? 'min-h-dvh')}
    >
      <LoaderCircle aria-hidden className="size-5 animate-spin" />
      {text}
    </div>
  )
}
