import { Worker } from 'node:worker_threads'

/** Why a piece of work was not carried out; `cause` is what a thread died of. */
export class ThreadError extends Error {
  override name = 'ThreadError'
  readonly reason: 'full' | 'too-slow' | 'died' | 'closed'

  constructor(reason: ThreadError['reason'], options?: { cause?: unknown }) {
    super(`work of a thread: ${reason}`, options)
    this.reason = reason
  }
}

export interface ThreadsOptions {
  /** What a thread runs: it sends one message when it is ready, and from then on one for each message of its parent. */
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
  /** Nobody looks at a screen for it: work of people goes first, and a thread is left for it where there are several. */
  patient?: boolean
}

/** A few threads for work that would keep the event loop busy. None exists before it is needed. */
export interface Threads<Input, Output> {
  /** Rejects with `ThreadError`. A thread that takes too long or dies takes nothing along but its own piece of work. */
  run(input: Input, options?: RunOptions): Promise<Output>
  /** Threads that exist, and what waits for one. */
  use(): { threads: number; people: number; patient: number }
  [Symbol.asyncDispose](): Promise<void>
}

// Loading the code of a thread is no work of the document that waits for it.
const startMs = 60_000

interface Task<Input, Output> {
  input: Input
  patient: boolean
  resolve: (output: Output) => void
  reject: (error: ThreadError) => void
}

interface Thread {
  worker: Worker
  ready: boolean
  /** Ends the thread when nobody has needed it for a while. */
  leaving?: NodeJS.Timeout
}

/** Threads that are bounded in number, in what waits for them, in time and in memory. */
export function createThreads<Input, Output>(options: ThreadsOptions): Threads<Input, Output> {
  type Work = Task<Input, Output>
  const lanes: { people: Work[]; patient: Work[] } = { people: [], patient: [] }
  const patientMax = Math.max(1, options.threads - 1)
  const running = new Set<Work>()
  const threads = new Set<Worker>()
  const idle: Thread[] = []
  let closed = false

  const begin = () => {
    while (!closed && running.size < options.threads) {
      const patientRunning = [...running].filter(({ patient }) => patient).length
      const task = lanes.people.shift() ?? (patientRunning < patientMax ? lanes.patient.shift() : undefined)
      if (!task) return
      carryOut(task, idle.pop() ?? open())
    }
  }

  const open = (): Thread => {
    const { file, memoryMb } = options
    const worker = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: memoryMb } })
    threads.add(worker)
    const gone = () => {
      threads.delete(worker)
      const at = idle.findIndex((thread) => thread.worker === worker)
      if (at === -1) return
      // Its turn to leave would come to another one.
      clearTimeout(idle[at]!.leaving)
      idle.splice(at, 1)
    }
    // Without a listener an error would end the program; whoever has work there listens too.
    worker.on('error', gone).on('exit', gone)
    return { worker, ready: false }
  }

  const carryOut = (task: Work, thread: Thread) => {
    const { worker } = thread
    clearTimeout(thread.leaving)
    running.add(task)
    worker.ref()
    const settle = (settled: () => void) => {
      clearTimeout(timer)
      worker.off('message', heard).off('messageerror', died).off('error', died).off('exit', exited)
      running.delete(task)
      settled()
      begin()
    }
    const heard = (message: Output) => {
      if (thread.ready) return done(message)
      thread.ready = true
      clearTimeout(timer)
      timer = setTimeout(tooSlow, options.timeoutMs)
    }
    const done = (output: Output) => {
      worker.unref()
      thread.leaving = setTimeout(() => void leave(thread), options.idleMs).unref()
      idle.push(thread)
      settle(() => task.resolve(output))
    }
    const lose = (error: ThreadError) => {
      threads.delete(worker)
      void worker.terminate()
      settle(() => task.reject(error))
    }
    const died = (cause: unknown) => lose(new ThreadError('died', { cause }))
    const exited = (code: number) => lose(new ThreadError(closed ? 'closed' : 'died', { cause: `exit code ${code}` }))
    const tooSlow = () => lose(new ThreadError('too-slow'))
    let timer = setTimeout(tooSlow, thread.ready ? options.timeoutMs : startMs)
    worker.on('message', heard).on('messageerror', died).on('error', died).on('exit', exited)
    worker.postMessage(task.input)
  }

  const leave = async (thread: Thread) => {
    idle.splice(idle.indexOf(thread), 1)
    await thread.worker.terminate()
  }

  return {
    run: (input, { patient = false } = {}) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new ThreadError('closed'))
        const lane = patient ? lanes.patient : lanes.people
        if (!patient && running.size >= options.threads && lane.length >= options.waitingMax)
          return reject(new ThreadError('full'))
        lane.push({ input, patient, resolve, reject })
        begin()
      }),
    use: () => ({ threads: threads.size, people: lanes.people.length, patient: lanes.patient.length }),
    async [Symbol.asyncDispose]() {
      closed = true
      for (const lane of Object.values(lanes)) for (const task of lane.splice(0)) task.reject(new ThreadError('closed'))
      for (const { leaving } of idle) clearTimeout(leaving)
      await Promise.all([...threads].map((worker) => worker.terminate()))
    },
  }
}
