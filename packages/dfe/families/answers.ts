import type { AnswerSubject, OwnAnswer } from './family.ts'

/** Refusal of an answer that was already given. */
export function standsAlready([name, done]: readonly [string, string], { pending }: OwnAnswer): string {
  return `${name} já está ${pending ? 'em envio' : done}.`
}

/** The highest known sequence of an event; other programs may have used missing numbers. */
export function lastSequence(tpEvento: number, { own }: Pick<AnswerSubject, 'own'>): number {
  const sequences = own.filter((event) => event.tpEvento === tpEvento).map((event) => event.sequence)
  return Math.max(sequences.length, ...sequences)
}
