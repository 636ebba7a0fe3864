import fc from 'fast-check'
import type { Service } from '../platform/service.ts'
import type { Arrival } from './arrival.ts'
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
} from './testing.ts'

// Stories of documents and events for order.test.ts, and a simple model of what the projection must make of them.

export const cnpjs = [company, '12ABC34501DE35']
const stranger = '77888999000181'

// A copy of a document or of an event, as the authority might deliver it to one of the two companies.
export interface Copy {
  to: number
  type: Service
  nsu: number
  /** Which of a few documents. */
  number: number
}
export interface DocumentCopy extends Copy {
  what: 'document'
  summary: boolean
  situation: 'authorized' | 'denied' | 'cancelled'
}
export interface EventCopy extends Copy {
  what: 'event'
  how: 'full' | 'summary' | 'duplicate' | 'refused'
  code: number
  seq: number
  hour: number
  protocol: string | null
  /** Of the event that it says it takes back. */
  names: string | null
  /** 110001: the code that it says it takes back. */
  namesCode: number | null
}

/** A complete, authorised NF-e of the first company. */
export const documentOf = (copy: Partial<DocumentCopy> = {}): DocumentCopy => ({
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

// Who has which part in document `number`. All companies and several parts at once occur.
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
const rolesOfNote = (number: number, cnpj: string) => {
  const { issuer, recipient, carrier, readers } = notes[number]!
  return [
    ...(issuer === cnpj ? [0] : []),
    ...(recipient === cnpj ? [1] : []),
    ...(carrier === cnpj ? [2] : []),
    ...(readers.includes(cnpj) ? [3] : []),
  ]
}
// By number of the transport and company, worked out by hand.
const rolesOfTransport = [
  [[1, 7], [3]],
  [
    [4, 5],
    [6, 7],
  ],
  [[6], [0]],
]

const time = (hour: number) =>
  `2026-11-${String(11 + Math.floor(hour / 24)).padStart(2, '0')}T${String(hour % 24).padStart(2, '0')}:00:00-03:00`
const issuedAt = (number: number) => `2026-${number === 2 ? '10' : '11'}-0${number + 1}T09:15:00-03:00`
const amountOf = (copy: DocumentCopy) => `${100 * (copy.number + 1)}.${String(copy.nsu).padStart(2, '0')}`
export const chave = ({ type, number }: Pick<Copy, 'type' | 'number'>) =>
  type === 'nfe'
    ? chaveOf({ number: number + 1, issuer: notes[number]!.issuer })
    : cteChaveOf({ number: number + 1, issuer: transports[number]!.issuer })

export function arrivalOf(copy: DocumentCopy | EventCopy): Arrival {
  return arrive(copy.nsu, copy.what === 'document' ? documentXml(copy) : eventXml(copy))
}

function documentXml(copy: DocumentCopy): string {
  const common = { number: copy.number + 1, issuedAt: issuedAt(copy.number), amount: amountOf(copy) }
  const cStat = { authorized: '100', denied: '302', cancelled: '101' }[copy.situation]
  if (copy.type === 'cte') return cteProc({ ...transports[copy.number]!, ...common, cStat })
  if (!copy.summary) return nfeProc({ ...notes[copy.number]!, ...common, cStat })
  const cSitNFe = { authorized: '1', denied: '2', cancelled: '3' }[copy.situation]
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

// What each code weighs, which status it gives and what it takes back, written down a second time from docs/decisions/0012.
const codes = {
  nfe: {
    110001: { weight: 20 },
    110110: { weight: 40 },
    110111: { weight: 100, status: 3 },
    110130: { weight: 20 },
    110131: { weight: 20, undoes: 110130 },
    110150: { weight: 20 },
    210200: { weight: 80, status: 6 },
    210210: { weight: 60, status: 8 },
    211110: { weight: 20 },
    400200: { weight: 90 },
    400201: { weight: 20, undoes: 400200 },
    610615: { weight: 20 },
    999123: { weight: 20 },
  },
  cte: {
    110110: { weight: 40, status: 7 },
    110111: { weight: 100, status: 3 },
    240130: { weight: 20 },
    240131: { weight: 20, undoes: 240130 },
    240140: { weight: 70 },
    310610: { weight: 20 },
    610110: { weight: 50 },
    610111: { weight: 20, undoes: 610110 },
  },
} as const
type Meaning = { weight: number; status?: number; undoes?: number }
export const meaning = (event: EventCopy) => (codes[event.type] as Record<number, Meaning>)[event.code]!

// --- The model: what must be there, from the copies alone and without any order of arrival.

const first = <T>(list: T[], before: (a: T, b: T) => number) => [...list].sort(before)[0]
const proof = { full: 0, summary: 1, duplicate: 2, refused: 3 }

function groups<T extends Copy>(copies: T[], extra: (copy: T) => string = () => ''): T[][] {
  return Object.values(Object.groupBy(copies, (copy) => `${copy.to} ${chave(copy)} ${extra(copy)}`)) as T[][]
}

export function modelEvents(copies: EventCopy[]) {
  const kept = groups(copies, ({ code, seq }) => `${code} ${seq}`).map(
    (same) => first(same, (a, b) => proof[a.how] - proof[b.how] || a.nsu - b.nsu)!,
  )
  const undone = new Set<EventCopy>()
  for (const ofOne of groups(kept))
    for (const event of undoneOf(ofOne.filter(({ how }) => how !== 'refused'))) undone.add(event)
  return kept.map((event) => ({ event, undone: undone.has(event) }))
}

// The order in which the authority registered: a protocol that nobody told stands before all of its second.
const later = (a: EventCopy, b: EventCopy) => b.hour - a.hour || protocolNumber(b) - protocolNumber(a)
const protocolNumber = (event: EventCopy) => Number(protocolOf(event) ?? -1)
const protocolOf = (event: EventCopy) => (event.how === 'summary' && event.protocol === null ? '1' : event.protocol)

function undoneOf(registered: EventCopy[]): Set<EventCopy> {
  // A summary tells no names.
  const claims = registered.flatMap((by) => {
    const told = by.how !== 'summary'
    const code = meaning(by).undoes ?? (by.code === 110001 && told ? by.namesCode : null)
    const protocol = told && (by.code === 110001 || meaning(by).undoes) ? by.names : null
    return code || protocol ? [{ by, code, protocol }] : []
  })
  const mayBe = registered.filter((event) => meaning(event).weight < 100 && !claims.some(({ by }) => by === event))
  const undone = new Set<EventCopy>()
  const vague = claims.filter(({ code, protocol }) => {
    const named = mayBe.filter(
      (event) => protocol !== null && protocolOf(event) === protocol && (!code || event.code === code),
    )
    for (const event of named) undone.add(event)
    return named.length === 0
  })
  for (const { by, code, protocol } of vague.sort(
    ({ by: a }, { by: b }) => later(b, a) || a.code - b.code || a.seq - b.seq,
  )) {
    const open = mayBe.filter(
      (event) =>
        event.code === code &&
        event.hour <= by.hour &&
        !undone.has(event) &&
        (protocol === null || protocolOf(event) === null),
    )
    const known = (event: EventCopy) => protocolOf(event) !== null && protocolOf(by) !== null
    const came = open.filter((event) => !known(event) || later(event, by) >= 0)
    const last = first(came.length > 0 ? came : open, (a, b) => later(a, b) || b.seq - a.seq)
    if (last) undone.add(last)
  }
  return undone
}

export function modelDocuments(copies: (DocumentCopy | EventCopy)[]) {
  const events = modelEvents(copies.filter((copy) => copy.what === 'event'))
  return groups(copies.filter((copy) => copy.what === 'document')).map((same) => {
    const best = first(same, (a, b) => Number(a.summary) - Number(b.summary) || a.nsu - b.nsu)!
    const mine = events.filter(
      ({ event }) => event.to === best.to && event.how !== 'refused' && chave(event) === chave(best),
    )
    const standing = mine
      .filter(({ undone }) => !undone)
      .map(({ event }) => event)
      .sort((a, b) => meaning(b).weight - meaning(a).weight || later(a, b) || b.code - a.code || b.seq - a.seq)
    const base = same.some(({ situation }) => situation === 'cancelled')
      ? 3
      : same.some(({ situation }) => situation === 'denied')
        ? 9
        : same.every(({ summary }) => summary)
          ? 1
          : 2
    const ended = base === 3 || base === 9
    const roles = new Set<number>()
    for (const { summary } of same) {
      const { type, number, to } = best
      const named = type === 'cte' ? rolesOfTransport[number]![to]! : rolesOfNote(number, cnpjs[to]!)
      const told = summary ? [...named.filter((role) => role === 0), 1] : named
      for (const role of told.length === 0 ? [8] : told) roles.add(role)
    }
    // The second company is the one whom the interested-party event admits; a summary does not name anybody.
    if (best.to === 1 && mine.some(({ event }) => event.code === 110150 && event.how !== 'summary')) roles.add(2)
    const saying = standing.find((event) => meaning(event).status)
    return {
      to: best.to,
      chave: chave(best),
      nsu: String(best.nsu),
      complete: !best.summary,
      amount: amountOf(best),
      roles: [...roles].reduce((mask, role) => mask | (1 << role), 0),
      base_status: base,
      status: ended || !saying ? base : meaning(saying).status!,
      event_code: ended || standing.length === 0 ? { 1: 0, 2: 100, 3: 110111, 9: 302 }[base] : standing[0]!.code,
      event_text: !ended && standing[0]?.code === 999123 ? 'Evento 999123' : null,
    }
  })
}

// --- What may happen.

const place = fc.record({ to: fc.constantFrom(0, 1), number: fc.nat({ max: 2 }) })
const documentCopy = fc
  .record({
    place,
    type: fc.constantFrom<Service>('nfe', 'cte'),
    summary: fc.boolean(),
    situation: fc.constantFrom('authorized', 'authorized', 'authorized', 'authorized', 'denied', 'cancelled'),
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
      names: event.code === 110001 || (codes[type] as Record<number, Meaning>)[event.code]!.undoes ? event.names : null,
    }))

// A registration has a protocol; a statement of duplicity may keep it to itself.
function protocolFor(how: EventCopy['how'], drawn: string | null): string | null {
  if (how === 'refused') return null
  return how === 'duplicate' ? drawn : (drawn ?? '891260000000004')
}

const codesOf = (type: Service) => Object.keys(codes[type]).map(Number)
// What happened to one document: now anything, now again and again the two of a pair.
const happened = fc.oneof(
  fc.array(eventCopy('nfe', codesOf('nfe'), ['full', 'full', 'summary', 'duplicate', 'refused']), { maxLength: 8 }),
  fc.array(eventCopy('cte', codesOf('cte'), ['full', 'full', 'duplicate', 'refused']), { maxLength: 8 }),
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
      order: fc.shuffledSubarray<DocumentCopy | EventCopy>(copies, { minLength: copies.length }),
      repeated: fc.array(fc.constantFrom<DocumentCopy | EventCopy>(...copies), { maxLength: 6 }),
      sizes: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 4 }),
      large: fc.boolean(),
    }),
  )

export const byKey = (a: { to: number; chave: string }, b: { to: number; chave: string }) =>
  a.to - b.to || (a.chave < b.chave ? -1 : a.chave > b.chave ? 1 : 0)
