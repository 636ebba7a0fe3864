import type { AlertEvent } from '@vigia/checks/alerts/facts'
import type { EventFacts } from '@vigia/dfe/read'

/** Events as the rules take them, each once: a summary and its event are the same. */
export function alertEvents(events: readonly EventFacts[]): AlertEvent[] {
  const best = new Map<string, AlertEvent>()
  for (const event of events) {
    if (event.registration === 'none') continue
    const key = [event.tpEvento, event.nSeqEvento, event.authorTaxId].join(' ')
    const [one, other] = [alertEvent(event), best.get(key)]
    const better =
      other === undefined || (one.text ?? '') > (other.text ?? '') || (one.text === other.text && one.at < other.at)
    if (better) best.set(key, one)
  }
  return [...best].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, event]) => event)
}

function alertEvent(event: EventFacts): AlertEvent {
  return {
    tpEvento: event.tpEvento,
    nSeqEvento: event.nSeqEvento,
    at: event.registeredAt ?? event.dhEvento,
    authorTaxId: event.authorTaxId,
    text: event.justification,
  }
}
