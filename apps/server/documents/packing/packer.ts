import { createThreads, defaultThreads, ThreadError } from '../../platform/threads.ts'
import { type Arrival, type ReceivedDocZip, readPage } from '../arrival.ts'
import type { Packed } from '../received/bytes.ts'

// Threads of the whole program, like the processor that they work on. They do not keep it alive.
const threads = createThreads<Uint8Array[], (Packed | null)[]>({
  file: new URL('./packer-worker.ts', import.meta.url),
  threads: defaultThreads,
  waitingMax: 1_000,
  timeoutMs: 10_000,
  memoryMb: 128,
  idleMs: 60_000,
})

/** Received bytes packed away from the event loop; null where one is kept as it arrived. Rejects with `ThreadError`. */
export async function packInThread(contents: readonly Buffer[]): Promise<(Packed | null)[]> {
  // A view would be sent with the whole buffer that it is a view of.
  const packed = await threads.run(contents.map((content) => new Uint8Array(content)))
  // The class does not survive the way from another thread.
  return packed.map(
    (one) =>
      one && {
        ...one,
        content: Buffer.from(one.content),
        certificate: one.certificate && Buffer.from(one.certificate),
      },
  )
}

/** Reads a page as `readPage` does, while its documents are packed. When that fails they are stored as they arrived, and packed later. */
export async function readAndPack(page: readonly ReceivedDocZip[]): Promise<Arrival[]> {
  if (page.length === 0) return []
  const packing = packInThread(page.map(({ content }) => content)).catch((error: unknown) => {
    if (error instanceof ThreadError) return []
    throw error
  })
  const arrivals = await readPage(page)
  const packed = await packing
  return arrivals.map((arrival, index) => ({ ...arrival, ...(packed[index] && { packed: packed[index] }) }))
}
