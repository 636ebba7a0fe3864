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
/** The lists that the installed application shows without a connection, and whose they are; they do not outlive the session either. */
export const listsKey = 'vigia.lists'
/** What was typed in this tab and not sent, and by whom; only a session that expires leaves it, to the same person. */
export const draftsKey = 'vigia.drafts'
const listeners = new Set<() => void>()
let state: SessionState = { session: storedSession(), expired: false }

globalThis.window?.addEventListener('storage', (event) => {
  if (event.key !== sessionKey && event.key !== null) return
  const session = storedSession()
  forgetOthers(session?.email)
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
  forgetOthers(session.email)
  localStorage.setItem(sessionKey, JSON.stringify(session))
  changeState({ session, expired: false })
}

export function closeSession() {
  localStorage.removeItem(sessionKey)
  forgetOthers(undefined)
  changeState({ session: null, expired: false })
}

/** Ends the session because the server gave 401 to `token`; a late response to another token ends nothing. */
export function expireSession(token: string | undefined) {
  if (!state.session || state.session.token !== token) return
  localStorage.removeItem(sessionKey)
  localStorage.removeItem(listsKey)
  changeState({ session: null, expired: true })
}

// Deletes what anybody but `email` has left in this browser.
function forgetOthers(email: string | undefined) {
  for (const [storage, key] of [
    [localStorage, searchesKey],
    [localStorage, listsKey],
    [sessionStorage, draftsKey],
  ] as const)
    if (email === undefined || readOwned(storage, key)?.email !== email) storage.removeItem(key)
}

/** What is stored with the e-mail of whose it is; null: nothing that can be read. */
export function readOwned(storage: Storage, key: string): ({ email: unknown } & Record<string, unknown>) | null {
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
