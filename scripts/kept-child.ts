import type { ChildProcess } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'

const restMsMin = 500
const restMsMax = 10_000
const steadyMs = 60_000

/**
 * Keeps a child running: whenever it ends, `begin` starts another one, later each time that it did not last. `name`: for a person, with its
 * article. Returns the child of this moment; after `leave` none is started any more.
 */
export function keepChild(
  name: string,
  first: ChildProcess,
  begin: (started: (child: ChildProcess) => void) => Promise<unknown>,
): { current(): ChildProcess; leave(): void } {
  let child = first
  const leaving = new AbortController()
  const keep = async () => {
    for (let restMs = restMsMin; ; restMs = Math.min(restMs * 2, restMsMax)) {
      const since = performance.now()
      await ended(child)
      if (leaving.signal.aborted) return
      console.error(`${name} parou (${child.signalCode ?? child.exitCode ?? 'sem motivo'}) e é iniciado de novo.`)
      if (performance.now() - since > steadyMs) restMs = restMsMin
      await setTimeout(restMs, undefined, { signal: leaving.signal }).catch(() => {})
      if (leaving.signal.aborted) return
      try {
        await begin((next) => {
          child = next
        })
      } catch (error) {
        console.error((error as Error).message)
      }
    }
  }
  void keep()
  return { current: () => child, leave: () => leaving.abort() }
}

export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Resolves when a child has ended, or could not be started: then there is an `error` and no `exit`. */
export function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (hasEnded(child)) resolve()
    }
    child.on('exit', look).on('error', look)
    look()
  })
}

/** Waits for the end of a child that was told to end, and ends it after `patienceMs` in any case. */
export async function awaitEnd(child: ChildProcess, patienceMs: number): Promise<void> {
  if (hasEnded(child)) return
  const killing = new AbortController()
  const closed = ended(child).finally(() => killing.abort())
  void setTimeout(patienceMs, undefined, { signal: killing.signal }).then(
    () => child.kill('SIGKILL'),
    () => {},
  )
  await closed
}
