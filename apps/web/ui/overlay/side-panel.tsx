import { clsx } from 'clsx'
import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { KeyboardEvent, ReactNode } from 'react'
import { buttonClass } from '../button.tsx'
import { useFocusReturn } from './focus-return.ts'

interface SidePanelProps {
  open: boolean
  onClose: () => void
  title: ReactNode
  /** Buttons beside the title. */
  actions?: ReactNode
  /** Target of the focus after closing; default: the element that had it before. */
  returnTo?: () => HTMLElement | null
  onKeyDown?: (event: KeyboardEvent) => void
  className?: string
  children: ReactNode
}

/** A details panel that slides in from the right, and fills a phone. */
export function SidePanel({ open, onClose, title, actions, returnTo, onKeyDown, className, children }: SidePanelProps) {
  const focusReturn = useFocusReturn()
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="data-[state=closed]:fade-out data-[state=open]:fade-in fixed inset-0 z-50 bg-overlay duration-150 data-[state=closed]:animate-out data-[state=open]:animate-in" />
        <Radix.Content
          aria-describedby={undefined}
          onKeyDown={onKeyDown}
          onOpenAutoFocus={focusReturn.onOpenAutoFocus}
          onCloseAutoFocus={(event) => {
            const target = returnTo?.()
            if (!target) return focusReturn.onCloseAutoFocus(event)
            event.preventDefault()
            target.focus({ preventScroll: true })
          }}
          className={clsx(
            'data-[state=closed]:slide-out-to-right data-[state=open]:slide-in-from-right fixed inset-y-0 right-0 z-50 flex w-full flex-col bg-surface text-ink shadow-float outline-none duration-180 data-[state=closed]:animate-out data-[state=open]:animate-in',
            className,
          )}
        >
          <header className="flex shrink-0 items-center gap-1 border-line border-b py-2 pr-2 pl-5 max-sm:pl-4">
            <Radix.Title className="mr-auto min-w-0 truncate font-semibold text-lg">{title}</Radix.Title>
            {actions}
            <Radix.Close
              aria-label="Fechar"
              title="Fechar (Esc)"
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
