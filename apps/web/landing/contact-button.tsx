import type { ReactNode } from 'react'
import { contactHash, useContact } from '../lib/contact.ts'
import { Button } from '../ui/button.tsx'

interface ContactButtonProps {
  preload: (path: string) => void
  size?: 'md' | 'lg'
  className?: string
  children: ReactNode
}

export function ContactButton({ preload, children, ...look }: ContactButtonProps) {
  const { show } = useContact()
  const intend = () => preload(contactHash)
  return (
    <Button {...look} variant="outline" aria-haspopup="dialog" onPointerEnter={intend} onFocus={intend} onClick={show}>
      {children}
    </Button>
  )
}
