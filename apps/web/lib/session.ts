import { useSyncExternalStore } from 'react'

export interface WebSession {
  token: string
  /** Workspace id, which is also the name of the real-time message. */
  wsId: string
  email: string
}

interface SessionState {
  session: WebSession | null
  /** The server refused the token; shown on the login screen. */
  expired: boolean
}

// public/theme.js reads it too.
const sessionKey = 'vigia.session'
/** Searches in this browser, with their owner; deleted with the session. */
export const searchesKey = 'vigia.searches'
/** Lists for offline use, with their owner; deleted with the session. */
export const listsKey = 'vigia.lists'
/** The screen with which a session begins. */
const start = '/dashboard'
const listeners = new Set<() => void>()
let state: SessionState = { session: storedSession(), expired: false }

globalThis.window?.addEventListener('storage', (event) => {
  if (event.key !== sessionKey && event.key !== null) return
  const session = storedSession()
  const left = state.session?.wsId
  forgetOthers(session)
  // The screen shows data of another workspace.
  if (session && left && session.wsId !== left) return location.assign(start)
  changeState({ session, expired: false })
})

function changeState(next: SessionState) {
  state = next
  for (const listener of listeners) listener()
}

export function currentSession(): WebSession | null {
  return state.session
}

export function openSession(session: WebSession) {
  forgetOthers(session)
  localStorage.setItem(sessionKey, JSON.stringify(session))
  changeState({ session, expired: false })
}

/** Switches to another workspace; data read or typed in this one is dropped. */
export function changeWorkspace(session: WebSession) {
  forgetOthers(null)
  localStorage.setItem(sessionKey, JSON.stringify(session))
  changeState({ session, expired: false })
  location.assign(start)
}

export function closeSession() {
  localStorage.removeItem(sessionKey)
  forgetOthers(null)
  changeState({ session: null, expired: false })
}

/** Ends the session after a 401 to `token` or to no token; ignores 401s to other tokens. */
export function expireSession(token: string | undefined) {
  if (state.session?.token !== token) return
  // The person has gone on with another one, and this page is about to.
  const stored = storedSession()
  if (stored && stored.token !== token) return
  localStorage.removeItem(sessionKey)
  localStorage.removeItem(listsKey)
  changeState({ session: null, expired: true })
}

/** Hash that makes the login screen show an expired session; used by pages without the router. */
export const expiredHash = '#expirada'

/** Called when the login screen has shown it: other screens may open again. */
export function forgetExpiry() {
  if (state.expired) changeState({ ...state, expired: false })
}

/** Owner of data in this browser: a person in one workspace. */
export const ownerOf = (session: WebSession | null): string | null => session && `${session.email} ${session.wsId}`

// Deletes data of other people, or of another workspace, in this browser.
function forgetOthers(session: WebSession | null) {
  const owner = ownerOf(session)
  for (const [storage, key] of [
    [localStorage, searchesKey],
    [localStorage, listsKey],
  ] as const)
    if (owner === null || readOwned(storage, key)?.owner !== owner) storage.removeItem(key)
}

/** Reads a stored value with its owner; null if it is missing or unreadable. */
export function readOwned(storage: Storage, key: string): ({ owner: unknown } & Record<string, unknown>) | null {
  try {
    const stored = JSON.parse(storage.getItem(key) ?? 'null')
    return typeof stored === 'object' && stored !== null ? stored : null
  } catch {
    return null
  }
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
