import { familyById } from '@vigia/dfe/families/lookup'
import type { Proof } from '@vigia/dfe/proof'
import type { Context } from '../../platform/context.ts'
import { createThreads, defaultThreads, ThreadError } from '../../platform/threads.ts'
import type { Arrival } from '../arrival.ts'
import type { KnownProof } from './proof.ts'
import type { Unproved } from './prover-worker.ts'

// Threads of the whole program, like the processor that they work on. They do not keep it alive.
const threads = createThreads<Unproved, (Proof | null)[]>({
  file: new URL('./prover-worker.ts', import.meta.url),
  threads: defaultThreads,
  waitingMax: 1_000,
  timeoutMs: 10_000,
  memoryMb: 256,
  idleMs: 60_000,
})

const atOnce = 50

/** `arrivals` with the proofs to come, made in threads. One that takes longer than `withinMs` waits for `proveMissed`. */
export function prove(
  { log }: Pick<Context, 'log'>,
  arrivals: readonly Arrival[],
  { patient = false, withinMs }: { patient?: boolean; withinMs?: number } = {},
): Arrival[] {
  const provable = arrivals.filter(isProvable)
  const proofs = new Map<Arrival, Promise<Proof | null>>()
  for (let start = 0; start < provable.length; start += atOnce) {
    const some = provable.slice(start, start + atOnce)
    const found = proveSome({ log }, some, patient)
    const inTime = withinMs === undefined ? found : orNull({ log }, found, withinMs)
    for (const [index, arrival] of some.entries())
      proofs.set(
        arrival,
        inTime.then((all) => all?.[index] ?? null),
      )
  }
  return arrivals.map(({ xml, ...arrival }, index) => ({ ...arrival, proof: proofs.get(arrivals[index]!) }))
}

// A summary is not signed.
function isProvable({ facts }: Arrival): boolean {
  if (!facts || !familyById(facts.type).signed) return false
  return facts.kind === 'document' ? facts.complete : !facts.summary
}

/** Verifies one gzip stream; null when that is not possible now. */
export async function proveAlone(content: Uint8Array): Promise<KnownProof | null> {
  try {
    const [proof = null] = await threads.run({ zipped: true, files: [new Uint8Array(content)] }, { patient: true })
    return proof ?? 'unable'
  } catch (err) {
    if (err instanceof ThreadError && (err.reason === 'died' || err.reason === 'too-slow')) return 'unable'
    return null
  }
}

async function proveSome(
  { log }: Pick<Context, 'log'>,
  some: readonly Arrival[],
  patient: boolean,
): Promise<(Proof | null)[] | null> {
  try {
    return await threads.run(filesOf(some), { patient })
  } catch (err) {
    log.error({ err, nsu: some.map(({ nsu }) => String(nsu)) }, 'documents are stored without being verified')
    return null
  }
}

function filesOf(some: readonly Arrival[]): Unproved {
  const zipped = !some.every(({ xml }) => xml)
  // A view is sent with its whole buffer, once for all views of it: files of a page share one, a gzip stream may share any.
  return zipped
    ? { zipped, files: some.map(({ content }) => new Uint8Array(content)) }
    : { zipped, files: some.map(({ xml }) => xml!) }
}

async function orNull<T>({ log }: Pick<Context, 'log'>, work: Promise<T>, ms: number): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => {
    log.warn({ withinMs: ms }, 'documents are stored before they are verified')
    resolve(null)
  }, ms)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
