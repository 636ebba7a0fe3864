import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Notice } from '../ui/notice.tsx'

interface ShownOnceProps {
  /** Name of the secret: "Chave de API". */
  label: string
  text: string
  /** Advice for a lost secret. */
  lost: string
  onClose: () => void
  /** Instructions for its use. */
  children: ReactNode
}

/** A secret that the server does not show again, to be copied now. */
export function ShownOnce({ label, text, lost, onClose, children }: ShownOnceProps) {
  return (
    <div className="grid gap-4">
      <Notice tone="warning" title="Copie agora: isto não aparece de novo.">
        {lost}
      </Notice>
      <div>
        <p className="mb-1.5 font-semibold text-sm">{label}</p>
        <code className="block select-all break-all rounded-control border border-line-strong bg-sunken px-3 py-2">
          {text}
        </code>
      </div>
      <div className="grid gap-2">{children}</div>
      <div className="flex flex-wrap justify-end gap-2">
        <CopyButton text={text} label="Copiar" labelled />
        <Button size="sm" onClick={onClose}>
          Já guardei
        </Button>
      </div>
    </div>
  )
}
