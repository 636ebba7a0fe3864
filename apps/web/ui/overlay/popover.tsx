import { clsx } from 'clsx'
import { Popover as Radix } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'

interface PopoverProps {
  trigger: ReactElement
  /** Its name. */
  label: string
  open: boolean
  onOpenChange: (open: boolean) => void
  className: string
  /** Whether the focus moved deliberately on closing; otherwise it returns to the trigger. */
  keepsFocus?: () => boolean
  children: ReactNode
}

/** A small dialog under its trigger; the page beside it can still be used. */
export function Popover({ trigger, label, open, onOpenChange, className, keepsFocus, children }: PopoverProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align="end"
          sideOffset={6}
          collisionPadding={12}
          aria-label={label}
          onCloseAutoFocus={(event) => {
            if (keepsFocus?.()) event.preventDefault()
          }}
          className={clsx(
            'data-[state=open]:fade-in data-[state=open]:slide-in-from-top-1 z-40 max-w-[calc(100vw-24px)] rounded bg-surface shadow-float duration-150 data-[state=open]:animate-in',
            className,
          )}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
