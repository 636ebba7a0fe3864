import { once } from 'node:events'
import type { Config } from '@vigia/server/start'
import { drainMs } from './stopping.ts'
import type { WorkerReport } from './worker-process.ts'

// The role `worker` beside an API, so that capturing, sending and judging do not keep requests waiting. It ends with the program, or when
// that disconnects.
const tell = (report: WorkerReport) => {
  if (process.connected) process.send?.(report, undefined, undefined, () => {})
}
// Ctrl+C and a service reach the whole group; the program says when.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
const left = once(process, 'disconnect')
const ordered = once(process, 'message') as Promise<[Config]>

void left.then(() => setTimeout(() => process.exit(), drainMs).unref())

const { start } = await import('@vigia/server/start')
const { createHealth } = await import('@vigia/server/platform/http/probes')
const { isPlain } = await import('./lifetime.ts')
try {
  const order = await Promise.race([ordered, left.then(() => null)])
  if (order) {
    const health = createHealth(['worker'])
    await using _ = await start(order[0], { roles: ['worker'], health, joinsPostgres: true })
    let { ready, roles } = await health.ready()
    const report = async () => {
      // A check may take three seconds.
      tell({ is: 'running', problem: ready ? null : `the worker is ${roles.worker}` })
      ;({ ready, roles } = await health.ready())
    }
    setInterval(() => void report(), 1_000)
    tell({ is: 'begun' })
    await left
  }
} catch (error) {
  tell({ is: 'failed', message: isPlain(error) ? error.message : String((error as Error).stack) })
  process.exitCode = 1
}
process.exit()
