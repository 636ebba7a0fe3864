import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { contentsOf, readDetails, readReceived } from '@vigia/dfe/read'
import { describe, expect, test } from 'vitest'
import { findSamples } from '../../../tests/support/samples.ts'
import { type Around, auditFreight } from './audit.ts'
import { type Note, type Trip, tripOf } from './trip.ts'

const buyer = '11222333000181'
const seller = '44555666000181'
const carrier = { taxId: '77888999000181', name: 'TRANSPORTES JURUQUARA' }
const keyOf = (mod: string, number: number, issuer = seller) =>
  `352605${issuer}${mod}001${String(number).padStart(9, '0')}1123456780`
const chave = keyOf('55', 7)

const trip = (of: Partial<Trip> = {}, number = 100): Trip => ({
  chave: keyOf('57', number, carrier.taxId),
  issuedAt: '2026-05-10T10:00:00-03:00',
  standing: true,
  carrier,
  payer: buyer,
  recipient: buyer,
  tpCTe: '0',
  tpServ: '0',
  from: { uf: 'SP', cMun: '3550308', name: 'São Paulo' },
  to: { uf: 'SC', cMun: '4209102', name: 'Joinville' },
  vTPrest: '300.00',
  vCarga: '5000.00',
  kilos: 200,
  notes: [chave],
  cites: 1,
  ...of,
})
const note = (of: Partial<Note> = {}): Note => ({
  chave,
  standing: true,
  issuer: seller,
  recipient: buyer,
  amount: '5000.00',
  tpNF: '1',
  modFrete: '1',
  ...of,
})
const around = (of: Partial<Around> = {}): Around => ({
  companyBase: buyer.slice(0, 8),
  capturesNotes: true,
  asOf: Date.parse('2026-06-01T00:00:00Z'),
  notes: [note()],
  sameNotes: [],
  lane: [],
  ...of,
})
const codes = (one: Trip, of: Partial<Around> = {}) => auditFreight(one, around(of)).map(({ code }) => code)
const day = (date: string) => ({ issuedAt: `${date}T10:00:00-03:00` })

describe('a freight that was charged before', () => {
  const first = trip({ ...day('2026-05-08'), vTPrest: '280.00' }, 90)

  test('is told with both bills and the notes', () => {
    expect(auditFreight(trip(), around({ sameNotes: [first] }))).toEqual([
      {
        code: 'fr-dobro',
        sentence:
          'O frete da nota nº 7 no mesmo trajeto já foi cobrado pela mesma transportadora no CT-e nº 90 de 08/05/2026: R$ 280,00, e agora R$ 300,00.',
        inputs: { vTPrest: 30_000, other: 28_000, notes: 1 },
        documents: [first.chave, chave],
      },
    ])
  })

  test.each<[string, Trip, Trip, Note?]>([
    ['the first of the two', first, trip()],
    ['a cancelled one', trip(), { ...first, standing: false }],
    ['another carrier', trip(), { ...first, carrier: { taxId: '99888777000100', name: 'OUTRA' } }],
    ['another tomador', trip(), { ...first, payer: seller }],
    ['another city', trip(), { ...first, to: { uf: 'SC', cMun: '4205407' } }],
    ['a complement', trip({ tpCTe: '1' }), first],
    ['a substituto', trip({ tpCTe: '3' }), first],
    ['a redespacho', trip(), { ...first, tpServ: '2' }],
    [
      'each with notes of its own',
      trip({ notes: [chave, keyOf('55', 8)] }),
      { ...first, notes: [chave, keyOf('55', 9)] },
    ],
    ['a load in two lorries', trip({ vCarga: '2400.00' }), { ...first, vCarga: '2600.00' }],
  ])('is silent on %s', (_, one, other) => {
    expect(codes(one, { sameNotes: [other] })).toEqual([])
  })

  test('is found where one of them carries more', () => {
    expect(codes(trip({ notes: [chave, keyOf('55', 8)] }), { sameNotes: [first] })).toEqual(['fr-dobro'])
  })
})

