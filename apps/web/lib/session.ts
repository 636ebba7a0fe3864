import { useSyncExternalStore } from 'react'

export interface WebSession {
  token: string
  /** Workspace id, which is also the name of the real-time message. */
  wsId: string
  email: string
}

interface SessionState {
  session: WebSession | null
  /** The server refused the token; the login screen says so. */
  expired: boolean
}

// public/theme.js reads it too.
const sessionKey = 'vigia.session'
/** What was searched for in this browser, by whom; it does not outlive the session. */
export const searchesKey = 'vigia.searches'
const listeners = new Set<() => void>()
let state: SessionState = { session: storedSession(), expired: false }

globalThis.window?.addEventListener('storage', (event) => {
  if (event.key === sessionKey || event.key === null) changeState({ session: storedSession(), expired: false })
})

function changeState(next: SessionState) {
  state = next
  for (const listener of listeners) listener()
}

export function currentSession(): WebSession | null {
  return state.session
}

export function openSession(session: WebSession) {
  localStorage.setItem(sessionKey, JSON.stringify(session))
  changeState({ session, expired: false })
}

export function closeSession() {
  localStorage.removeItem(sessionKey)
  localStorage.removeItem(searchesKey)
  changeState({ session: null, expired: false })
}

/** Ends the session because the server gave 401 to `token`; a late response to another token ends nothing. */
export function expireSession(token: string | undefined) {
  if (!state.session || state.session.token !== token) return
  localStorage.removeItem(sessionKey)
  changeState({ session: null, expired: true })
}

export function useSession(): SessionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => state,
  )
}

function storedSession(): WebSession | null {
  try {
    const stored = JSON.parse(localStorage.getItem(sessionKey) ?? 'null')
    return typeof stored?.token === 'string' ? stored : null
  } catch {
    return null
  }
}
