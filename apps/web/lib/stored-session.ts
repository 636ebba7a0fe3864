export interface Session {
  token: string
  /** Workspace id, which is also the name of the real-time message. */
  wsId: string
  email: string
}

/** Where the browser keeps the session. */
export const storageKey = 'vigia.session'

export function storedSession(): Session | null {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? 'null')
    return typeof stored?.token === 'string' ? stored : null
  } catch {
    return null
  }
}
