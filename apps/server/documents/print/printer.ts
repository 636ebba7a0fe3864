import { PrintError, type PrintOptions } from '@vigia/print/danfe'
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

/** Lays documents out in threads, away from the event loop. */
export interface Printer {
  /** The PDF of an order. Rejects with `PrintError`, or with a refusal when it took too long. */
  print(order: PrintOrder, options?: RunOptions): Promise<Uint8Array>
  [Symbol.asyncDispose](): Promise<void>
}

const defaultOptions: ThreadsOptions = {
  file: new URL('./printer-worker.ts', import.meta.url),
  threads: defaultThreads,
  // A second of work.
  waitingMax: 50,
  // The largest documents that the authority accepts take less than one.
  timeoutMs: 15_000,
  memoryMb: 256,
  idleMs: 60_000,
}

/** A printer without threads; they start with the first orders. */
export function createPrinter(options: Partial<ThreadsOptions> = {}): Printer {
  const threads = createThreads<PrintOrder, PrintResult>({ ...defaultOptions, ...options })

  const print = async (order: PrintOrder, run: RunOptions = {}): Promise<Uint8Array> => {
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

  return { print, [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose]() }
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
