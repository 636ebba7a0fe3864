import { CircleAlert } from 'lucide-react'
import { type ReactNode, useId } from 'react'

interface ChoicesProps {
  legend: string
  error: string | undefined
  children: ReactNode
}

/** Checkboxes under one question, with the error below them. */
export function Choices({ legend, error, children }: ChoicesProps) {
  const id = useId()
  return (
    <fieldset aria-describedby={error ? id : undefined}>
      <legend className="mb-1 font-semibold text-sm">{legend}</legend>
      <div className="grid">{children}</div>
      {error && (
        <p id={id} className="mt-1 flex items-start gap-1.5 text-error text-sm">
          <CircleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
          {error}
        </p>
      )}
    </fieldset>
  )
}
