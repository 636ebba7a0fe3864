import { createThreads, runApart } from '../../platform/threads.ts'
import type { Inside } from './inside.ts'

export interface ReadQuestion {
  /** As stored. */
  content: Uint8Array
  /** Of the company that received it. */
  cnpj: string
}

const threads = createThreads<ReadQuestion[], (Inside | null)[]>({
  file: new URL('./reader-worker.ts', import.meta.url),
  threads: 1,
  waitingMax: 50,
  // With `apartMs`, less than the lease of a turn.
  timeoutMs: 30_000,
  memoryMb: 256,
  idleMs: 30_000,
})

// Together this long at most, so that a turn ends while it is held.
const apartMs = 40_000

/** Reads documents in a thread. null: one that brings it down or takes too long; undefined: there was no time for it. */
export const readAll = async (asked: ReadQuestion[]): Promise<(Inside | null | undefined)[]> =>
  asked.length > 0 ? runApart(threads, asked, apartMs) : []
