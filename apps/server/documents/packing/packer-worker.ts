import { parentPort } from 'node:worker_threads'
import { packReceived } from '../received/bytes.ts'

// Runs in a thread of its own: received bytes in, what their receipts keep out.

parentPort?.on('message', (contents: Uint8Array[]) => {
  const packed = contents.map((content) => {
    const one = packReceived(content)
    // A view would be sent with the whole buffer that it is a view of.
    return (
      one && {
        ...one,
        content: new Uint8Array(one.content),
        certificate: one.certificate && new Uint8Array(one.certificate),
      }
    )
  })
  parentPort?.postMessage(packed)
})
parentPort?.postMessage('ready')
