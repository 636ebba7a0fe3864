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
  /** The wait after a claim that found nothing, unless a job ends meanwhile. */
  idleMs: number
}

/** Another process took a job over, because its lease ran out here: what this process still knows of it must not be written. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** Claims and carries out jobs until disposed; then waits for those under way. */
export function startJobs<Job>(kind: JobSource<Job>, log: Logger): AsyncDisposable {
  const stop = new AbortController()
  const running = new Map<Job, Promise<void>>()
  // A job that ends leaves its place, and may leave more to do, to a claim that found nothing meanwhile.
  let idle = new AbortController()
  stop.signal.addEventListener('abort', () => idle.abort(), { once: true })
  const begin = (job: Job) => {
    const done = carryOut(kind, job, stop.signal, log).finally(() => {
      running.delete(job)
      idle.abort()
    })
    running.set(job, done)
  }
  const loop = async () => {
    while (!stop.signal.aborted) {
      if (running.size >= kind.concurrency) {
        await Promise.race(running.values())
        continue
      }
      idle = new AbortController()
      // A claim that fails says why in the log.
      const job = await kind.claim([...running.keys()]).catch((error: unknown) => {
        log.error({ err: error, job: kind.name }, 'no job could be claimed')
        return null
      })
      if (job === null) await pause(kind.idleMs, idle.signal)
      else begin(job)
    }
    await Promise.all(running.values())
  }
  return untilDisposed(stop, loop)
}

async function carryOut<Job>(kind: JobSource<Job>, job: Job, signal: AbortSignal, log: Logger): Promise<void> {
  const about = () => ({ job: kind.name, ...kind.describe?.(job) })
  try {
    await kind.run(job, signal)
  } catch (error) {
    if (error instanceof LeaseLost) return log.warn(about(), error.message)
    log.error({ err: error, ...about() }, 'a job failed')
    await kind.postpone?.(job).catch((error: unknown) => {
      if (error instanceof LeaseLost) log.warn(about(), error.message)
      else log.error({ err: error, ...about() }, 'a job could not be let go; its lease will run out')
    })
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

/** Carries out `work` at once and then every `everyMs`, until disposed; when it fails it is tried the next time. */
export function repeat(everyMs: number, work: () => Promise<void>, log: Logger): AsyncDisposable {
  const stop = new AbortController()
  return untilDisposed(stop, async () => {
    while (!stop.signal.aborted) {
      await work().catch((error: unknown) => log.error({ err: error }, 'periodic work failed'))
      await pause(everyMs, stop.signal)
    }
  })
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

function untilDisposed(stop: AbortController, loop: () => Promise<void>): AsyncDisposable {
  const done = loop()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await done
    },
  }
}
