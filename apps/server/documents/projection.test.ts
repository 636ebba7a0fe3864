import type { Proof } from '@vigia/dfe/proof'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../tests/support/seed.ts'
import type { Arrival } from './arrival.ts'
import { arrivalOf, cnpjs, documentOf, eventOf, story } from './list/order.testing.ts'
import { type Changes, type EventRow, type Move, type ProjectedDocument, project, rowsOf } from './projection.ts'
import { arrive, company, cteProc, evento, eventoCte, nfeProc, resEvento } from './testing.ts'

// Documents and events of a company after these pages: a store in memory instead of the tables.
function received(pages: readonly Arrival[][], cnpj: string = company) {
  const documents = new Map<string, ProjectedDocument>()
  const events = new Map<string, EventRow>()
  const counted = new Map<string, number>()
  const seen = new Set<bigint>()
  for (const page of pages) {
    const fresh = page.filter(({ nsu }) => !seen.has(nsu))
    for (const { nsu } of fresh) seen.add(nsu)
    const rows = rowsOf(fresh, cnpj)
    const touched = new Set([...rows.documents, ...rows.events].map(({ chave }) => chave))
    const changes = project(
      {
        documents: [...documents.values()].filter(({ chave }) => touched.has(chave)).map(withoutFacts),
        events: [...events.values()].filter(({ chave }) => touched.has(chave)).map(withoutTexts),
      },
      rows,
      { cnpj, now: new Date() },
    )
    for (const { isNew: _, ...row } of changes.documents) documents.set(row.chave, row)
    for (const { isNew: _, ...row } of changes.standings)
      documents.set(row.chave, { ...documents.get(row.chave)!, ...row })
    for (const row of [...changes.events, ...changes.undone])
      events.set(keyOf(row), { ...events.get(keyOf(row)), ...row } as EventRow)
    for (const move of changes.moves) {
      const place = placeOf(move)
      counted.set(place, (counted.get(place) ?? 0) + move.sign)
    }
  }
  return {
    documents: [...documents.values()].sort((a, b) => (a.chave < b.chave ? -1 : 1)),
    events: [...events.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    counted: Object.fromEntries([...counted].filter(([, n]) => n !== 0).sort()),
  }
}

const keyOf = ({ chave, tp_evento, sequence, orgao }: Changes['undone'][number]) =>
  [chave, tp_evento, sequence, orgao].join(' ')
const placeOf = ({ issued_at, amount, roles, status }: Omit<Move, 'sign'>) =>
  [issued_at, amount, roles, status].join(' ')
// As they are read from the tables.
const withoutFacts = ({ search: _, ...row }: ProjectedDocument) => ({ ...row, own_answers: null })
const withoutTexts = ({ happened_at: _, ...row }: EventRow) => row

const proofs = fc.array(fc.constantFrom<Proof>('proved', 'hidden', 'altered'), { minLength: 1, maxLength: 8 })

test('whatever comes in whatever order and pages, the rows are those of one page with everything', () => {
  fc.assert(
    fc.property(story, fc.integer({ min: 1, max: 8 }), proofs, ({ order, repeated }, size, proofs) => {
      const provedArrivalOf = (copy: (typeof order)[number]): Arrival => {
        const arrival = arrivalOf(copy)
        const isProved = copy.what === 'document' && !copy.summary
        return isProved ? { ...arrival, proof: proofs[copy.nsu % proofs.length]! } : arrival
      }
      for (const to of [0, 1]) {
        const arrivals = [...order, ...repeated].filter((copy) => copy.to === to).map(provedArrivalOf)
        const pages = Array.from({ length: Math.ceil(arrivals.length / size) }, (_, index) => {
          const page = arrivals.slice(index * size, (index + 1) * size)
          return [...new Map(page.map((arrival) => [arrival.nsu, arrival])).values()]
        })
        const all = [...new Map(arrivals.map((arrival) => [arrival.nsu, arrival])).values()]
        const whole = received([all.sort((a, b) => Number(a.nsu - b.nsu))], cnpjs[to])
        expect(received(pages, cnpjs[to])).toEqual(whole)
        expect(Object.values(whole.counted).reduce((sum, n) => sum + n, 0)).toBe(whole.documents.length)
        for (const row of whole.documents) expect(whole.counted[placeOf(row)]).toBeGreaterThan(0)
      }
    }),
    { numRuns: runs(1_000) },
  )
})

// Each list in the order of the weights of docs/decisions/0012-what-an-event-does.md; events of one weight stand together.
test.each([
  ['nfe', [[110111], [400200], [210200, 210220, 210240], [210210], [110110], [211110, 610615, 999123]]],
  ['cte', [[110111], [240140], [610110], [110110], [310610, 240130]]],
] as const)(
  'of two events of an %s the heavier one is displayed, and of two of one weight the later one',
  (type, weights) => {
    const weighed = weights.flatMap((codes, weight) => codes.map((code) => ({ code, weight })))
    for (const first of weighed) {
      for (const second of weighed) {
        if (first.code === second.code) continue
        const copies = [
          documentOf({ type }),
          eventOf({ type, nsu: 2, code: first.code, hour: 1 }),
          eventOf({ type, nsu: 3, code: second.code, hour: 2 }),
        ]
        const displayed = first.weight < second.weight ? first.code : second.code
        expect(received([copies.map(arrivalOf)]).documents).toMatchObject([{ event_code: displayed }])
      }
    }
  },
)

test('of two events registered in the same second the one with the greater protocol is displayed', () => {
  for (const [confirmed, notPerformed, displayed] of [
    [{ protocol: '891260000000009' }, { protocol: '891260000000008' }, 210200],
    [{ protocol: '891260000000008' }, { protocol: '891260000000009', how: 'summary' }, 210240],
    // A longer number is a greater one.
    [{ protocol: '1000000000' }, { protocol: '999999999' }, 210200],
    [{ protocol: '1' }, { protocol: null, how: 'duplicate' }, 210200],
  ] as const) {
    const arrivals = [
      documentOf(),
      eventOf({ nsu: 2, code: 210200, ...confirmed }),
      eventOf({ nsu: 3, code: 210240, ...notPerformed }),
    ].map(arrivalOf)
    expect(received([arrivals]).documents).toMatchObject([{ event_code: displayed }])
    expect(received([arrivals.toReversed()]).documents).toMatchObject([{ event_code: displayed }])
  }
})

test('an undo takes back what was registered before it in the same second, not what came after it', () => {
  const delivery = { type: 'cte' as const, code: 240130, hour: 1 }
  const copies = [
    eventOf({ ...delivery, nsu: 1, seq: 1, how: 'duplicate', protocol: '11' }),
    eventOf({ ...delivery, nsu: 2, seq: 2, protocol: '13' }),
    eventOf({ ...delivery, nsu: 3, code: 240131, protocol: '12' }),
  ]
  expect(received([copies.map(arrivalOf)]).events).toMatchObject([
    { undone: true },
    { undone: false },
    { undone: false },
  ])
})

test.each([
  ['a cancellation', [evento(110111)], { status: 3, event_code: 110111 }],
  ['a cancellation as a summary', [resEvento(110111)], { status: 3, event_code: 110111 }],
  ['a rejected cancellation', [evento(110111, { cStat: '594' })], { status: 2 }],
  ['a confirmation after ciência', [evento(210210), evento(210200)], { status: 6, event_code: 210200 }],
  ['ciência after goods were seen on the road', [resEvento(610610), evento(210210)], { status: 8, event_code: 210210 }],
  [
    'the last of two conclusive answers',
    [evento(210200, { at: '2026-11-12T10:00:00-03:00' }), evento(210220, { at: '2026-11-11T10:00:00-03:00' })],
    { status: 6, event_code: 210200 },
  ],
  ['a correction letter', [evento(110110)], { status: 2, event_code: 110110 }],
  ['a transport document', [resEvento(610614)], { status: 2, event_code: 610614 }],
  [
    'its cancellation',
    [resEvento(610614, { at: '2026-11-11T10:00:00-03:00' }), resEvento(610615, { at: '2026-11-12T10:00:00-03:00' })],
    { status: 2, event_code: 610615 },
  ],
  [
    'an event nobody knows',
    [resEvento(999_123, { description: 'Evento do futuro' })],
    { status: 2, event_code: 999123, event_text: 'Evento do futuro' },
  ],
])('%s gives its status, also when it arrives before the note', (_, events, expected) => {
  const arrivals = [nfeProc(), ...events].map((xml, index) => arrive(1 + index, xml))
  expect(received([arrivals]).documents).toMatchObject([expected])
  expect(received(arrivals.toReversed().map((arrival) => [arrival]))).toEqual(received([arrivals]))
})

const day = (number: number) => `2026-11-${number}T10:00:00-03:00`

describe('what is taken back no longer counts', () => {
  const desacordo = (seq: number, protocol: string | null, at = day(10 + seq)) =>
    eventoCte(610110, { seq, at, protocol, cStat: protocol === null ? '631' : '135' })
  const undone = (seq: number, at: string, protocol?: string) =>
    eventoCte(610111, { seq, at, detail: protocol && `<nProtEvPrestDes>${protocol}</nProtEvPrestDes>` })
  const delivery = (options: object = {}) => evento(110130, { at: day(11), protocol: '135260000000001', ...options })
  const noDelivery = (protocol: string, options: object = {}) =>
    evento(110131, { at: day(12), detail: `<nProtEvento>${protocol}</nProtEvento>`, ...options })
  const cancelledEvent = (code: number, protocol: string) =>
    evento(110001, { at: day(13), detail: `<tpEventoAut>${code}</tpEventoAut><nProtEvento>${protocol}</nProtEvento>` })

  test.each<[string, string, string[], object, number[]]>([
    ['a desacordo', cteProc(), [desacordo(1, '1'), undone(1, day(20), '1')], { event_code: 610111 }, [610110]],
    [
      'a desacordo that nothing took back',
      cteProc(),
      [desacordo(1, '1'), eventoCte(310620, { at: day(20) })],
      { event_code: 610110 },
      [],
    ],
    [
      'the desacordo that is named, of two',
      cteProc(),
      [desacordo(1, '1'), desacordo(2, '2'), undone(1, day(20), '1')],
      { event_code: 610110 },
      [610110],
    ],
    [
      'both desacordos',
      cteProc(),
      [desacordo(1, '1'), desacordo(2, '2'), undone(1, day(20), '1'), undone(2, day(21), '2')],
      { event_code: 610111 },
      [610110, 610110],
    ],
    [
      'a desacordo that is not here yet',
      cteProc(),
      [desacordo(2, '2'), undone(1, day(20), '1')],
      { event_code: 610110 },
      [],
    ],
    [
      'a desacordo without known protocol',
      cteProc(),
      [desacordo(1, null), undone(1, day(20), '1')],
      { event_code: 610111 },
      [610110],
    ],
    [
      'a desacordo before a new one',
      cteProc(),
      [desacordo(1, null), undone(1, day(15)), desacordo(2, '2', day(16))],
      { event_code: 610110 },
      [610110],
    ],
    [
      'a desacordo, but not the correction',
      cteProc(),
      [desacordo(1, '1'), undone(1, day(20), '1'), eventoCte(110110)],
      { event_code: 110110, status: 7 },
      [610110],
    ],
    [
      'a complement',
      cteProc(),
      [eventoCte(240130), eventoCte(240131, { at: day(12) })],
      { event_code: 240131 },
      [240130],
    ],
    [
      'nothing: a substitution stays over a desacordo',
      cteProc(),
      [eventoCte(240140), desacordo(1, '1')],
      { event_code: 240140, status: 2 },
      [],
    ],
    ['a delivery', nfeProc(), [delivery(), noDelivery('135260000000001')], { event_code: 110131 }, [110130]],
    [
      'a delivery, told in summaries',
      nfeProc(),
      [resEvento(110130, { at: day(11) }), resEvento(110131, { at: day(12) })],
      { event_code: 110131 },
      [110130],
    ],
    [
      'no delivery of later',
      nfeProc(),
      [resEvento(110130, { at: day(14) }), resEvento(110131, { at: day(12) })],
      { event_code: 110130 },
      [],
    ],
    [
      'nothing by what was refused',
      nfeProc(),
      [delivery(), noDelivery('135260000000001', { cStat: '594' })],
      { event_code: 110130 },
      [],
    ],
    [
      'an event of the tax reform',
      nfeProc(),
      [evento(211110, { protocol: '135260000000007' }), cancelledEvent(211110, '135260000000007')],
      { event_code: 110001 },
      [211110],
    ],
    [
      'not an event of another code',
      nfeProc(),
      [evento(211110, { protocol: '135260000000007', at: day(14) }), cancelledEvent(211128, '135260000000007')],
      { event_code: 211110 },
      [],
    ],
    [
      'never the cancellation of a note',
      nfeProc(),
      [evento(110111, { protocol: '135260000000008' }), cancelledEvent(110111, '135260000000008')],
      { event_code: 110111, status: 3 },
      [],
    ],
    [
      'nothing: an unfit note says so over a confirmation',
      nfeProc(),
      [evento(210200), evento(400200)],
      { event_code: 400200, status: 6 },
      [],
    ],
    [
      'what makes a note unfit',
      nfeProc(),
      [evento(210200), evento(400200), evento(400201, { at: day(20) })],
      { event_code: 210200, status: 6 },
      [400200],
    ],
  ])('%s', (_, document, events, shown, taken) => {
    const arrivals = [document, ...events].map((xml, index) => arrive(1 + index, xml))
    const whole = received([arrivals])
    expect(whole.documents).toMatchObject([shown])
    expect(whole.events.filter(({ undone }) => undone).map(({ tp_evento }) => tp_evento)).toEqual(taken)
    expect(received(arrivals.toReversed().map((arrival) => [arrival]))).toEqual(whole)
  })
})
