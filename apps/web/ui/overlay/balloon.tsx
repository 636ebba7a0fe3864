import { Tooltip as Radix } from 'radix-ui'
import type { ReactElement } from 'react'

interface BalloonProps {
  text: string
  children: ReactElement
}

/** The lazy content of `Tooltip`. */
export function Balloon({ text, children }: BalloonProps) {
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
