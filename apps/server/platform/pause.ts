import { setTimeout } from 'node:timers/promises'

/** Waits, or returns at once when `signal` is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {})
}
