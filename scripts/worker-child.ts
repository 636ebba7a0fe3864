import { once } from 'node:events'
import { drainMs } from './stopping.ts'
import type { WorkerMessage, WorkerOrder, WorkerQuestion } from './worker-process.ts'

// The role `worker` of a program that has both, so that what it captures, sends, judges and exports does not keep waiting who looks at a page. It ends with
// the program, or when that lets go of it.
const tell = (message: WorkerMessage) => {
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}
// Ctrl+C and a service reach the whole group; the program says when.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
const left = once(process, 'disconnect')
const ordered = once(process, 'message') as Promise<[WorkerOrder]>

void left.then(() => setTimeout(() => process.exit(), drainMs).unref())

const { ConfigError, createHealth, giveWayAltogether, InstallationError, PostgresError, start } = await import(
  '@vigia/server/start'
)
giveWayAltogether()
try {
  const order = await Promise.race([ordered, left.then(() => null)])
  if (order) {
    const health = createHealth(['worker'])
    const worker = await start(order[0].config, { roles: ['worker'], health, joinsPostgres: true })
    const answer = async ({ id, what }: WorkerQuestion) => {
      try {
        if (what === 'respond') return tell({ is: 'answer', id })
        const { ready, roles } = await health.ready()
        tell({ is: 'answer', id, ...(!ready && { problem: `the worker is ${roles.worker}` }) })
      } catch (error) {
        tell({ is: 'answer', id, problem: String(error) })
      }
    }
    process.on('message', (question: WorkerQuestion) => void answer(question))
    tell({ is: 'begun' })
    await left
    await worker[Symbol.asyncDispose]()
  }
} catch (error) {
  const isPlain = [ConfigError, InstallationError, PostgresError].some((plain) => error instanceof plain)
  tell({ is: 'failed', message: isPlain ? (error as Error).message : String((error as Error).stack) })
  process.exitCode = 1
}
process.exit()
