import type { Logger } from '../log.ts'
import { pause } from '../pause.ts'

/** A source of jobs; every process claims due ones from it. */
export interface JobSource<Job> {
  /** For the log. */
  name: string
  /** Takes the next job, or null when none is due; `running` are the jobs that this process carries out now. */
  claim(running: readonly Job[]): Promise<Job | null>
  /** Carries a job out and writes down what came of it. `signal` says that the process is about to end. */
  run(job: Job, signal: AbortSignal): Promise<void>
  /** Releases a job whose `run` threw, for a retry. Without it, or if it throws too, the lease runs out. */
  postpone?(job: Job): Promise<void>
  /** Fields of the log line of a job that threw. */
  describe?(job: Job): object
  /** How many jobs this process carries out at the same time. */
  concurrency: number
  /** None takes longer than this unless it hangs; two hours unless told otherwise. */
  workMs?: number | ((job: Job) => number | undefined)
  /** About the wait after a claim that found nothing, unless a job ends meanwhile, and after a job that could not be let go. */
  idleMs: number
}

/** Another process took a job over, because its lease ran out here: what this process still knows of it must not be written. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

// The loops of this process, and until when (`performance.now`) each has to turn and what it carries out has to end.
const loops = new Map<object, { name: string; dueBy(): number }>()
// A claim takes moments, what is carried out minutes.
const claimMs = 5 * 60_000
const turnMs = 15 * 60_000
/** The limit of work that may take long. */
export const longMs = 2 * 3_600_000

/** The loops of this process that should have turned by now: something that they wait for hangs. */
export function lateLoops(): string[] {
  const now = performance.now()
  return [...loops.values()].filter(({ dueBy }) => dueBy() < now).map(({ name }) => name)
}

/** Claims and carries out jobs until disposed; then waits for those under way. */
export function startJobs<Job>(kind: JobSource<Job>, log: Logger): AsyncDisposable {
  const stop = new AbortController()
  const running = new Map<Job, Promise<void>>()
  const workMs = (job: Job) => (typeof kind.workMs === 'function' ? kind.workMs(job) : kind.workMs) ?? longMs
  // Each by itself: the loop goes on by the places of the others when one hangs.
  const ends = new Map<Job, number>()
  // Wait before the next claim: it could return the job that just failed.
  let restFirst = false
  // A job that ends leaves its place, and may leave more to do, to a claim that found nothing meanwhile.
  let idle = new AbortController()
  stop.signal.addEventListener('abort', () => idle.abort(), { once: true })
  const begin = (job: Job) => {
    const done = carryOut(kind, job, stop.signal, log)
      .then((letGo) => {
        if (!letGo) restFirst = true
      })
      .finally(() => {
        running.delete(job)
        ends.delete(job)
        idle.abort()
      })
    running.set(job, done)
    ends.set(job, performance.now() + workMs(job))
  }
  const loop = async (due: (ms: number) => void) => {
    while (!stop.signal.aborted) {
      if (restFirst) {
        restFirst = false
        due(kind.idleMs + claimMs)
        await pause(kind.idleMs, stop.signal)
      } else if (running.size >= kind.concurrency) {
        due(longMs)
        await Promise.race(running.values())
      } else {
        idle = new AbortController()
        due(kind.idleMs + claimMs)
        // A claim that fails says why in the log.
        const job = await kind.claim([...running.keys()]).catch((error: unknown) => {
          log.error({ err: error, job: kind.name }, 'no job could be claimed')
          return null
        })
        if (job !== null) {
          begin(job)
          continue
        }
        await pause(kind.idleMs, idle.signal)
      }
    }
    await Promise.all(running.values())
  }
  return untilDisposed(stop, kind.name, loop, ends)
}

// Returns whether the job was let go.
async function carryOut<Job>(kind: JobSource<Job>, job: Job, signal: AbortSignal, log: Logger): Promise<boolean> {
  const about = () => ({ job: kind.name, ...kind.describe?.(job) })
  try {
    await kind.run(job, signal)
    return true
  } catch (error) {
    if (error instanceof LeaseLost) {
      log.warn(about(), error.message)
      return true
    }
    log.error({ err: error, ...about() }, 'a job failed')
  }
  if (!kind.postpone) return false
  try {
    await kind.postpone(job)
    return true
  } catch (error) {
    if (error instanceof LeaseLost) log.warn(about(), error.message)
    else log.error({ err: error, ...about() }, 'a job could not be let go; its lease will run out')
    return false
  }
}

/** Calls `cut` a while after `signal`, unless disposed before: what is under way may end, but a process does not wait for ever. */
export function afterGrace(signal: AbortSignal, graceMs: number, cut: () => void): Disposable {
  let timer: NodeJS.Timeout | undefined
  const begin = () => {
    timer = setTimeout(cut, graceMs)
  }
  if (signal.aborted) begin()
  signal.addEventListener('abort', begin, { once: true })
  return {
    [Symbol.dispose]: () => {
      signal.removeEventListener('abort', begin)
      clearTimeout(timer)
    },
  }
}

/**
 * Carries out `work` at once and then every `everyMs`, until disposed; when it fails it is tried the next time. What takes longer than `workMs`
 * hangs.
 */
export function repeat(everyMs: number, work: () => Promise<void>, log: Logger, workMs = turnMs): AsyncDisposable {
  const stop = new AbortController()
  const loop = async (due: (ms: number) => void) => {
    while (!stop.signal.aborted) {
      due(workMs)
      await work().catch((error: unknown) => log.error({ err: error }, 'periodic work failed'))
      due(everyMs + claimMs)
      await pause(everyMs, stop.signal)
    }
  }
  return untilDisposed(stop, work.name || `every ${everyMs / 1000} s`, loop)
}

/** Stops all at once, so that none goes on because it waits for another, and throws what the first that failed says, after the others. */
export function together(loops: readonly AsyncDisposable[]): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      const ends = await Promise.allSettled(loops.map(async (loop) => loop[Symbol.asyncDispose]()))
      for (const end of ends) if (end.status === 'rejected') throw end.reason
    },
  }
}

function untilDisposed(
  stop: AbortController,
  name: string,
  loop: (due: (ms: number) => void) => Promise<void>,
  ends: ReadonlyMap<unknown, number> = new Map(),
): AsyncDisposable {
  const due = (ms: number) => {
    const turnBy = performance.now() + ms
    loops.set(stop, { name, dueBy: () => Math.min(turnBy, ...ends.values()) })
  }
  const done = loop(due).finally(() => loops.delete(stop))
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await done
    },
  }
}
