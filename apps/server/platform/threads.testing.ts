import { parentPort } from 'node:worker_threads'

// A thread that does as it is told, for the tests of `threads.ts`.

export type Told =
  | { add: [number, number] }
  | { waitFor: SharedArrayBuffer }
  | 'loop'
  | 'throw'
  | 'exit'
  | 'hoard'
  | 'finish'

function obey(told: Told): unknown {
  if (told === 'loop') for (;;);
  if (told === 'throw') throw new Error('poisoned')
  if (told === 'exit') process.exit(3)
  if (told === 'hoard') {
    const hoard: string[][] = []
    for (;;) hoard.push(Array.from({ length: 10_000 }, (_, at) => `${hoard.length} ${at}`))
  }
  if (told === 'finish') {
    setImmediate(() => process.exit(0))
    return 'finished'
  }
  if ('add' in told) return told.add[0] + told.add[1]
  Atomics.wait(new Int32Array(told.waitFor), 0, 0)
  return 'waited'
}

parentPort?.on('message', (told: Told) => parentPort?.postMessage(obey(told)))
parentPort?.postMessage('ready')
