import { createHash } from 'node:crypto'
import { PrintError, type PrintOptions } from '@vigia/print/danfe'
import { LRUCache } from 'lru-cache'
import { AppError } from '../../platform/errors.ts'
import {
  createThreads,
  defaultThreads,
  type RunOptions,
  ThreadError,
  type ThreadsOptions,
} from '../../platform/threads.ts'

export interface PrintOrder {
  /** The name of a form in packages/print. */
  form: string
  /** In a sentence for people. */
  name: string
  /** The document or the event as it is stored, compressed. */
  content: Uint8Array
  /** Document of an event, or its summary. */
  document?: Uint8Array
  options: PrintOptions & { undone?: boolean }
}

export type PrintResult = { pdf: Uint8Array<ArrayBuffer> } | { refused: string } | { failed: unknown }

/** Lays documents out in threads, away from the event loop, and caches the PDFs. */
export interface Printer {
  /** The PDF of an order; its bytes must not be changed. Rejects with `PrintError`, or with a refusal when it took too long. */
  print(order: PrintOrder, options?: RunOptions): Promise<Uint8Array>
  [Symbol.asyncDispose](): Promise<void>
}

export interface PrinterOptions extends ThreadsOptions {
  /** Maximum bytes of cached PDFs. */
  cacheBytes: number
}

const megabyte = 1024 * 1024
const defaultOptions: PrinterOptions = {
  file: new URL('./printer-worker.ts', import.meta.url),
  threads: defaultThreads,
  // A second of work.
  waitingMax: 50,
  // The largest documents that the authority accepts take less than one.
  timeoutMs: 15_000,
  memoryMb: 256,
  idleMs: 60_000,
  cacheBytes: 32 * megabyte,
}

/** A printer without threads and with an empty cache; both fill with the first order. */
export function createPrinter(options: Partial<PrinterOptions> = {}): Printer {
  const settings = { ...defaultOptions, ...options }
  const threads = createThreads<PrintOrder, PrintResult>(settings)
  const { cacheBytes } = settings
  const cache = new LRUCache<string, Uint8Array>({ maxSize: cacheBytes, sizeCalculation: (pdf) => pdf.length })

  const render = async (order: PrintOrder, run: RunOptions): Promise<Uint8Array> => {
    try {
      const { content, document, options } = order
      const printed = await threads.run(
        {
          ...order,
          content: ownCopy(content),
          document: document && ownCopy(document),
          options: { ...options, logo: options.logo && ownCopy(options.logo) },
        },
        run,
      )
      if ('refused' in printed) throw new PrintError(printed.refused)
      if ('failed' in printed) throw printed.failed
      return printed.pdf
    } catch (error) {
      throw error instanceof ThreadError ? refusalOf(error, order.name) : error
    }
  }

  return {
    async print(order, run = {}) {
      const key = keyOf(order)
      const known = cache.get(key)
      if (known) return known
      const pdf = await render(order, run)
      // An export asks for each form once: it must not push out the forms that people look at.
      if (!run.patient) cache.set(key, pdf)
      return pdf
    },
    [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose](),
  }
}

// The cache ends with the program, so the version of the layout need not be part of the key.
function keyOf({ form, content, document, options: { logo, ...options } }: PrintOrder): string {
  return createHash('sha256')
    .update(JSON.stringify([form, options, content.length, logo?.length]))
    .update('\n')
    .update(content)
    .update(logo ?? '')
    .update(document ?? '')
    .digest('base64')
}

// Copies the bytes, because a view would send its whole larger buffer to the thread.
function ownCopy(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes)
}

function refusalOf(error: ThreadError, name: string): AppError {
  const safe = 'Seus documentos estão seguros; tente de novo em instantes.'
  if (error.reason === 'full')
    return new AppError('too-many', `Já há impressões demais desta conta na fila. ${safe}`, {
      cause: error,
      retryAfterMs: 5_000,
    })
  if (error.reason === 'closed')
    return new AppError('unavailable', `O sistema está sendo reiniciado. ${safe}`, {
      cause: error,
      retryAfterMs: 5_000,
    })
  const what =
    error.reason === 'too-slow'
      ? `Montar ${name} demorou demais e foi interrompido.`
      : `Montar ${name} foi interrompido por uma falha do nosso lado.`
  return new AppError('unavailable', `${what} O XML original está guardado e íntegro, e pode ser baixado.`, {
    cause: error,
    retryAfterMs: 60_000,
  })
}
