import { setTimeout } from 'node:timers/promises'

/**
 * How long calls, files and work under way may take until the database ends in any case: longer than calls and files may (20 s, apps/server/platform/http/closing.ts). Who
 * stops the program from outside waits longer (`TimeoutStopSec` of deploy/vigia.service; docs/run/operations.md, "How long an end takes").
 */
export const drainMs = 75_000

/**
 * Stops all at once; afterwards throws the error of the first that failed, because its base stops
 * next. Leaves what has not ended after `limitMs`: everything survives a crash, and leases run out.
 */
export async function stopTogether(
  servers: readonly AsyncDisposable[],
  complain: (text: string) => void,
  limitMs = drainMs,
): Promise<void> {
  const waiting = new AbortController()
  const failures: unknown[] = []
  const stop = async (server: AsyncDisposable) => server[Symbol.asyncDispose]()
  const stopped = Promise.all(
    servers.map((server) => stop(server).catch((error: unknown) => void failures.push(error))),
  ).then(() => true)
  const late = setTimeout(limitMs, false, { signal: waiting.signal }).catch(() => false)
  if (!(await Promise.race([stopped, late])))
    complain('O que estava em andamento demorou demais e foi deixado; continua no próximo início.')
  waiting.abort()
  if (failures.length > 0) throw failures[0]
}
