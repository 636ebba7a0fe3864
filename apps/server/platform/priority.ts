import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { getPriority, setPriority } from 'node:os'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

// What nobody waits for has a lower priority than what people wait for: both get all of a processor that the other leaves. A quarter of the time where both want the same
// one (sched(7): nice 5 weighs 335, nice 0 1024), so that nothing comes to a stop.
const lower = 5

const gaveWay = 'vigia: gave way'

/**
 * Gives way to others where they want the same processor: this thread, and those that it starts from now on, which inherit it. On Linux; elsewhere nothing,
 * where it would be the whole program.
 */
export function giveWay(): void {
  if (process.platform !== 'linux' || getEnvironmentData(gaveWay)) return
  lowerPriority(0)
  if (isMainThread) setEnvironmentData(gaveWay, true)
}

/**
 * Has what the database does for a connection give way to what it does for others, where it is on this machine and ours to say so. `backend` is what the server said its
 * process is; `socket` the connection to it.
 */
export function giveWayInDatabase(backend: number, socket: Pick<Socket, 'localPort'>): void {
  if (process.platform === 'linux' && isBackend(backend, socket)) lowerPriority(backend)
}

// Behind a pooler, or on another machine, the number is that of something else.
function isBackend(id: number, { localPort }: Pick<Socket, 'localPort'>): boolean {
  try {
    const title = readFileSync(`/proc/${id}/cmdline`, 'utf8')
    return title.startsWith('postgres: ') && title.includes(`(${localPort})`)
  } catch {
    return false
  }
}

// Never higher than it is: the program may have been started with a lower one.
function lowerPriority(id: number): void {
  try {
    setPriority(id, Math.min(19, getPriority(id) + lower))
  } catch {
    // The process is another account's, or whatever confines this program forbids it. All goes on as it would without.
  }
}
