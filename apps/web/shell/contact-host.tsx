import { Suspense, useState } from 'react'
import { useContact } from '../lib/contact.ts'
import { lazyWithPreload } from '../lib/lazy.ts'
import { useSession } from '../lib/session.ts'
import { Waiting } from '../ui/waiting.tsx'

const ContactDialog = lazyWithPreload(() => import('./contact-dialog.tsx').then((module) => module.ContactDialog))

/** Fetches the code of the form that is about to be opened. */
export function preloadContact() {
  void ContactDialog.preload()
}

/**
 * The contact form over every page, loaded on first use. It stays mounted, because typed text must
 * survive until another person signs in.
 */
export function ContactHost() {
  const { open } = useContact()
  const { session } = useSession()
  const [needed, setNeeded] = useState(open)
  if (open && !needed) setNeeded(true)
  return <Suspense fallback={<Opening />}>{needed && <ContactDialog key={session?.wsId ?? 'visitor'} />}</Suspense>
}

function Opening() {
  return (
    <Waiting
      text="Abrindo o formulário..."
      className="fade-in fill-mode-both fixed inset-x-4 bottom-4 z-50 mx-auto max-w-64 animate-in rounded bg-surface py-3 shadow-float delay-300"
    />
  )
}
