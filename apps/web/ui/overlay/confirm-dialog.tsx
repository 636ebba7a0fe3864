import { AlertDialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from '../button.tsx'
import { useFocusReturn } from './focus-return.ts'

interface ConfirmDialogProps {
  open: boolean
  title: string
  /** Consequences: the effect, the count, and whether it is irreversible. */
  children: ReactNode
  /** The verb of the action. */
  confirm: string
  cancel?: string
  /** The action deletes or ends something. */
  danger?: boolean
  busy?: boolean
  onConfirm: () => void
  onCancel: () => void
}

/** Asks for a decision. Pressing Enter at once, or Escape, changes nothing. */
export function ConfirmDialog({ open, title, children, confirm, cancel = 'Cancelar', ...rest }: ConfirmDialogProps) {
  const { danger = false, busy = false, onConfirm, onCancel } = rest
  const focusReturn = useFocusReturn()
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onCancel()}>
      <Radix.Portal>
        <Radix.Overlay className="data-[state=closed]:fade-out data-[state=open]:fade-in fixed inset-0 z-50 bg-overlay duration-150 data-[state=closed]:animate-out data-[state=open]:animate-in" />
        <Radix.Content
          {...focusReturn}
          className="data-[state=closed]:fade-out data-[state=open]:fade-in data-[state=open]:slide-in-from-bottom-2 fixed inset-0 z-50 m-auto grid h-fit max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] max-w-lg gap-3 overflow-y-auto rounded bg-surface px-5 py-5 shadow-float outline-none duration-150 data-[state=closed]:animate-out data-[state=open]:animate-in"
        >
          <Radix.Title className="break-words font-semibold text-lg">{title}</Radix.Title>
          <Radix.Description asChild>
            <div className="grid gap-2 break-words">{children}</div>
          </Radix.Description>
          <div className="mt-2 flex flex-wrap justify-end gap-2">
            <Button variant="outline" data-initial-focus onClick={onCancel}>
              {cancel}
            </Button>
            <Button variant={danger ? 'danger' : 'primary'} busy={busy} onClick={onConfirm}>
              {confirm}
            </Button>
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
