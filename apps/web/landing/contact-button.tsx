import type { ReactNode } from 'react'
import { useContact } from '../lib/contact.ts'
import { buttonClass } from '../ui/button.tsx'
import { PopupButton } from './popup.tsx'
import { writeToUsId } from './write-to-us.tsx'

interface ContactButtonProps {
  preloadContact: () => void
  size?: 'md' | 'lg'
  className?: string
  children: ReactNode
}

export function ContactButton({ preloadContact, size, className, children }: ContactButtonProps) {
  const { show } = useContact()
  return (
    <PopupButton
      opens={writeToUsId}
      instead={show}
      onPointerEnter={preloadContact}
      onFocus={preloadContact}
      className={buttonClass({ variant: 'outline', size, className })}
    >
      {children}
    </PopupButton>
  )
}
