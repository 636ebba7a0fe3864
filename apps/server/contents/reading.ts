import type { Note, TripInside } from '@vigia/freight/trip'
import type { ReformFinding } from '@vigia/reform/findings'
import { createThreads, runApart } from '../print/threads.ts'
import type { ProductTexts } from './packing.ts'
import type { DocumentSums, Side } from './sums.ts'

/** A document to be read, and what it was counted with before. */
export interface ReadQuestion {
  /** The stored bytes; null: it is here no more. */
  content: Uint8Array | null
  /** As what it is counted now; null: in no sum. */
  side: Side | null
  before: { value: Uint8Array; products: ProductTexts[]; side: Side | null } | null
}

export interface ReadContents {
  /** As what it is counted, now that it is known what it is. */
  side: Side | null
  value: Uint8Array
  products: ProductTexts[]
  terms: string[]
  issuer: string
  /** `content.reform` */
  reform: number
  findings: number
  ibs: bigint | null
  cbs: bigint | null
  dues: { number: string; dueOn: string; amount: bigint }[]
  /** Of a CT-e. */
  trip: TripInside | null
  /** Of an NF-e. */
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
  'rt-devolucao',
]

export const findingBits = (codes: readonly ReformFinding['code'][]): number =>
  codes.reduce((bits, code) => bits | (1 << findingCodes.indexOf(code)), 0)

const threads = createThreads<ReadQuestion[], (ReadAnswer | null)[]>({
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
  asked.length > 0 ? runApart(threads, asked, apartMs) : Promise.resolve([])