describe('the payer', () => {
  test.each<[string, Partial<Trip>, Partial<Note>, boolean]>([
    ['the recipient, by modFrete 0', {}, { modFrete: '0' }, true],
    ['the recipient, by modFrete 1', {}, { modFrete: '1' }, false],
    ['the issuer, by modFrete 1', { payer: seller }, { modFrete: '1' }, true],
    ['the issuer, by modFrete 0', { payer: seller }, { modFrete: '0' }, false],
    ['a branch of who pays', { payer: '11222333000262' }, { modFrete: '1' }, false],
    ['by modFrete 2', {}, { modFrete: '2' }, false],
    ['by a resumo', {}, { modFrete: undefined }, false],
    ['by an entry note', {}, { modFrete: '0', tpNF: '0' }, false],
    ['by a cancelled note', {}, { modFrete: '0', standing: false }, false],
    ['of a complement', { tpCTe: '1' }, { modFrete: '0' }, true],
    ['of a redespacho', { tpServ: '1' }, { modFrete: '0' }, false],
  ])('%s', (_, one, other, wrong) => {
    expect(codes(trip(one), { notes: [note(other)] })).toEqual(wrong ? ['fr-tomador'] : [])
  })

  test('is named with who pays by the note', () => {
    const [finding] = auditFreight(trip(), around({ notes: [note({ modFrete: '0' })] }))
    expect(finding).toMatchObject({
      sentence:
        'O frete de R$ 300,00 foi cobrado de 11.222.333/0001-81, mas na NF-e nº 7 o frete é CIF, por conta do remetente, 44.555.666/0001-81.',
      documents: [chave],
    })
  })
})

describe('a CT-e without note', () => {
  test.each<[string, Partial<Trip>, Partial<Around>, boolean]>([
    ['that cites none', { notes: [], cites: 0 }, {}, true],
    ['whose note is not here', {}, { notes: [] }, true],
    ['whose note may still come', {}, { notes: [], asOf: Date.parse('2026-05-15T12:59:59Z') }, false],
    ['whose notes are ours', { notes: [keyOf('55', 7, buyer)] }, { notes: [] }, false],
    ['where notes are not captured', {}, { notes: [], capturesNotes: false }, false],
    ['of somebody else', { payer: seller, recipient: seller }, { notes: [] }, false],
    ['that is paid and not received', { recipient: seller }, { notes: [] }, false],
    ['that is received and not paid', { payer: seller }, { notes: [] }, true],
    ['that cites the CT-e of another carrier', { notes: [] }, {}, false],
    ['a CT-e OS', { notes: [], cites: 0, chave: keyOf('67', 1) }, {}, false],
  ])('%s', (_, one, of, found) => {
    expect(codes(trip(one), of)).toEqual(found ? ['fr-sem-nota'] : [])
  })
})

describe('a freight far from what is usual', () => {
  const lane = (count: number, of: Partial<Trip> = {}) =>
    Array.from({ length: count }, (_, n) => trip({ ...day(`2026-04-${String(n + 1).padStart(2, '0')}`), ...of }, n + 1))

  test('is told per value and per kilo, with the median', () => {
    const found = auditFreight(trip({ vTPrest: '750.00' }), around({ lane: lane(8) }))
    expect(found.map(({ sentence }) => sentence)).toEqual([
      'O frete de R$ 750,00 é 15% do valor da carga, 2,5 vezes a mediana de 8 viagens anteriores de São Paulo (SP) a Joinville (SC) (6%).',
      'O frete de R$ 750,00 é R$ 3,75 por quilo, 2,5 vezes a mediana de 8 viagens anteriores de São Paulo (SP) a Joinville (SC) (R$ 1,50).',
    ])
    expect(found[0]!.documents.length).toBe(8)
  })

  test.each<[string, Partial<Trip>, Trip[], string[]]>([
    ['twice the median', { vTPrest: '600.00' }, lane(8), []],
    ['seven trips', { vTPrest: '750.00' }, lane(7), []],
    ['eight, of which one is later', { vTPrest: '750.00' }, [...lane(7), trip(day('2026-05-11'), 8)], []],
    [
      'eight, of which one was cancelled',
      { vTPrest: '750.00' },
      [...lane(7), trip({ ...day('2026-05-01'), standing: false }, 8)],
      [],
    ],
    [
      'eight between other cities of the UF',
      { vTPrest: '750.00' },
      lane(8, { to: { uf: 'SC', cMun: '4205407' } }),
      ['fr-valor', 'fr-quilo'],
    ],
    ['eight to another UF', { vTPrest: '750.00' }, lane(8, { to: { uf: 'PR', cMun: '4106902' } }), []],
    ['a small load for the usual freight', { vCarga: '100.00', kilos: 2 }, lane(8), []],
    ['no weight', { vTPrest: '750.00', kilos: undefined }, lane(8), ['fr-valor']],
    ['no value', { vTPrest: '750.00', vCarga: undefined }, lane(8), ['fr-quilo']],
  ])('%s', (_, of, earlier, found) => {
    expect(codes(trip(of), { lane: earlier })).toEqual(found)
  })
})

