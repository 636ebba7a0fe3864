import { justificationMaxOf } from '@vigia/contract/manifestation'
import { cleanEventText, EventError } from '@vigia/sefaz/events'
import { AppError } from '../platform/errors.ts'
import type { Service } from '../platform/service.ts'

export const letterOfCorrection = 110110

export interface Kind {
  /** `tipoManifestacao` of the call. */
  choice: number
  tpEvento: number
  /** With its article, as in "a justificativa …". */
  of: string
  /** Whether the person's text leaves with the event: the layout demands it, takes it, or has no place for it. */
  text: 'demanded' | 'taken' | 'kept'
}

/** The choices of each family (section 3 of the specification; the last two of the CT-e are ours). */
export const manifestationKinds: Readonly<Record<Service, readonly Kind[]>> = {
  nfe: [
    { choice: 1, tpEvento: 210210, of: 'da Ciência', text: 'kept' },
    { choice: 2, tpEvento: 210200, of: 'da Confirmação', text: 'kept' },
    { choice: 3, tpEvento: 210220, of: 'do Desconhecimento', text: 'taken' },
    { choice: 4, tpEvento: 210240, of: 'de Operação não Realizada', text: 'demanded' },
  ],
  cte: [
    { choice: 1, tpEvento: 110111, of: 'do Cancelamento', text: 'demanded' },
    // Its text becomes corrections: corrections.ts.
    { choice: 2, tpEvento: 110110, of: 'da Carta de Correção', text: 'kept' },
    { choice: 610110, tpEvento: 610110, of: 'da Prestação em Desacordo', text: 'demanded' },
    { choice: 610111, tpEvento: 610111, of: 'do Cancelamento do Desacordo', text: 'kept' },
  ],
}

// Lengths of xJust and xObs in leiauteConfRecebto, evCancCTe and evPrestDesacordo.
const [min, max] = [15, 255]

/** The text that leaves with an event, as the schemas take it; refuses what the event could not carry, with a text for the person. */
export function outgoingText({ choice, of, text }: Kind, justification: string): string | undefined {
  if (text === 'kept' || (text === 'taken' && justification.trim().length < min)) return undefined
  const clean = cleanText(justification)
  if (text === 'taken' && clean.length < min) return undefined
  if (clean.length < min || clean.length > max) {
    const formMax = justificationMaxOf(choice)
    const ofForm = formMax < max ? ` (até ${formMax} neste formulário)` : ''
    const problem = `A justificativa ${of} precisa ter de ${min} a ${max} caracteres${ofForm}, e tem ${clean.length}.`
    throw new AppError('invalid-input', problem)
  }
  return clean
}

/** One line of the characters that the authority takes; refuses others by name. */
export function cleanText(text: string): string {
  try {
    return cleanEventText(text)
  } catch (cause) {
    if (cause instanceof EventError) throw new AppError('invalid-input', cause.message, { cause })
    throw cause
  }
}
