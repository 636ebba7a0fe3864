import type { Proof } from '@vigia/sefaz/proof'
import type { Context } from '../platform/context.ts'
import { defaultPrintThreads } from '../print/printer.ts'
import { createThreads } from '../print/threads.ts'
import type { Arrival } from './arrival.ts'

// Threads of the whole program, like the processor that they work on. They do not keep it alive.
const threads = createThreads<Uint8Array[], (Proof | null)[]>({
  file: new URL('./prover-worker.ts', import.meta.url),
  threads: defaultPrintThreads,
  waitingMax: 1_000,
  timeoutMs: 10_000,
  memoryMb: 256,
  idleMs: 60_000,
})

const atOnce = 50

/**
 * `arrivals` with the proof of each complete document, away from the event loop. Documents do not wait for it longer than `withinMs`, nor for
 * one that brings its thread down: these stay unverified until a rebuild.
 */
export async function prove(
  { log }: Pick<Context, 'log'>,
  arrivals: Arrival[],
  { patient = false, withinMs }: { patient?: boolean; withinMs?: number } = {},
): Promise<Arrival[]> {
  const complete = arrivals.filter(({ facts }) => facts?.kind === 'document' && facts.complete)
  if (complete.length === 0) return arrivals
  const proofs = new Map<Arrival, Proof | null>()
  const proveSome = async (some: Arrival[]) => {
    try {
      // A view into a larger buffer would be sent with the whole buffer.
      const contents = some.map(({ content }) => new Uint8Array(content))
      const found = await threads.run(contents, { patient })
      for (const [index, arrival] of some.entries()) proofs.set(arrival, found[index]!)
    } catch (err) {
      log.error({ err, nsu: some.map(({ nsu }) => String(nsu)) }, 'documents are stored without being verified')
    }
  }
  const chunks = Array.from({ length: Math.ceil(complete.length / atOnce) }, (_, index) =>
    complete.slice(index * atOnce, (index + 1) * atOnce),
  )
  const done = Promise.all(chunks.map(proveSome))
  if (withinMs === undefined) await done
  else if (!(await endsWithin(done, withinMs)))
    log.warn({ documents: complete.length - proofs.size, withinMs }, 'documents are stored before they are verified')
  return arrivals.map((arrival) => ({ ...arrival, proof: proofs.get(arrival) ?? null }))
}

async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, ms, false)
  try {
    return await Promise.race([work.then(() => true), promise])
  } finally {
    clearTimeout(timer)
  }
}
