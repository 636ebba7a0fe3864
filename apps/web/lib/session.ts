import { useSyncExternalStore } from 'react'
import { type Session, storageKey, storedSession } from './stored-session.ts'

interface State {
  session: Session | null
  /** The server refused the token; the login screen says so. */
  expired: boolean
}

const listeners = new Set<() => void>()
let state: State = { session: storedSession(), expired: false }

globalThis.window?.addEventListener('storage', (event) => {
  if (event.key === storageKey || event.key === null) change({ session: storedSession(), expired: false })
})

function change(next: State) {
  state = next
  for (const listener of listeners) listener()
}

export function currentSession(): Session | null {
  return state.session
}

export function openSession(session: Session) {
  localStorage.setItem(storageKey, JSON.stringify(session))
  change({ session, expired: false })
}

export function closeSession() {
  localStorage.removeItem(storageKey)
  change({ session: null, expired: false })
}

/** Ends the session because the server answered 401 to `token`; a late answer to another token ends nothing. */
export function expireSession(token: string | undefined) {
  if (!state.session || state.session.token !== token) return
  localStorage.removeItem(storageKey)
  change({ session: null, expired: true })
}

export function useSession(): State {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => state,
  )
}
