import { parentPort } from 'node:worker_threads'
import { proofOf } from '@vigia/dfe/proof'
import { unzipTogether } from '../arrival.ts'
import { openReceived } from '../received/bytes.ts'

// Runs in a thread of its own: XML or gzip streams in, proofs out.

export interface Unproved {
  files: Uint8Array[]
  zipped: boolean
}

parentPort?.on('message', ({ files, zipped }: Unproved) => {
  const bytes = files.map((file) => Buffer.from(file.buffer, file.byteOffset, file.length))
  const documents = zipped ? (unzipTogether(bytes) ?? bytes.map(openReceived)) : bytes
  parentPort?.postMessage(documents.map(proofOf))
})
parentPort?.postMessage('ready')
