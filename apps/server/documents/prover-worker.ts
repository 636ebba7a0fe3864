import { parentPort } from 'node:worker_threads'
import { unzipDocument } from '@vigia/sefaz/distribution'
import { proofOf } from '@vigia/sefaz/proof'

// Runs in a thread of its own: gzip streams in, proofs out.

parentPort?.on('message', (contents: Uint8Array[]) => {
  parentPort?.postMessage(contents.map((content) => proofOf(unzipDocument(content))))
})
parentPort?.postMessage('ready')
