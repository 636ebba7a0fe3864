import { useSyncExternalStore } from 'react'

// A laptop that wakes up fails for a moment, and one call may fail for reasons of its own.
const routesMin = 2
const silenceMs = 3_000

const listeners = new Set<() => void>()
const unanswered = new Set<string>()
let firstFailure = 0
let lastAnswer = 0
let silentSince: number | null = null

/** An answer of the server has arrived, whatever it says. */
export function heardServer() {
  lastAnswer = Date.now()
  unanswered.clear()
  change(null)
}

/** A call of `route` brought no answer of the server. */
export function missedServer(route: string) {
  const now = Date.now()
  if (unanswered.size === 0) firstFailure = now
  unanswered.add(route)
  if (unanswered.size >= routesMin && now - firstFailure >= silenceMs) change(lastAnswer || firstFailure)
}

function change(next: number | null) {
  if (silentSince === next) return
  silentSince = next
  for (const listener of listeners) listener()
}

/** When the server was last heard, while several calls in a row remain without an answer; null: it answers. */
export function readSilentSince(): number | null {
  return silentSince
}

export function useSilentSince(): number | null {
  return useSyncExternalStore(watchSilence, readSilentSince)
}

/** Calls `listener` whenever the server falls silent or answers again, until what is returned is called. */
export function watchSilence(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
