import { useSyncExternalStore } from 'react'

// A laptop that wakes up fails for a moment, and a single call may fail for other reasons.
const routesMin = 2
const silenceMs = 3_000

const listeners = new Set<() => void>()
const unanswered = new Set<string>()
let firstFailure = 0
let lastAnswer = 0
let disconnectedSince: number | null = null

/** To be called for every response of the server, whatever its status. */
export function recordResponse() {
  lastAnswer = Date.now()
  unanswered.clear()
  setDisconnectedSince(null)
}

/** To be called when a call of `route` got no response of the server. */
export function recordNoResponse(route: string) {
  const now = Date.now()
  if (unanswered.size === 0) firstFailure = now
  unanswered.add(route)
  // The browser knows when there is no network at all; that there is one proves nothing.
  const isSure = globalThis.navigator?.onLine === false
  if (isSure || (unanswered.size >= routesMin && now - firstFailure >= silenceMs))
    setDisconnectedSince(lastAnswer || firstFailure)
}

function setDisconnectedSince(next: number | null) {
  if (disconnectedSince === next) return
  disconnectedSince = next
  for (const listener of listeners) listener()
}

/** Time of the last response while several calls in a row fail; null when connected. */
export function readDisconnectedSince(): number | null {
  return disconnectedSince
}

export function useDisconnectedSince(): number | null {
  return useSyncExternalStore(watchConnection, readDisconnectedSince)
}

/** Calls `listener` when the connection is lost or restored. Returns an unsubscribe function. */
export function watchConnection(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
