import type { ManifestedDocument } from '@vigia/contract/manifestation'
import { ApiError, errorMessage, isRetryable, isUnreadable } from '../../lib/api.ts'

/** Maximum number of documents in one call (section 7: `idsDFe`). */
export const batchSize = 300

export interface SendingResult {
  idDfe: string
  numero: number | null
  /** `aceita`: the call succeeded, and the response does not mention this document. */
  situacao: ManifestedDocument['situacao'] | 'nao-enviada' | 'aceita'
  mensagem: string
  /** Sending it again may have another result. */
  repeatable: boolean
}

export function batches<T>(list: readonly T[]): T[][] {
  const count = Math.ceil(list.length / batchSize)
  return Array.from({ length: count }, (_, index) => list.slice(index * batchSize, (index + 1) * batchSize))
}

interface SendingOptions {
  send: (ids: string[]) => Promise<{ message: string; documents: readonly ManifestedDocument[] }>
  onProgress: (done: number) => void
  /** Checked before each batch but the first: when true, nothing more is sent. */
  stopped: () => boolean
}

/**
 * Sends batches in sequence. A refused batch does not stop the others; a lost response does,
 * because the next one would most likely be lost, too.
 */
export async function sendInBatches(ids: readonly string[], { send, onProgress, stopped }: SendingOptions) {
  const results: SendingResult[] = []
  const messages: string[] = []
  let halted: string | null = null
  for (const batch of batches(ids)) {
    if (results.length > 0 && stopped()) halted ??= 'O envio foi parado antes.'
    if (halted !== null) {
      results.push(...batch.map((idDfe) => notSent(idDfe, halted ?? '')))
      continue
    }
    try {
      const { message, documents } = await send(batch)
      messages.push(message)
      const told = new Map(documents.map((document) => [document.idDfe, document]))
      results.push(...batch.map((idDfe) => resultOf(idDfe, told.get(idDfe), message)))
    } catch (error) {
      // There is only one batch: the caller shows it like any other failure.
      if (batch.length === ids.length) throw error
      if (error instanceof ApiError && error.status === 401) throw error
      if (error instanceof ApiError && isRefusal(error)) {
        const mensagem = refusalText(error)
        results.push(
          ...batch.map((idDfe) => ({
            idDfe,
            numero: null,
            situacao: 'recusada' as const,
            mensagem,
            repeatable: false,
          })),
        )
      } else {
        results.push(...batch.map((idDfe) => notSent(idDfe, lostText(error))))
        halted = 'O envio parou antes.'
      }
    }
    onProgress(results.length)
  }
  return { results, messages }
}

function resultOf(idDfe: string, told: ManifestedDocument | undefined, message: string): SendingResult {
  if (!told) return { idDfe, numero: null, situacao: 'aceita', mensagem: message, repeatable: false }
  const { numero, situacao, codigo, mensagem } = told
  // Only refusals by the authority are repeatable, because their cause may be fixed; our own rules
  // would refuse again.
  return { idDfe, numero, situacao, mensagem, repeatable: situacao === 'recusada' && codigo !== undefined }
}

// A refusal that would be the same after a retry.
function isRefusal(error: ApiError): boolean {
  return !isRetryable(error.status) && !isUnreadable(error)
}

function notSent(idDfe: string, mensagem: string): SendingResult {
  return { idDfe, numero: null, situacao: 'nao-enviada', mensagem, repeatable: true }
}

function refusalText(error: ApiError): string {
  return error.errors.length > 0 ? error.errors.join(' ') : error.message
}

function lostText(error: unknown): string {
  return `Não sabemos se o pedido chegou (${errorMessage(error)}). Repetir é seguro: o que já foi pedido não sai duas vezes.`
}
