import { clsx } from 'clsx'
import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { notifyError } from '../lib/notify.ts'

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
      onClick={async () => {
        const done = await copy(text)
        setCopied(done)
        if (!done) notifyError('Não foi possível copiar.', { description: 'Selecione o texto e copie com Ctrl+C.' })
      }}
      className={clsx(
        'inline-flex size-6 items-center justify-center rounded-control text-muted hover:bg-sunken hover:text-ink',
        className,
      )}
    >
      <Icon aria-hidden className={clsx('size-3.5', copied && 'text-success')} />
    </button>
  )
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Without HTTPS the interface is missing, and a browser may refuse it: the old way may still work.
  }
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  return done
}
