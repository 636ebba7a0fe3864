import { clsx } from 'clsx'
import { CircleAlert, FileKey2, Upload } from 'lucide-react'
import { type DragEvent, useId, useState } from 'react'
import { site } from '../lib/site.ts'

interface CertificateFileProps {
  /** Shown before a file is chosen. */
  title: string
  file: File | undefined
  error: string | undefined
  disabled?: boolean
  /** Several may be chosen at once. */
  multiple?: boolean
  onChoose: (files: File[]) => void
}

/** An area where a .pfx or .p12 file is dropped or chosen. */
export function CertificateFile({ title, file, error, disabled, multiple = false, onChoose }: CertificateFileProps) {
  const id = useId()
  const [over, setOver] = useState(false)
  const drag = (inside: boolean) => (event: DragEvent) => {
    event.preventDefault()
    setOver(inside)
  }
  const take = (list: FileList | null) => {
    const files = [...(list ?? [])]
    if (files.length > 0) onChoose(multiple ? files : files.slice(0, 1))
  }
  const Icon = file ? FileKey2 : Upload
  return (
    <div className="grid gap-1.5">
      {site.demonstracaoAberta && (
        <p className="pb-1.5">
          <strong>Esta demonstração é aberta a qualquer pessoa e só aceita certificados de teste.</strong> Não envie o
          da sua empresa.
        </p>
      )}
      <label
        htmlFor={id}
        onDragOver={drag(true)}
        onDragLeave={drag(false)}
        onDrop={(event) => {
          drag(false)(event)
          if (!disabled) take(event.dataTransfer.files)
        }}
        className={clsx(
          'flex items-center gap-4 rounded border border-dashed px-5 py-4 transition-colors duration-150 has-focus-visible:outline-2 has-focus-visible:outline-brand has-focus-visible:outline-offset-2',
          over
            ? 'border-brand bg-brand-soft'
            : error
              ? 'border-error bg-surface'
              : 'border-line-strong bg-surface hover:border-ink',
        )}
      >
        <Icon aria-hidden className={clsx('size-7 shrink-0', file ? 'text-brand' : 'text-muted')} strokeWidth={1.5} />
        <span className="min-w-0 flex-1">
          <span className="block truncate font-semibold text-lg">{file ? file.name : title}</span>
          <span className="text-muted">
            {file ? 'Clique para trocar o arquivo' : 'Arraste o arquivo .pfx ou .p12 para cá ou clique para escolher'}
          </span>
        </span>
        <input
          id={id}
          type="file"
          accept={multiple ? '.pfx,.p12,.csv,.txt,application/x-pkcs12' : '.pfx,.p12,application/x-pkcs12'}
          multiple={multiple}
          disabled={disabled}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? `${id}-error` : undefined}
          className="sr-only"
          onChange={(event) => {
            take(event.target.files)
            // Cleared, because choosing the same file again must fire a change.
            event.target.value = ''
          }}
        />
      </label>
      {error && (
        <p id={`${id}-error`} role="alert" className="flex items-start gap-1.5 text-error text-sm">
          <CircleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
          {error}
        </p>
      )}
    </div>
  )
}
