import { value, type XmlElement } from '@vigia/dfe/document'
import { namespaceOf, type SoapEnvelope } from '../soap.ts'
import { formProblem, hasText, readSentEvent, type SentEvent } from './event.ts'
import type { EventService } from './services.ts'

/** The events of a message, or the code that rejects it; for a lote its number, if readable. */
export interface EventMessage {
  refused?: number
  idLote: string
  events: SentEvent[]
}

const eventsMax = 20

/** Rules B and C over the data of a request to a service that receives events. */
export function readEventMessage(service: EventService, envelope: SoapEnvelope): EventMessage {
  const { data } = envelope
  const root = data.children[0]
  const message: EventMessage = { idLote: '0', events: [] }
  if (envelope.sourceBytes > service.messageBytesMax) return { ...message, refused: 214 }
  if (root === undefined || data.children.length > 1 || hasText(data)) return { ...message, refused: 215 }
  if (namespaceOf(root, envelope.ancestors) !== service.messageNamespace) return { ...message, refused: 215 }
  const read = service.service === 'nfe' ? readLote(root, envelope) : readSingle(root, envelope)
  if (read.refused !== undefined) return read
  const problem = formProblem(root, service.messageNamespace)
  const codes = service.service === 'nfe' ? { namespace: 587, editing: 588 } : { namespace: 598, editing: 599 }
  if (problem !== null) return { ...read, refused: { ...codes, prefix: 404 }[problem] }
  if (!envelope.utf8) return { ...read, refused: 402 }
  return service.service === 'cte' && root.attributes.versao !== '4.00' ? { ...read, refused: 239 } : read
}

function readLote(root: XmlElement, { ancestors, source }: SoapEnvelope): EventMessage {
  const { versao } = root.attributes
  if (root.name !== 'envEvento' || versao === undefined)
    return { refused: root.name === 'envEvento' ? 517 : 516, idLote: '0', events: [] }
  const written = value(root, 'idLote') ?? ''
  const isNumber = /^[0-9]{1,15}$/.test(written)
  const idLote = isNumber ? written : '0'
  const wrong: EventMessage = { refused: 225, idLote, events: [] }
  const [first, ...elements] = root.children
  if (versao !== '1.00' || first?.name !== 'idLote' || !isNumber || hasText(root)) return wrong
  if (elements.length === 0 || elements.length > eventsMax) return wrong
  const inside = [...ancestors, root]
  const events = elements.map((one) =>
    one.attributes.versao === '1.00' ? readSentEvent('nfe', one, inside, source) : null,
  )
  return events.every((one) => one !== null) ? { idLote, events } : wrong
}

function readSingle(root: XmlElement, { ancestors, source }: SoapEnvelope): EventMessage {
  const versao = root.attributes.versao ?? ''
  const event = /^[0-9]\.[0-9]{2}$/.test(versao) ? readSentEvent('cte', root, ancestors, source) : null
  return event === null ? { refused: 215, idLote: '0', events: [] } : { idLote: '0', events: [event] }
}
