import { useSyncExternalStore } from 'react'

// A call that could be used against a company is refused until the person has shown lately who they are. The refused call waits here for the
// dialog that asks for it, and is made again.

interface Waiting {
  answer: Promise<boolean>
  settle: (proved: boolean) => void
}

let waiting: Waiting | null = null
const listeners = new Set<() => void>()

function changed() {
  for (const listener of listeners) listener()
}

/** Asks for a proof of identity; calls refused meanwhile share it. Resolves to the success. */
export function askForProof(): Promise<boolean> {
  if (!waiting) {
    // No dialog is there: a page of a visitor.
    if (listeners.size === 0) return Promise.resolve(false)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    waiting = { answer: promise, settle: resolve }
    changed()
  }
  return waiting.answer
}

/** Whether a call waits for a proof. */
export function useProofWanted(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => waiting !== null,
    () => false,
  )
}

/** Lets the calls that wait go on, or end as they were refused. */
export function settleProof(proved: boolean): void {
  waiting?.settle(proved)
  waiting = null
  changed()
}
