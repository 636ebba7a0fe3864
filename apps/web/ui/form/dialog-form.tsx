import type { ReactNode } from 'react'
import { actionMessage } from '../../lib/query.ts'
import { Button } from '../button.tsx'
import { Notice } from '../notice.tsx'

interface DialogFormProps {
  /** The words of the button that saves. */
  save: string
  busy: boolean
  /** Why the last try failed. */
  error: Error | null
  onSave: () => void
  onCancel: () => void
  children: ReactNode
}

/** The form of a dialog: fields, what went wrong, and its two buttons. */
export function DialogForm({ save, busy, error, onSave, onCancel, children }: DialogFormProps) {
  return (
    <form
      noValidate
      className="grid gap-4 overflow-y-auto px-5 py-4"
      onSubmit={(event) => {
        event.preventDefault()
        onSave()
      }}
    >
      {children}
      {error && <Notice tone="error" title={actionMessage(error)} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button variant="outline" onClick={onCancel}>
          Cancelar
        </Button>
        <Button type="submit" busy={busy}>
          {save}
        </Button>
      </div>
    </form>
  )
}

/** `chosen` with `one`, or without it. */
export function toggle<T>(chosen: readonly T[], one: T, isIn: boolean): readonly T[] {
  return isIn ? [...chosen, one] : chosen.filter((other) => other !== one)
}
