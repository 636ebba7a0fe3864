const hourMs = 3_600_000

/** How long after the authorisation an event may be registered. */
export interface Term {
  hours: number
  /** Documents authorised from this day on (São Paulo) follow it; a later row takes its place. */
  since: string
  source: string
}

/** Deadline by the term in force at the authorisation; null when there is none. */
export function termEnd(terms: readonly Term[], authorizedAt: Date | null): Date | null {
  if (authorizedAt === null) return null
  const day = new Date(authorizedAt.getTime() - 3 * hourMs).toISOString().slice(0, 10)
  const term = terms.findLast(({ since }) => since <= day)
  return term ? new Date(authorizedAt.getTime() + term.hours * hourMs) : null
}

export const days = (count: number) => count * 24
