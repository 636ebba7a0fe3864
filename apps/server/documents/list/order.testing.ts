import fc from 'fast-check'
import type { Service } from '../../platform/service.ts'
import type { Arrival } from '../arrival.ts'
import {
  arrive,
  chaveOf,
  company,
  cteChaveOf,
  cteProc,
  evento,
  eventoCte,
  nfeProc,
  resEvento,
  resNFe,
} from '../testing.ts'

// Stories of documents and events for the tests of their order.

export const cnpjs = [company, '12ABC34501DE35']
const stranger = '77888999000181'

// A copy of a document or of an event, as the authority might deliver it to one of the two companies.
export interface Copy {
  to: number
  type: Service
  nsu: number
  /** Index of one of a few documents. */
  number: number
}
export interface CopyDraft extends Copy {
  what: 'document'
  summary: boolean
  situation: 'authorized' | 'denied' | 'cancelled' | 'no-protocol'
}
export interface EventCopy extends Copy {
  what: 'event'
  how: 'full' | 'summary' | 'duplicate' | 'refused'
  code: number
  seq: number
  hour: number
  protocol: string | null
  /** Protocol of the event that it claims to undo. */
  names: string | null
  /** 110001: the code that it says it takes back. */
  namesCode: number | null
}

/** A complete, authorised NF-e of the first company. */
export const documentOf = (copy: Partial<CopyDraft> = {}): CopyDraft => ({
  what: 'document',
  to: 0,
  type: 'nfe',
  nsu: 1,
  number: 0,
  summary: false,
  situation: 'authorized',
  ...copy,
})

/** A registered event of the first company's first document. */
export const eventOf = (copy: Pick<EventCopy, 'nsu' | 'code'> & Partial<EventCopy>): EventCopy => ({
  what: 'event',
  to: 0,
  type: 'nfe',
  number: 0,
  how: 'full',
  seq: 1,
  hour: 1,
  protocol: '1',
  names: null,
  namesCode: null,
  ...copy,
})

// Parts in document `number`. All companies and several parts at once occur.
const notes = [
  { issuer: '11222333000181', recipient: cnpjs[0]!, carrier: stranger, readers: [cnpjs[1]!] },
  { issuer: cnpjs[0]!, recipient: cnpjs[1]!, carrier: cnpjs[0]!, readers: [] },
  { issuer: '12ABC34501DE35', recipient: stranger, carrier: stranger, readers: [cnpjs[1]!, stranger] },
]
const transports = [
  { sender: stranger, recipient: cnpjs[0]!, payer: 3 as const, readers: [cnpjs[1]!] },
  { sender: cnpjs[0]!, recipient: stranger, shipper: cnpjs[0]!, receiver: cnpjs[1]!, payer: cnpjs[1]!, readers: [] },
  { issuer: cnpjs[1]!, sender: stranger, recipient: stranger, receiver: cnpjs[0]!, payer: 1 as const, readers: [] },
]

const time = (hour: number) =>
  `2026-11-${String(11 + Math.floor(hour / 24)).padStart(2, '0')}T${String(hour % 24).padStart(2, '0')}:00:00-03:00`
const issuedAt = (number: number) => `2026-${number === 2 ? '10' : '11'}-0${number + 1}T09:15:00-03:00`
const amountOf = (copy: CopyDraft) => `${100 * (copy.number + 1)}.${String(copy.nsu).padStart(2, '0')}`
export const chave = ({ type, number }: Pick<Copy, 'type' | 'number'>) =>
  type === 'nfe'
    ? chaveOf({ number: number + 1, issuer: notes[number]!.issuer })
    : cteChaveOf({ number: number + 1, issuer: transports[number]!.issuer })

export function arrivalOf(copy: CopyDraft | EventCopy): Arrival {
  return arrive(copy.nsu, copy.what === 'document' ? documentXml(copy) : eventXml(copy))
}

function documentXml(copy: CopyDraft): string {
  const common = { number: copy.number + 1, issuedAt: issuedAt(copy.number), amount: amountOf(copy) }
  const cStat = { authorized: '100', denied: '302', cancelled: '101', 'no-protocol': '' }[copy.situation]
  const whole = (xml: string) => (cStat ? xml : xml.replace(/<prot(NFe|CTe) .*<\/prot\1>/, ''))
  if (copy.type === 'cte') return whole(cteProc({ ...transports[copy.number]!, ...common, cStat }))
  if (!copy.summary) return whole(nfeProc({ ...notes[copy.number]!, ...common, cStat }))
  const cSitNFe = { authorized: '1', denied: '2', cancelled: '3', 'no-protocol': '1' }[copy.situation]
  return resNFe({ issuer: notes[copy.number]!.issuer, ...common, cSitNFe })
}

