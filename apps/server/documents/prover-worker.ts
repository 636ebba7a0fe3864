import { parentPort } from 'node:worker_threads'
import { unzipDocument } from '@vigia/sefaz/distribution'
import { proofOf } from '@vigia/sefaz/proof'
import { unzipTogether } from './arrival.ts'

// Runs in a thread of its own: gzip streams in, proofs out.

parentPort?.on('message', (contents: Uint8Array[]) => {
  const streams = contents.map((content) => Buffer.from(content.buffer, content.byteOffset, content.length))
  const documents = unzipTogether(streams) ?? streams.map(unzipDocument)
  parentPort?.postMessage(documents.map(proofOf))
})
parentPort?.postMessage('ready')
