import { justificationMaxOf } from '@vigia/contract/codes'
import type { Answer } from '@vigia/dfe/families/family'
import { cleanEventText, EventError } from '@vigia/sefaz/events'
import { AppError } from '../platform/errors.ts'

const shownMax = 5

/** The first few of many numbers, and how many there are besides. */
export function numbersText(numbers: number[]): string {
  const shown = numbers.slice(0, shownMax).join(', ')
  return numbers.length > shownMax ? `${shown} e mais ${numbers.length - shownMax}` : shown
}

// Lengths of xJust and xObs in leiauteConfRecebto, evCancCTe and evPrestDesacordo.
const [min, max] = [15, 255]

/** The text that leaves with an event, as the schemas take it; refuses what the event could not carry, with a text for the person. */
export function outgoingText({ choice, of, text }: Answer, justification: string): string | undefined {
  if (text === 'none' || text === 'corrections' || (text === 'taken' && justification.trim().length < min))
    return undefined
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
