import type { Note, TripInside } from '@vigia/checks/freight/trip'
import type { ReformFinding } from '@vigia/checks/reform/findings'
import { createThreads, runApart, ThreadError } from '../../platform/threads.ts'
import type { ProductTexts } from './packing.ts'
import type { Part, Segment } from './segments.ts'
import type { DocumentSums, Side } from './sums.ts'

export interface ReadQuestion {
  /** The stored bytes; null: it is here no more. */
  content: Uint8Array | null
  /** As what it is counted now; null: in no sum. */
  side: Side | null
  before: { value: Uint8Array; side: Side | null } | null
}

export interface ReadContents {
  /** As what it is counted, now that it is known what it is. */
  side: Side | null
  value: Uint8Array
  products: ProductTexts[]
  terms: string[]
  /** They are those of before. */
  sameTerms: boolean
  issuer: string
  /** `content.reform` */
  reform: number
  findings: number
  ibs: bigint | null
  cbs: bigint | null
  dues: { number: string; dueOn: string; amount: bigint }[]
  trip: TripInside | null
  note: Pick<Note, 'recipient' | 'tpNF' | 'modFrete'> | null
}

export interface ReadAnswer {
  taken: DocumentSums
  added: DocumentSums
  /** null: a summary, which has nothing inside. */
  read: ReadContents | null
}

/** Whether a document has the groups of IBS and CBS: `content.reform`. */
export const presence = { exempt: 0, none: 1, some: 2, all: 3 } as const

/** The place of a code is its bit in `content.findings`: new ones come last. */
export const findingCodes: readonly ReformFinding['code'][] = [
  'rt-sem-grupo',
  'rt-parcial',
  'rt-aliquota',
  'rt-conta',
  'rt-codigo',
  'rt-vnf',
  'rt-nota',
]

export const findingBits = (codes: readonly ReformFinding['code'][]): number =>
  codes.reduce((bits, code) => bits | (1 << findingCodes.indexOf(code)), 0)

export type ThreadWork = { read: ReadQuestion[] } | { merge: Part[] }

const threads = createThreads<ThreadWork, unknown>({
  file: new URL('./reader-worker.ts', import.meta.url),
  threads: 1,
  waitingMax: 50,
  // With `apartMs`, less than the lease of a turn.
  timeoutMs: 30_000,
  memoryMb: 256,
  idleMs: 30_000,
})

// Together this long at most, so that a turn ends while it is held.
const apartMs = 40_000

/** Reads documents in a thread. null: one that brings it down or takes too long; undefined: there was no time for it. */
export const readAll = (asked: ReadQuestion[]): Promise<(ReadAnswer | null | undefined)[]> =>
  asked.length > 0
    ? runApart(
        { run: (read, options) => threads.run({ read }, options) as Promise<(ReadAnswer | null)[]> },
        asked,
        apartMs,
      )
    : Promise.resolve([])

/** Makes one segment of several in the same thread. null: nothing is left of them; undefined: it failed. */
export async function mergeApart(merge: Part[]): Promise<Segment | null | undefined> {
  try {
    return (await threads.run({ merge }, { patient: true })) as Segment | null
  } catch (error) {
    if (error instanceof ThreadError) return undefined
    throw error
  }
}
