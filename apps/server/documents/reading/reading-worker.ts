import { parentPort } from 'node:worker_threads'
import { readArrival } from './read.ts'
import type { ReadTask } from './reading.ts'

// Runs in a thread of its own: received bytes in, what is read in them out.

parentPort?.on('message', ({ docZips, ...options }: ReadTask) => {
  parentPort?.postMessage(
    docZips.map(({ content, ...docZip }) => {
      const bytes = Buffer.from(content.buffer, content.byteOffset, content.length)
      const { content: _, packed, ...read } = readArrival({ ...docZip, content: bytes }, options)
      // A view would be sent with the whole buffer that it is a view of.
      const own = packed && {
        content: new Uint8Array(packed.content),
        certificate: packed.certificate && new Uint8Array(packed.certificate),
      }
      return { ...read, packed: own }
    }),
  )
})
parentPort?.postMessage('ready')
