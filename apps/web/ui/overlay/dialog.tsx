import { clsx } from 'clsx'
import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { MouseEvent, ReactNode } from 'react'
import { buttonClass } from '../button.tsx'
import { useFocusReturn } from './focus-return.ts'

interface DialogProps {
  open: boolean
  onClose: () => void
  title: ReactNode
  description?: ReactNode
  /** Buttons beside the title. */
  actions?: ReactNode
  className?: string
  children: ReactNode
}

export function Dialog({ open, onClose, title, description, actions, className, children }: DialogProps) {
  const focusReturn = useFocusReturn()
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="data-[state=closed]:fade-out data-[state=open]:fade-in fixed inset-0 z-50 bg-overlay duration-150 data-[state=closed]:animate-out data-[state=open]:animate-in" />
        <Radix.Content
          {...(description ? {} : { 'aria-describedby': undefined })}
          {...focusReturn}
          className={clsx(
            'data-[state=closed]:fade-out data-[state=open]:fade-in data-[state=open]:slide-in-from-bottom-2 fixed inset-0 z-50 m-auto flex h-fit outline-none max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] flex-col rounded bg-surface shadow-float duration-150 data-[state=closed]:animate-out data-[state=open]:animate-in',
            className ?? 'max-w-lg',
          )}
        >
          <header className="flex items-start gap-3 border-line border-b px-5 py-3.5">
            <div className="min-w-0 flex-1 self-center">
              <Radix.Title className="truncate font-semibold text-lg">{title}</Radix.Title>
              {description && <Radix.Description className="text-muted">{description}</Radix.Description>}
            </div>
            {actions}
            <Radix.Close
              aria-label="Fechar"
              onMouseDown={keepFocus}
              className={buttonClass({ variant: 'ghost', size: 'icon' })}
            >
              <X aria-hidden className="size-4" />
            </Radix.Close>
          </header>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** For buttons that leave a form: pressing must not validate the focused field. */
export function keepFocus(event: MouseEvent): void {
  event.preventDefault()
}
