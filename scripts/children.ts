import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { InstallationError } from '@vigia/server/platform/installation'

const restMsMin = 500
const restMsMax = 10_000
const steadyMs = 60_000

interface KeptChild<Child> {
  /** Resolves when a child can work; rejects when one says before that that it never will. */
  begun: Promise<void>
  /** Starts no other one, tells the last one to end, and kills it after `patienceMs`. */
  stop(tell: (child: Child) => void, patienceMs: number): Promise<void>
}

/**
 * Keeps a child running: whenever it ends, another one starts, later each time that it did not last. `begin` resolves when a child can work.
 * `name`: for a person, with its article.
 */
export function keepChild<Child extends ChildProcess>(
  name: string,
  spawn: () => Child,
  begin: (child: Child) => Promise<void>,
): KeptChild<Child> {
  const leaving = new AbortController()
  const begun = Promise.withResolvers<void>()
  begun.promise.catch(() => {})
  let hasBegun = false
  let child = spawn()
  const keep = async () => {
    for (let restMs = restMsMin; ; restMs = Math.min(restMs * 2, restMsMax)) {
      const since = performance.now()
      const beginning = begin(child).then(
        () => {
          hasBegun = true
          begun.resolve()
        },
        (error: unknown) => error,
      )
      await ended(child)
      const problem = await beginning
      if (leaving.signal.aborted) return
      // Another one would say the same.
      if (problem instanceof InstallationError && !hasBegun) return begun.reject(problem)
      console.error(`${name} parou (${child.signalCode ?? child.exitCode ?? 'sem motivo'}) e é iniciado de novo.`)
      if (performance.now() - since > steadyMs) restMs = restMsMin
      for (let isStarted = false; !isStarted; ) {
        await setTimeout(restMs, undefined, { signal: leaving.signal }).catch(() => {})
        if (leaving.signal.aborted) return
        try {
          child = spawn()
          isStarted = true
        } catch (error) {
          console.error((error as Error).message)
        }
      }
    }
  }
  void keep()
  return {
    begun: begun.promise,
    async stop(tell, patienceMs) {
      leaving.abort()
      tell(child)
      await awaitEnd(child, patienceMs)
    },
  }
}

/** The last lines that a child complains with. */
export function lastLines(output: Readable): string[] {
  const lines: string[] = []
  createInterface(output).on('line', (line) => {
    lines.push(line)
    if (lines.length > 20) lines.shift()
  })
  return lines
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Resolves when a child has ended, or could not be started: then there is an `error` and no `exit`. */
export function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve())
    if (hasEnded(child)) resolve()
  })
}

/** Waits for the end of a child that was told to end, and kills it after `patienceMs`. */
export async function awaitEnd(child: ChildProcess, patienceMs: number): Promise<void> {
  const ending = ended(child)
  if (await Promise.race([ending, setTimeout(patienceMs, true, { ref: false })])) child.kill('SIGKILL')
  await ending
}
