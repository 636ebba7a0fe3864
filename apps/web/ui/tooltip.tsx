import { Tooltip as Radix } from 'radix-ui'
import type { ReactElement } from 'react'

interface TooltipProps {
  text: string
  /** False shows the child alone. */
  when?: boolean
  children: ReactElement
}

export function Tooltip({ text, when = true, children }: TooltipProps) {
  if (!when) return children
  return (
    <Radix.Provider delayDuration={300}>
      <Radix.Root>
        <Radix.Trigger asChild>{children}</Radix.Trigger>
        <Radix.Portal>
          <Radix.Content
            side="right"
            sideOffset={6}
            className="fade-in z-50 max-w-72 animate-in rounded-control bg-ink px-2 py-1 text-paper text-sm duration-120"
          >
            {text}
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
    </Radix.Provider>
  )
}