// As what their own tomador has, with all the others as neighbours.
test.skipIf(findSamples() === null)('the sample documents have the findings that a person understands', () => {
  const read = ['nfe', 'cte'].flatMap((folder) =>
    readdirSync(join(findSamples()!, folder))
      .sort()
      .map((name) => {
        const xml = readFileSync(join(findSamples()!, folder, name))
        return { name, facts: readReceived(xml).facts, details: readDetails(xml) }
      }),
  )
  const trips: { name: string; trip: Trip }[] = []
  const notes: Note[] = []
  for (const { name, facts, details } of read) {
    const contents = details && contentsOf(details)
    if (facts.kind !== 'document' || !contents) continue
    const { chave, issuedAt, situation, amount, issuerTaxId, recipientTaxId: recipient } = facts
    const standing = situation === 'authorized'
    if (contents.type === 'cte')
      trips.push({ name, trip: { ...tripOf(contents), chave, issuedAt, standing, recipient } })
    else {
      const { tpNF, modFrete } = contents.head
      notes.push({ recipient, tpNF, modFrete, chave, standing, issuer: issuerTaxId, amount })
    }
  }
  const all = trips.map((one) => one.trip)
  const found = trips.flatMap(({ name, trip }) =>
    auditFreight(trip, {
      companyBase: trip.payer?.slice(0, 8) ?? '',
      capturesNotes: true,
      asOf: Date.parse('2026-11-25T12:00:00Z'),
      notes: notes.filter((one) => trip.notes.includes(one.chave)),
      sameNotes: all.filter((one) => one.chave !== trip.chave && one.notes.some((key) => trip.notes.includes(key))),
      lane: all,
    }).map(({ code, sentence }) => `${name} ${code} ${sentence}`),
  )
  expect(trips.filter((one) => one.trip.kilos !== undefined && one.trip.vCarga !== undefined).length).toBeGreaterThan(
    10,
  )
  expect(found).toMatchInlineSnapshot(`
    [
      "procCTe-4.00-aereo.xml fr-sem-nota O CT-e de R$ 47,00 cita a nota nº 58625, que não foi recebida em cinco dias.",
      "procCTe-4.00-aquaviario.xml fr-dobro O frete da nota nº 58625 no mesmo trajeto já foi cobrado pela mesma transportadora no CT-e nº 574 de 01/01/2020: R$ 47,00, e agora R$ 47,00.",
      "procCTe-4.00-aquaviario.xml fr-sem-nota O CT-e de R$ 47,00 cita a nota nº 58625, que não foi recebida em cinco dias.",
      "procCTe-4.00-ibscbs-infnf.xml fr-sem-nota O CT-e de R$ 1.000,00 não cita nenhuma NF-e: confira que carga foi cobrada.",
      "procCTe-4.00-multimodal.xml fr-dobro O frete da nota nº 58625 no mesmo trajeto já foi cobrado pela mesma transportadora no CT-e nº 574 de 01/01/2020: R$ 47,00, e agora R$ 47,00.",
      "procCTe-4.00-multimodal.xml fr-sem-nota O CT-e de R$ 47,00 cita a nota nº 58625, que não foi recebida em cinco dias.",
      "procCTe-4.00-rodoviario-toma-remetente.xml fr-dobro O frete da nota nº 849104089 no mesmo trajeto já foi cobrado pela mesma transportadora no CT-e nº 4107 de 27/03/2024: R$ 221,19, e agora R$ 221,19.",
      "procCTe-v2.00.xml fr-sem-nota O CT-e de R$ 2.500,00 cita a nota nº 17207, que não foi recebida em cinco dias.",
    ]
  `)
})
