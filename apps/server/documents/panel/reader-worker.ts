import { parentPort } from 'node:worker_threads'
import { openReceived } from '../received/bytes.ts'
import { type Files, saidOf } from './said.ts'

// Runs in a thread of its own: a document of 990 items takes longer to read than a hundred lists.

parentPort?.on('message', ({ content, events }: Files) => {
  parentPort?.postMessage(
    saidOf({ content: openReceived(content), events: events.map(([id, xml]) => [id, openReceived(xml)] as const) }),
  )
})
parentPort?.postMessage('ready')
