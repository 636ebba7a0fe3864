import { clsx } from 'clsx'
import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { notifyError } from '../lib/notify.ts'
import { buttonClass } from './button.tsx'
import { copyText } from './copy.ts'

interface CopyButtonProps {
  text: string
  label: string
  /** Shows the label beside the icon. */
  labelled?: boolean
  tabIndex?: number
  className?: string
}

export function CopyButton({ text, label, labelled = false, tabIndex, className }: CopyButtonProps) {
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
      tabIndex={tabIndex}
      aria-label={copied ? 'Copiado' : label}
      title={copied ? 'Copiado' : label}
      onClick={async () => {
        const done = await copyText(text)
        setCopied(done)
        if (!done) notifyError('Não foi possível copiar.', { description: 'Selecione o texto e copie com Ctrl+C.' })
      }}
      className={clsx(
        labelled
          ? buttonClass({ variant: 'outline', size: 'sm' })
          : 'inline-flex size-6 items-center justify-center rounded-control text-muted hover:bg-sunken hover:text-ink',
        className,
      )}
    >
      <Icon aria-hidden className={clsx('size-3.5', copied && 'text-success')} />
      {labelled && (copied ? 'Copiado' : label)}
    </button>
  )
}
