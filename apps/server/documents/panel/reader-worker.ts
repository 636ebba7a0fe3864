import { parentPort } from 'node:worker_threads'
import { unzipDocument } from '@vigia/sefaz/distribution'
import { saidOf } from './said.ts'

// Runs in a thread of its own: a document of 990 items takes longer to read than a hundred lists.

parentPort?.on('message', (content: Uint8Array) => {
  parentPort?.postMessage(saidOf(unzipDocument(content)))
})
parentPort?.postMessage('ready')
