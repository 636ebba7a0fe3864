import { isOfTheHost, isOfTheNetwork, type SefazError, type SefazErrorKind } from '@vigia/sefaz/error'
import type { Lost } from '../source.ts'

/** The answer of a failed call: whether it may have been counted, and whose fault it is. */
export function lostTo(error: SefazError, durationMs: number): Lost {
  return {
    kind: 'lost',
    counted: mayHaveBeenCounted(error),
    fault: faultOf(error),
    mends: error.kind === 'forbidden' ? 'late' : passes(error) ? 'soon' : 'person',
    why: error.message,
    detail: `${error.kind}${error.sent ? '' : ' before sending'}: ${error.detail ?? error.message}`,
    error,
    durationMs,
  }
}

/** A question that an ended process sent `agoMs` ago, and whose answer was never written. */
export function interrupted(agoMs: number): Lost {
  return {
    kind: 'lost',
    counted: true,
    fault: 'ours',
    mends: 'soon',
    why: 'A captura foi interrompida entre uma consulta e a resposta da SEFAZ. Nada do que já foi recebido se perdeu.',
    detail: 'interrupted: a process ended between the query and its answer',
    error: null,
    durationMs: agoMs,
  }
}

/** A fault of ours that kept a question back. */
export const ourFault: Lost = {
  kind: 'lost',
  counted: false,
  fault: 'ours',
  mends: 'soon',
  why: 'Algo falhou do nosso lado durante a consulta. Os documentos já guardados estão seguros e a captura tenta de novo sozinha.',
  detail: 'fault of ours',
  error: null,
  durationMs: 0,
}

const passes = ({ kind, status = 0 }: SefazError) => isOfTheNetwork({ kind }) || status === 408 || status === 429

// Refused before the query was read: by the address, or by the SOAP stack.
const outright = /^HTTP 4|was not recognized|Unable to handle request/

function mayHaveBeenCounted({ kind, sent, detail = '' }: SefazError): boolean {
  return sent && isOfTheHost({ kind }) && !outright.test(detail)
}

const neverOfTheCertificate: ReadonlySet<SefazErrorKind> = new Set(['unreached', 'tls-chain', 'encryption', 'timeout'])

function faultOf({ kind, status }: SefazError): Lost['fault'] {
  if (!isOfTheHost({ kind })) return 'certificate'
  return neverOfTheCertificate.has(kind) || (status !== undefined && status >= 500) ? 'host' : 'unclear'
}
