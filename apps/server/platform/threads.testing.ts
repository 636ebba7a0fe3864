import { parentPort } from 'node:worker_threads'

// A thread that carries out what a test of `threads.ts` asks for.

export type TestTask =
  | { add: [number, number] }
  | { waitFor: SharedArrayBuffer }
  | 'loop'
  | 'throw'
  | 'exit'
  | 'hoard'
  | 'finish'

function carryOut(task: TestTask): unknown {
  if (task === 'loop') for (;;);
  if (task === 'throw') throw new Error('poisoned')
  if (task === 'exit') process.exit(3)
  if (task === 'hoard') {
    const hoard: string[][] = []
    for (;;) hoard.push(Array.from({ length: 10_000 }, (_, at) => `${hoard.length} ${at}`))
  }
  if (task === 'finish') {
    setImmediate(() => process.exit(0))
    return 'finished'
  }
  if ('add' in task) return task.add[0] + task.add[1]
  Atomics.wait(new Int32Array(task.waitFor), 0, 0)
  return 'waited'
}

parentPort?.on('message', (task: TestTask) => parentPort?.postMessage(carryOut(task)))
parentPort?.postMessage('ready')
