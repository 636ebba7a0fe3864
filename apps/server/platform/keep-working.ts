import type { Logger } from './log.ts'
import { pause } from './pause.ts'

/** What a worker does over and over. */
export interface Work<T> {
  /** Takes the next piece, or null when there is none now. */
  claim(): Promise<T | null>
  /** Does it; nothing that it throws reaches the worker. `signal` says that the end has come. */
  carryOut(piece: T, signal: AbortSignal): Promise<void>
  atOnce: number
  /** Between two claims that found nothing, and after a piece that failed. */
  idleMs: number
}

/** Claims and carries out pieces of work until disposed; then waits for those under way. */
export function keepWorking<T>({ claim, carryOut, atOnce, idleMs }: Work<T>, log: Logger): AsyncDisposable {
  const stop = new AbortController()
  const running = new Set<Promise<void>>()
  // What failed may well be the next piece again, and fail at once.
  let failed = false
  const loop = async () => {
    while (!stop.signal.aborted) {
      if (failed) {
        failed = false
        await pause(idleMs, stop.signal)
        continue
      }
      if (running.size >= atOnce) {
        await Promise.race(running)
        continue
      }
      const piece = await claim().catch((error: unknown) => {
        log.error({ err: error }, 'no work could be claimed')
        return null
      })
      if (piece === null) {
        await pause(idleMs, stop.signal)
        continue
      }
      const turn: Promise<void> = carryOut(piece, stop.signal)
        // Without a database the lease runs out by itself; then another turn begins from what was committed.
        .catch((error: unknown) => {
          failed = true
          log.error({ err: error }, 'a piece of work could not be let go')
        })
        .finally(() => running.delete(turn))
      running.add(turn)
    }
    await Promise.all(running)
  }
  const done = loop()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await done
    },
  }
}

/** Carries out `work` at once and then every `everyMs` again, until disposed; what fails is tried the next time. */
export function repeat(everyMs: number, work: () => Promise<void>, log: Logger): AsyncDisposable {
  const stop = new AbortController()
  const loop = async () => {
    while (!stop.signal.aborted) {
      await work().catch((error: unknown) => log.error({ err: error }, 'what is done now and then failed'))
      await pause(everyMs, stop.signal)
    }
  }
  const done = loop()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await done
    },
  }
}
