import type { EventEffect, EventKind } from './family.ts'

/** A row of an event table: code, description, effect, and the code that it takes back. */
export type EventKindRow = readonly [tpEvento: number, description: string, effect?: EventEffect, undoes?: number]

export const fiscalEvent = 'Evento do Fisco'
export const otherEvent = 'Evento de Outro Órgão'

// Weights: a cancellation first, then effects that void the document, then a conclusive answer,
// then ciência. Other events (passage of goods) weigh least and equally: the last one counts.
const weights: Partial<Record<EventEffect, number>> = {
  cancels: 100,
  unfit: 90,
  confirmed: 80,
  'unknown-operation': 80,
  'not-performed': 80,
  replaced: 70,
  acknowledged: 60,
  disputed: 50,
  corrected: 40,
}

/** The weight of an event that no table has. */
export const otherWeight = 20

/** Builds the event table of a family; `statuses` maps effects to statuses of its documents. */
export function eventTable(
  rows: readonly EventKindRow[],
  statuses: Partial<Record<EventEffect, number>>,
): ReadonlyMap<number, EventKind> {
  return new Map(
    rows.map(([tpEvento, description, effect = 'none', undoes]) => [
      tpEvento,
      {
        tpEvento,
        description,
        effect,
        weight: weights[effect] ?? otherWeight,
        status: statuses[effect] ?? null,
        ...(undoes !== undefined && { undoes }),
        ...((description === fiscalEvent || description === otherEvent) && { ownWords: true }),
      },
    ]),
  )
}

// cStat of a registered event: 134 for a document no longer authorised, 135 and 136, 155 for a late
// cancelamento; a resumo has none and is always registered (MOC 7.0 and MOC CT-e 4.00 §3.7).
export const registeredStatuses: ReadonlySet<string> = new Set(['134', '135', '136', '155'])

/** Registration by cStat; `duplicate` is the cStat for an event that is already registered. */
export const registrationBy = (duplicate: string) => (cStat: string | undefined) => {
  if (cStat === undefined) return 'none'
  if (registeredStatuses.has(cStat)) return 'registered'
  return cStat === duplicate ? 'duplicate' : 'none'
}
