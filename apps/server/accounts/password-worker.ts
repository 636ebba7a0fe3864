import { parentPort } from 'node:worker_threads'
import { hashSync, type Options, verifySync } from '@node-rs/argon2'

/** A password to be hashed at a cost, or compared with a hash. */
export type PasswordTask = { password: string } & ({ cost: Options } | { known: string })

// Runs in a thread of its own: the functions of the library that do not block would take the threads that compress responses.

parentPort?.on('message', ({ password, ...task }: PasswordTask) => {
  parentPort?.postMessage('cost' in task ? hashSync(password, task.cost) : verifySync(task.known, password))
})
parentPort?.postMessage('ready')
