import { CircleAlert } from 'lucide-react'
import { type ReactNode, useId } from 'react'

interface Control {
  id: string
  'aria-invalid': true | undefined
  'aria-describedby': string | undefined
  required: true | undefined
}

interface FieldProps {
  label: ReactNode
  /** Marked with an asterisk. */
  required?: true
  help?: ReactNode
  error?: string | undefined
  children: (control: Control) => ReactNode
}

/** Label above, help and error under; the control receives the ids that connect them. */
export function Field({ label, required, help, error, children }: FieldProps) {
  const id = useId()
  const described = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className="grid content-start gap-1.5">
      <label htmlFor={id} className="justify-self-start font-semibold text-sm">
        {label}
        {required && (
          <span aria-hidden className="text-error">
            *
          </span>
        )}
      </label>
      {children({ id, required, 'aria-invalid': error ? true : undefined, 'aria-describedby': described || undefined })}
      {help && (
        <p id={`${id}-help`} className="text-muted text-sm">
          {help}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="flex items-start gap-1.5 text-error text-sm">
          <CircleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
          {error}
        </p>
      )}
    </div>
  )
}
