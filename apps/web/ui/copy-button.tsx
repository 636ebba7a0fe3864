import { clsx } from 'clsx'
import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'

export function CopyButton({ text, label, className }: { text: string; label: string; className?: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [copied])
  const Icon = copied ? Check : Copy
  return (
    <button
      type="button"
      aria-label={copied ? 'Copiado' : label}
      title={copied ? 'Copiado' : label}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      className={clsx(
        'inline-flex size-6 items-center justify-center rounded-control text-muted hover:bg-sunken hover:text-ink',
        className,
      )}
    >
      <Icon aria-hidden className={clsx('size-3.5', copied && 'text-success')} />
    </button>
  )
}
