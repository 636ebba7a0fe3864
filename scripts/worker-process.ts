import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Config, InstallationError, type WorkerProcess } from '@vigia/server/start'
import { awaitEnd, ended, hasEnded, keepChild } from './kept-child.ts'
import { drainMs } from './stopping.ts'

/** What the program tells the process first. */
export interface WorkerOrder {
  config: Config
}
/** What it asks it afterwards, and gets back with the number of the question. */
export interface WorkerQuestion {
  id: number
  what: 'check' | 'respond'
}
export type WorkerMessage =
  | { is: 'begun' }
  | { is: 'failed'; message: string }
  | { is: 'answer'; id: number; problem?: string }

const program = fileURLToPath(new URL('worker-child.ts', import.meta.url))
const patienceMs = 3_000

/**
 * Starts the role `worker` as a process of its own, which gives way to the one that serves people, and starts it again whenever it ends. It needs the database
 * and a signer that listens; `config` says where. `begun` rejects when it says that it cannot.
 */
export function startWorker(config: Config): WorkerProcess & AsyncDisposable & { begun: Promise<void> } {
  const run = () =>
    // In a session of its own: Ctrl+C does not reach it before the program stops it in order, and it gives way as a whole.
    fork(program, { serialization: 'advanced', detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const begun = Promise.withResolvers<void>()
  begun.promise.catch(() => {})
  const beginIn = async (child: ChildProcess) => {
    try {
      await begin(child, config)
      begun.resolve()
    } catch (error) {
      // What it says itself another one would say, too.
      if (error instanceof InstallationError) begun.reject(error)
      throw error
    }
  }
  const first = run()
  const kept = keepChild('O processo que captura', first, (started) => {
    const next = run()
    started(next)
    return beginIn(next)
  })
  // That it ended is said by who keeps it.
  beginIn(first).catch(() => {})
  let isLeaving = false
  const open = new Map<string, Promise<void>>()
  // One that is still beginning does not respond.
  const ask = (what: WorkerQuestion['what']) => {
    const asked = open.get(what) ?? askChild(kept.current(), what).finally(() => open.delete(what))
    open.set(what, asked)
    return asked
  }
  return {
    begun: begun.promise,
    check: () => ask('check'),
    respond: () =>
      ask('respond').catch((error: unknown) => {
        // That it ends then is no trouble.
        if (!isLeaving) throw error
      }),
    async [Symbol.asyncDispose]() {
      isLeaving = true
      kept.leave()
      const child = kept.current()
      if (child.connected) child.disconnect()
      await awaitEnd(child, drainMs)
    },
  }
}

async function begin(child: ChildProcess, config: Config): Promise<void> {
  const begun = new Promise<void>((resolve, reject) => {
    child.on('error', reject)
    child.on('message', (message: WorkerMessage) => {
      if (message.is === 'begun') resolve()
      if (message.is === 'failed') reject(new InstallationError(message.message))
    })
    void ended(child).then(() => reject(new Error('O processo que captura terminou antes de começar.')))
  })
  child.send({ config } satisfies WorkerOrder)
  await begun
}

let asked = 0

async function askChild(child: ChildProcess, what: WorkerQuestion['what']): Promise<void> {
  if (hasEnded(child) || !child.connected) throw new Error('the process of the worker has ended')
  const id = ++asked
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const hear = (message: WorkerMessage) => {
    if (message.is !== 'answer' || message.id !== id) return
    if (message.problem === undefined) resolve()
    else reject(new Error(message.problem))
  }
  const late = setTimeout(() => reject(new Error('the process of the worker does not respond')), patienceMs)
  child.on('message', hear)
  child.send({ id, what } satisfies WorkerQuestion, (error) => {
    if (error) reject(error)
  })
  return promise.finally(() => {
    clearTimeout(late)
    child.off('message', hear)
  })
}
