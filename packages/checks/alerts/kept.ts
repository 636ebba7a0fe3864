import type { TripInside } from '../freight/trip.ts'
import type { AlertFacts } from './facts.ts'
import { type PairDocument, pairDocument } from './history.ts'

/**
 * What other documents, searches and reports ask of a document, as plain data to be stored. Instant, value and cancellation stand
 * beside it. The document itself is read again from its bytes when it is judged.
 */
export interface KeptFacts extends Omit<PairDocument, 'chave' | 'at' | 'value' | 'cancelledAt' | 'freight'> {
  situation: AlertFacts['situation']
  /** Issued in homologação. */
  test?: true
  recipient?: string
  tpNF?: string
  modFrete?: string
  /** Of a CT-e. */
  trip?: TripInside
}

/** What is kept of the facts of a document; `trip`: of a CT-e. */
export function keptFacts(facts: AlertFacts, trip?: TripInside): KeptFacts {
  const { chave: _, at: __, value: ___, cancelledAt: ____, freight: _____, ...kept } = pairDocument(facts)
  return {
    ...kept,
    situation: facts.situation,
    ...(facts.tpAmb === '2' && { test: true as const }),
    recipient: facts.recipient?.taxId,
    tpNF: facts.tpNF,
    modFrete: facts.nfe?.modFrete,
    trip,
  }
}
