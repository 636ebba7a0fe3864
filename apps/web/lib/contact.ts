import { useSyncExternalStore } from 'react'

/** With this hash in the address the contact form is open, over any page; mails link to it. */
export const contactHash = '#contato'

interface ContactControl {
  open: boolean
  show: () => void
  close: () => void
}

const listeners = new Set<() => void>()

function subscribe(listener: () => void) {
  listeners.add(listener)
  window.addEventListener('popstate', listener)
  window.addEventListener('hashchange', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('popstate', listener)
    window.removeEventListener('hashchange', listener)
  }
}

function changed() {
  for (const listener of listeners) listener()
}

// Keeps the router's state of the history entry: for the router this is the same page.
function show() {
  if (location.hash === contactHash) return
  history.pushState({ ...history.state, contact: true }, '', contactHash)
  changed()
}

function close() {
  if (location.hash !== contactHash) return
  // Goes back if it was opened here; a link from outside has no entry to go back to.
  if (history.state?.contact) return history.back()
  history.replaceState(history.state, '', location.pathname + location.search)
  changed()
}

export function useContact(): ContactControl {
  const open = useSyncExternalStore(
    subscribe,
    () => location.hash === contactHash,
    () => false,
  )
  return { open, show, close }
}
