import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { InstallationError } from '@vigia/server/platform/installation'
import type { Config, WorkerProcess } from '@vigia/server/start'
import { ended, keepChild } from './children.ts'
import { drainMs } from './stopping.ts'

/** The program sends the process its configuration, and it reports every second, also while it cannot work. */
export type WorkerReport =
  | { is: 'begun' }
  | { is: 'failed'; message: string }
  | { is: 'running'; problem: string | null }

const program = fileURLToPath(new URL('worker-child.ts', import.meta.url))
const patienceMs = 3_000

/**
 * Starts the role `worker` as a process of its own and starts it again whenever it ends. It needs the database and a signer that listens;
 * `config` says where. `begun` rejects when it says that it cannot.
 */
export function startWorker(config: Config): WorkerProcess & AsyncDisposable & { begun: Promise<void> } {
  let last: { at: number; problem: string | null } = { at: Number.NEGATIVE_INFINITY, problem: null }
  let isStopping = false
  const kept = keepChild(
    'O processo que captura',
    // In a session of its own: Ctrl+C does not reach it before the program stops it in order.
    () => fork(program, { serialization: 'advanced', detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
    (child) =>
      new Promise((resolve, reject) => {
        child.on('message', (report: WorkerReport) => {
          if (report.is === 'begun') resolve()
          else if (report.is === 'failed') reject(new InstallationError(report.message))
          else last = { problem: report.problem, at: performance.now() }
        })
        void ended(child).then(() => reject(new Error('the process of the worker has ended')))
        child.send(config, () => {})
      }),
  )
  const respond = async () => {
    if (!isStopping && performance.now() - last.at > patienceMs)
      throw new Error('the process of the worker does not respond')
  }
  return {
    begun: kept.begun,
    respond,
    async check() {
      await respond()
      if (last.problem !== null) throw new Error(last.problem)
    },
    async [Symbol.asyncDispose]() {
      isStopping = true
      await kept.stop((child) => child.connected && child.disconnect(), drainMs)
    },
  }
}
