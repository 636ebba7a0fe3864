import type { Context } from '../../platform/context.ts'
import { createThreads, defaultThreads, runApart, ThreadError, type Threads } from '../../platform/threads.ts'
import type { Arrival, ReceivedDocZip } from '../arrival.ts'
import type { ReadFor } from './read.ts'

type Sent = Omit<ReceivedDocZip, 'content'> & { content: Uint8Array }
/** The class `Buffer` does not survive the way between threads. */
type Read = Omit<Arrival, 'content' | 'packed'> & {
  packed?: { content: Uint8Array; certificate: Uint8Array | null } | null
}

export interface ReadTask extends ReadFor {
  docZips: Sent[]
}

// Threads of the whole program, like the processor that they work on. They do not keep it alive.
const threads = createThreads<ReadTask, Read[]>({
  file: new URL('./reading-worker.ts', import.meta.url),
  threads: 2 * defaultThreads,
  waitingMax: 1_000,
  timeoutMs: 10_000,
  memoryMb: 256,
  idleMs: 60_000,
})

export interface ReadOptions extends ReadFor {
  /** Nobody waits for it: what brings a thread down is then known by reading each alone. */
  patient?: boolean
  withinMs?: number
}

/** Reads docZips in threads. Those that fail come back unread, to be stored and read again later. */
export type ReadPage = (
  ctx: Pick<Context, 'log'>,
  page: readonly ReceivedDocZip[],
  options?: ReadOptions,
) => Promise<Arrival[]>

// Half of a page of the authority: two threads read it.
const atOnce = 25
const apartMs = 60_000
const dayMs = 24 * 3_600_000

const lateProblem =
  'O arquivo está guardado como chegou, mas ainda não foi lido: a leitura é feita de novo sozinha em instantes.'
const failedProblem =
  'O arquivo está guardado como chegou, mas a leitura dele não termina: ela é tentada de novo todo dia, e você pode baixá-lo.'

export const createReading =
  ({ run }: Pick<Threads<ReadTask, Read[]>, 'run'>): ReadPage =>
  async ({ log }, page, { patient = false, withinMs, ...options } = {}) => {
    const readSome = async (some: readonly ReceivedDocZip[]): Promise<Arrival[]> => {
      // A view would be sent with the whole buffer that it is a view of.
      const sent = some.map((docZip): Sent => ({ ...docZip, content: new Uint8Array(docZip.content) }))
      const work = (docZips: Sent[]) => run({ docZips, ...options }, { patient, withinMs })
      const read: (Read | null | undefined)[] = await (patient
        ? runApart({ run: work }, sent, apartMs)
        : work(sent)
      ).catch((err: unknown) => {
        if (!(err instanceof ThreadError)) throw err
        log.error({ err, nsu: some.map(({ nsu }) => String(nsu)) }, 'documents are stored before they are read')
        return []
      })
      return some.map((docZip, index) => arrivalOf(docZip, read[index]))
    }
    const chunks = Array.from({ length: Math.ceil(page.length / atOnce) }, (_, index) =>
      page.slice(index * atOnce, (index + 1) * atOnce),
    )
    return (await Promise.all(chunks.map(readSome))).flat()
  }

export const readApart: ReadPage = createReading(threads)

// null: it brought its thread down alone, too; undefined: it was not read in time.
function arrivalOf(docZip: ReceivedDocZip, read: Read | null | undefined): Arrival {
  const unread = { ...docZip, chave: null, facts: null, proof: null }
  if (read === undefined) return { ...unread, problem: lateProblem, againMs: 0 }
  if (read === null) return { ...unread, problem: failedProblem, againMs: dayMs }
  const { packed, ...rest } = read
  return {
    ...docZip,
    ...rest,
    packed: packed && {
      content: Buffer.from(packed.content),
      certificate: packed.certificate && Buffer.from(packed.certificate),
    },
  }
}
