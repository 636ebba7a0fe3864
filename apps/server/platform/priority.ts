import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { getPriority, setPriority } from 'node:os'

// What nobody waits for has a lower priority than what people wait for: both get all of a processor that the other leaves. A quarter of the time where both want the same
// one (sched(7): nice 5 weighs 335, nice 0 1024), so that nothing comes to a stop.
const lower = 5
const most = 19

/** Gives way to others where they want the same processor: this thread on Linux, elsewhere nothing, where it would be the whole program. */
export function giveWay(): void {
  if (process.platform === 'linux') lowerPriority(0)
}

/** Has this process, which began a session of its own, give way to all others. Its later threads inherit it. */
export function giveWayAltogether(): void {
  if (process.platform !== 'linux') return
  for (const thread of readdirSync('/proc/self/task')) lowerPriority(Number(thread))
  lowerGroup(process.pid, () => true)
}

/**
 * Has what the database does for a connection give way to what it does for others, where it is on this machine and ours to say so. `backend` is what the server said its
 * process is; `socket` the connection to it.
 */
export function giveWayInDatabase(backend: number, socket: Pick<Socket, 'localPort'>): void {
  if (process.platform !== 'linux' || !isBackend(backend, socket)) return
  lowerPriority(backend)
  // Each process of the database begins a session; where one does not, it is in the group of others.
  if (groupOf(backend)?.name !== groupOf(process.pid)?.name) lowerGroup(backend, () => isBackend(backend, socket))
}

// On another machine the number is that of something else.
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
    setPriority(id, Math.min(most, getPriority(id) + lower))
  } catch {
    // The process is another account's, or whatever confines this program forbids it. All goes on as it would without.
  }
}

// Where the scheduler makes a group of each session (sched(7), "The autogroup feature"), a priority says something inside the group only, and the group has
// one of its own.
function groupOf(id: number): { name: string; nice: number } | null {
  try {
    const [, name, nice] = /^(\S+) nice (-?\d+)/.exec(readFileSync(`/proc/${id}/autogroup`, 'utf8')) ?? []
    return name === undefined ? null : { name, nice: Number(nice) }
  } catch {
    return null
  }
}

const againMs = 250
const timesMax = 40

function lowerGroup(id: number, isIt: () => boolean, times = 0): void {
  const group = groupOf(id)
  if (!group || !isIt()) return
  try {
    writeFileSync(`/proc/${id}/autogroup`, String(Math.min(most, group.nice + lower)))
  } catch (error) {
    // The kernel takes ten such wishes a second.
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN' && times < timesMax)
      setTimeout(lowerGroup, againMs * (1 + Math.random()), id, isIt, times + 1).unref()
  }
}
