import { useSyncExternalStore } from 'react'

/** The contact form opens over whatever page is shown; a letter may link to it. */
export const contactHash = '#contato'

interface Contact {
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

// What the router keeps in the entry of the page goes along: to it this is the same place.
function show() {
  if (location.hash === contactHash) return
  history.pushState({ ...history.state, contact: true }, '', contactHash)
  changed()
}

function close() {
  if (location.hash !== contactHash) return
  // Who opened it here goes back to where he was; who came by a link has nothing behind him.
  if (history.state?.contact) return history.back()
  history.replaceState(history.state, '', location.pathname + location.search)
  changed()
}

export function useContact(): Contact {
  const open = useSyncExternalStore(
    subscribe,
    () => location.hash === contactHash,
    () => false,
  )
  return { open, show, close }
}