function eventXml({ type, number, how, code, seq, hour, protocol, names, namesCode }: EventCopy): string {
  const common = { number: number + 1, seq, at: time(hour), description: `Evento ${code}` }
  const names110001 = namesCode === null ? '' : `<tpEventoAut>${namesCode}</tpEventoAut>`
  const element = type === 'nfe' ? 'nProtEvento' : 'nProtEvPrestDes'
  const detail = names110001 + (names === null ? '' : `<${element}>${names}</${element}>`)
  const answer = {
    full: { cStat: '135', protocol },
    summary: {},
    refused: { cStat: '594', protocol: null },
    duplicate: {
      cStat: type === 'nfe' ? '573' : '631',
      protocol: null,
      xMotivo: `Rejeicao: Duplicidade${protocol === null ? '' : ` [nProt:${protocol}][dhRegEvento:${time(hour)}]`}`,
    },
  }[how]
  if (type === 'cte') return eventoCte(code, { ...common, ...answer, detail, issuer: transports[number]!.issuer })
  const { issuer } = notes[number]!
  if (how === 'summary') return resEvento(code, { ...common, issuer, protocol: protocol ?? '1' })
  return evento(code, { ...common, ...answer, detail, issuer, named: code === 110150 ? cnpjs[1] : undefined })
}

// The events that may happen, and which of them take back another one; 110001 names what it takes back.
const codes = {
  nfe: [110001, 110110, 110111, 110130, 110131, 110150, 210200, 210210, 211110, 400200, 400201, 610615, 999123],
  cte: [110110, 110111, 240130, 240131, 240140, 310610, 610110, 610111],
}
const undos = [110001, 110131, 400201, 240131, 610111]

const place = fc.record({ to: fc.constantFrom(0, 1), number: fc.nat({ max: 2 }) })
const documentCopy = fc
  .record({
    place,
    type: fc.constantFrom<Service>('nfe', 'cte'),
    summary: fc.boolean(),
    situation: fc.constantFrom(
      ...['authorized' as const, 'authorized' as const, 'authorized' as const],
      ...['no-protocol' as const, 'denied' as const, 'cancelled' as const],
    ),
  })
  .map(
    ({ place, type, summary, situation }) =>
      ({ what: 'document', ...place, type, summary: summary && type === 'nfe', situation }) as const,
  )

// One is shorter: as text it would be the greatest.
const protocol = fc.constantFrom('891260000000001', '891260000000002', '99126000000000', null)
const eventCopy = (type: Service, list: number[], how: EventCopy['how'][]) =>
  fc
    .record({
      how: fc.constantFrom(...how),
      code: fc.constantFrom(...list),
      seq: fc.constantFrom(1, 2, 3),
      // Several in the same second, and never many hours apart.
      hour: fc.oneof(fc.nat({ max: 2 }), fc.nat({ max: 30 })),
      protocol,
      names: fc.oneof(protocol, fc.constant(null)),
      namesCode: fc.constantFrom(211110, 110130, 110111, null),
    })
    .map((event) => ({
      what: 'event' as const,
      type,
      ...event,
      protocol: protocolFor(event.how, event.protocol),
      namesCode: event.code === 110001 ? event.namesCode : null,
      names: undos.includes(event.code) ? event.names : null,
    }))

// A registration has a protocol; a statement of duplicity may keep it to itself.
function protocolFor(how: EventCopy['how'], drawn: string | null): string | null {
  if (how === 'refused') return null
  return how === 'duplicate' ? drawn : (drawn ?? '891260000000004')
}

// Events of one document: sometimes any, sometimes repetitions of one pair.
const happened = fc.oneof(
  fc.array(eventCopy('nfe', codes.nfe, ['full', 'full', 'summary', 'duplicate', 'refused']), { maxLength: 8 }),
  fc.array(eventCopy('cte', codes.cte, ['full', 'full', 'duplicate', 'refused']), { maxLength: 8 }),
  fc.array(eventCopy('nfe', [110130, 110131], ['full', 'summary', 'summary', 'duplicate']), {
    minLength: 2,
    maxLength: 9,
  }),
  fc.array(eventCopy('nfe', [110001, 110001, 211110, 110130], ['full']), { minLength: 2, maxLength: 6 }),
  fc.array(eventCopy('nfe', [400200, 400201, 210200], ['full', 'summary']), { minLength: 2, maxLength: 6 }),
  fc.array(eventCopy('cte', [610110, 610111], ['full', 'duplicate']), { minLength: 2, maxLength: 9 }),
  fc.array(eventCopy('cte', [240130, 240131, 110110], ['full', 'duplicate']), { minLength: 2, maxLength: 6 }),
)
const events = fc
  .record({ place, happened })
  .map(({ place, happened }) => happened.map((event) => ({ ...place, ...event })))

export const story = fc
  .record({
    documents: fc.array(documentCopy, { minLength: 2, maxLength: 12 }),
    events: fc.array(events, { minLength: 1, maxLength: 5 }),
  })
  .map(({ documents, events }) => [...documents, ...events.flat()].map((copy, index) => ({ ...copy, nsu: index + 1 })))
  .chain((copies) =>
    fc.record({
      order: fc.shuffledSubarray<CopyDraft | EventCopy>(copies, { minLength: copies.length }),
      repeated: fc.array(fc.constantFrom<CopyDraft | EventCopy>(...copies), { maxLength: 6 }),
      sizes: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 4 }),
    }),
  )
