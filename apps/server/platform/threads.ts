import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/** Threads of one kind: one core stays free for the event loop and the database. */
export const defaultThreads: number = Math.max(1, Math.min(4, availableParallelism() - 1))

/** Why a piece of work was not carried out; `cause` is the error of a thread that died. */
export class ThreadError extends Error {
  override name = 'ThreadError'
  readonly reason: 'full' | 'too-slow' | 'died' | 'closed'

  constructor(reason: ThreadError['reason'], options?: { cause?: unknown }) {
    super(`work of a thread: ${reason}`, options)
    this.reason = reason
  }
}

export interface ThreadsOptions {
  /** Module that a thread runs: sends one message when ready, then one per message of its parent. */
  file: URL
  threads: number
  /** Work of people that may wait at once. */
  waitingMax: number
  /** From the moment that a thread which is ready takes a piece of work. */
  timeoutMs: number
  /** Heap of one thread. */
  memoryMb: number
  /** A thread without work ends after so long. */
  idleMs: number
}

export interface RunOptions {
  /** Background work, with threads of its own, one fewer than for people, who never wait for it. */
  patient?: boolean
  /** How long to wait for it, also for a thread. */
  withinMs?: number | undefined
}

/** A few threads for work that would keep the event loop busy. None exists before it is needed. */
export interface Threads<Input, Output> {
  /** Rejects with `ThreadError`. When a thread takes too long or dies, only its own work is lost. */
  run(input: Input, options?: RunOptions): Promise<Output>
  /** Threads that exist, and what waits for one. */
  use(): { threads: number; people: number; patient: number }
  [Symbol.asyncDispose](): Promise<void>
}

// The time to load the code of a thread does not count as work on the document.
const startMs = 60_000

interface ThreadTask<Input, Output> {
  input: Input
  resolve: (output: Output) => void
  reject: (error: ThreadError) => void
}

interface Thread {
  worker: Worker
  ready: boolean
  /** Ends the thread after `idleMs` without work. */
  idleTimer?: NodeJS.Timeout
}

/** Threads of one kind, their work, and the queue for them. */
interface Lane<Work> {
  waiting: Work[]
  running: number
  max: number
  idle: Thread[]
}

/** Threads that are bounded in number, in what waits for them, in time and in memory. */
export function createThreads<Input, Output>(options: ThreadsOptions): Threads<Input, Output> {
  type Work = ThreadTask<Input, Output>
  const newLane = (max: number): Lane<Work> => ({ waiting: [], running: 0, max, idle: [] })
  const lanes = { people: newLane(options.threads), patient: newLane(Math.max(1, options.threads - 1)) }
  const threads = new Set<Worker>()
  let closed = false

  const begin = (lane: Lane<Work>) => {
    while (!closed && lane.running < lane.max) {
      const task = lane.waiting.shift()
      if (!task) return
      runOn(task, lane, lane.idle.pop() ?? open(lane))
    }
  }

  const open = ({ idle }: Lane<Work>): Thread => {
    const { file, memoryMb } = options
    // At the limit Node adds 16 MB; more young objects than that would end the whole program.
    const resourceLimits = { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16 }
    const worker = new Worker(file, { resourceLimits })
    threads.add(worker)
    const forget = () => {
      threads.delete(worker)
      const at = idle.findIndex((thread) => thread.worker === worker)
      if (at === -1) return
      // Its timer would remove another thread from the list.
      clearTimeout(idle[at]!.idleTimer)
      idle.splice(at, 1)
    }
    // An error without a listener would end the program. Work that runs in the thread adds its own listeners.
    worker.on('error', forget).on('exit', forget)
    return { worker, ready: false }
  }

  const runOn = (task: Work, lane: Lane<Work>, thread: Thread) => {
    const { worker } = thread
    clearTimeout(thread.idleTimer)
    lane.running++
    worker.ref()
    const settle = (settled: () => void) => {
      clearTimeout(timer)
      worker.off('message', onMessage).off('messageerror', onError).off('error', onError).off('exit', onExit)
      lane.running--
      settled()
      begin(lane)
    }
    const onMessage = (message: Output) => {
      if (thread.ready) return done(message)
      thread.ready = true
      clearTimeout(timer)
      timer = setTimeout(onTimeout, options.timeoutMs)
    }
    const done = (output: Output) => {
      worker.unref()
      thread.idleTimer = setTimeout(() => void endIdle(lane, thread), options.idleMs).unref()
      lane.idle.push(thread)
      settle(() => task.resolve(output))
    }
    const fail = (error: ThreadError) => {
      threads.delete(worker)
      void worker.terminate()
      settle(() => task.reject(error))
    }
    const onError = (cause: unknown) => fail(new ThreadError('died', { cause }))
    const onExit = (code: number) => fail(new ThreadError(closed ? 'closed' : 'died', { cause: `exit code ${code}` }))
    const onTimeout = () => fail(new ThreadError('too-slow'))
    let timer = setTimeout(onTimeout, thread.ready ? options.timeoutMs : startMs)
    worker.on('message', onMessage).on('messageerror', onError).on('error', onError).on('exit', onExit)
    worker.postMessage(task.input)
  }

  const endIdle = async ({ idle }: Lane<Work>, thread: Thread) => {
    idle.splice(idle.indexOf(thread), 1)
    await thread.worker.terminate()
  }

  return {
    async run(input, { patient = false, withinMs } = {}) {
      if (closed) throw new ThreadError('closed')
      const lane = patient ? lanes.patient : lanes.people
      if (!patient && lane.running >= lane.max && lane.waiting.length >= options.waitingMax)
        throw new ThreadError('full')
      const { promise, resolve, reject } = Promise.withResolvers<Output>()
      const task = { input, resolve, reject }
      lane.waiting.push(task)
      begin(lane)
      if (withinMs === undefined) return promise
      const timer = setTimeout(() => {
        lane.waiting = lane.waiting.filter((other) => other !== task)
        reject(new ThreadError('too-slow'))
      }, withinMs)
      return promise.finally(() => clearTimeout(timer))
    },
    use: () => ({
      threads: threads.size,
      people: lanes.people.waiting.length,
      patient: lanes.patient.waiting.length,
    }),
    async [Symbol.asyncDispose]() {
      closed = true
      for (const { waiting, idle } of Object.values(lanes)) {
        for (const task of waiting.splice(0)) task.reject(new ThreadError('closed'))
        for (const { idleTimer } of idle) clearTimeout(idleTimer)
      }
      await Promise.all([...threads].map((worker) => worker.terminate()))
    },
  }
}

/**
 * Runs a list at once, and one by one when that kills a thread or takes too long: null for an input
 * that fails alone, undefined for one without time left in `apartMs`.
 */
export async function runApart<Input, Output>(
  threads: Pick<Threads<Input[], (Output | null)[]>, 'run'>,
  inputs: Input[],
  apartMs: number,
): Promise<(Output | null | undefined)[]> {
  try {
    return await threads.run(inputs, { patient: true })
  } catch (error) {
    if (!(error instanceof ThreadError) || error.reason === 'full' || error.reason === 'closed') throw error
    if (inputs.length === 1) return [null]
    const outputs: (Output | null | undefined)[] = []
    const end = performance.now() + apartMs
    for (const one of inputs)
      outputs.push(...(performance.now() < end ? await runApart(threads, [one], apartMs) : [undefined]))
    return outputs
  }
}
