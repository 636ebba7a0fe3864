import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { useFocusReturn } from './focus-return.ts'

interface SheetProps {
  open: boolean
  onClose: () => void
  title: string
  children: ReactNode
}

/** A panel that slides in from the left over the page. */
export function Sheet({ open, onClose, title, children }: SheetProps) {
  const focusReturn = useFocusReturn()
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="data-[state=closed]:fade-out data-[state=open]:fade-in fixed inset-0 z-50 bg-overlay duration-150 data-[state=closed]:animate-out data-[state=open]:animate-in" />
        <Radix.Content
          aria-describedby={undefined}
          {...focusReturn}
          className="night data-[state=closed]:slide-out-to-left data-[state=open]:slide-in-from-left fixed inset-y-0 left-0 z-50 w-72 max-w-[85vw] bg-paper text-ink shadow-float outline-none duration-180 data-[state=closed]:animate-out data-[state=open]:animate-in"
        >
          <Radix.Title className="sr-only">{title}</Radix.Title>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
