import { describe, expect, test } from 'vitest'
import { contactsOf, contactText } from './contacts.ts'
import type { AlertEvent, AlertFacts } from './facts.ts'
import { itemsOf, type NamedLine } from './items.ts'
import { judge } from './judge.ts'
import { forbiddenWords } from './rules/cancellation.ts'
import { defaultSettings } from './settings.ts'
import { createArchive } from './support/archive.ts'
import { companyOf, freight, insideOf, later, note, supplierOf } from './support/facts.ts'

// Each rule at its edge: where it just fires, where it just does not, and its innocent look-alike.

const company = companyOf(40_000_001, 'EMPRESA COMPRADORA LTDA')
const own = company.establishments[0]!.taxId
const supplier = supplierOf(50_000_001, 'METALURGICA ITAPEMIRIM LTDA')
const other = supplierOf(50_000_002, 'TECIDOS BELOVERDE LTDA')
const carrier = supplierOf(50_000_003, 'TRANSPORTES JURUQUARA LTDA')
const now = '2026-05-13T10:00:00'
const settings = { ...defaultSettings, asOf: Date.parse('2026-11-25T12:00:00Z') }

type Extra = Partial<Parameters<typeof note>[0]>

/** A document of the supplier some days after (or before) the tested moment. */
function of(days: number, amount: number, extra: Extra = {}): AlertFacts {
  return note({
    company,
    issuer: supplier,
    at: later(now, days * 1_440),
    amount,
    numero: 5_000 + Math.round(days * 10),
    ...extra,
  })
}

/** Documents of the past, `gap` days apart, the last one `gap` days before. */
function past(count: number, gap: number, amount: (n: number) => number, extra: Extra = {}): AlertFacts[] {
  return Array.from({ length: count }, (_, n) => of(-(n + 1) * gap, amount(n), extra))
}

const spread = (usual: number) => (n: number) => usual * (1 + ((n % 5) - 2) / 50)
const event = (tpEvento: number, days: number, more: Partial<AlertEvent> = {}): AlertEvent => ({
  tpEvento,
  nSeqEvento: 1,
  at: `${later(now, days * 1_440)}-03:00`,
  ...more,
})
const lorry = (days: number, amount: number, cites: string[], more: Partial<Parameters<typeof freight>[0]> = {}) =>
  freight({
    company,
    issuer: carrier,
    at: later(now, days * 1_440),
    amount,
    numero: 700 + Math.round(days * 10),
    cites,
    ...more,
  })

/** Habits of the company: 120 purchases of 10 to 1,200 reais in other months. */
const habits = Array.from({ length: 120 }, (_, n) =>
  note({
    company,
    issuer: other,
    at: later('2025-10-01T10:00:00', n * 1_500),
    amount: 10 * (n + 1),
    numero: 9_000 + n * 7,
  }),
)

/** A note of these products, and such notes ten days apart before. */
const inside = (days: number, lines: Partial<NamedLine>[], cfop = '5102', extra: Extra = {}) => {
  const found = insideOf(lines, cfop)
  const amount = found.lines.reduce((sum, { value }) => sum + value, 0) / 100
  return of(days, amount, { ...extra, nfe: { inside: found, cfops: [cfop], ...extra.nfe } })
}
const bolts = (price: number, of: Partial<NamedLine> = {}) => [{ product: 'PARAFUSO', price, ...of }]
const bought = (count: number, of: (n: number) => Partial<NamedLine>[], cfop = '5102') =>
  Array.from({ length: count }, (_, n) => inside(-10 * (n + 1), of(n), cfop))
const goingTo = (idDest: string, indPres = '0', elsewhere = false): Extra => ({
  nfe: { destination: { idDest, indPres, elsewhere } },
})
const cheap = (n: number) => bolts(100 + n)
const things = ['A|1|700', 'B|1|800']
const thing = (days: number, items: string[], issuer = supplier, amount = 1_500) =>
  of(days, amount, { issuer, nfe: { items } })

type Case = [rule: string, what: string, fires: boolean, facts: AlertFacts, before?: AlertFacts[]]

const stranger = supplierOf(50_000_004, 'GRAFICA NOVALANDIA LTDA')
const fresh = (amount: number, extra: Extra = {}) => of(0, amount, { issuer: stranger, ...extra })
const contingent = (uf: string, n: number) =>
  note({
    company,
    issuer: supplierOf(50_001_000 + n, `ATACADO ${uf}${n} LTDA`),
    at: later(now, n),
    amount: 50,
    numero: 77,
    tpEmis: '6',
  })
const shipped = of(-6, 400)
const paidBySender = of(-6, 400, { nfe: { modFrete: '0' } })
const first = lorry(-3, 100, [shipped.chave])
const cancelledAt = (days: number, cancelled: number, amount: number, items?: string[]) =>
  of(days, amount, { more: { events: [event(110111, cancelled)] }, ...(items && { nfe: { items } }) })

const [accountant, reader] = ['33444555000181', '66777888000191']
const read = (readers: string[]) => ({ more: { readers } })

const phone = 'fone 4733334444'
const newcomer = supplierOf(50_000_006, 'CERAMICA DORAPOLIS LTDA')
const called = (days: number, contacts: string[], issuer = supplier) =>
  of(days, 90, { issuer: { ...issuer, contacts }, numero: 3_000 + days })
const sharers = (count: number) =>
  Array.from({ length: count }, (_, n) => called(-9, [phone], supplierOf(50_002_000 + n, `ATACADO MIRIM ${n}`)))
const sent = (nfe: Extra['nfe'], extra: Extra = {}) =>
  of(0, 10_000, { issuer: { ...supplier, uf: 'SP', cUF: 35 }, nfe: { cfops: ['6102'], ...nfe }, ...extra })
const captured = (instant: string | null) => ({
  ...company,
  establishments: company.establishments.map((each) => ({ ...each, until: { nfe: instant, cte: instant } })),
})
const since = (instant: string) => ({
  ...company,
  establishments: company.establishments.map((each) => ({ ...each, since: instant })),
})

const cases: Case[] = [
  ['S26', 'CFOP 6 within a UF', true, inside(0, cheap(0), '6102', goingTo('2'))],
  ['S26', 'CFOP 5 within a UF', false, inside(0, cheap(0), '5102', goingTo('1'))],
  ['S26', 'CFOP 5 of what is said to go to another UF', true, inside(0, cheap(0), '5102', goingTo('2'))],
  [
    'S26',
    'CFOP 5 to another UF',
    true,
    inside(0, cheap(0), '5102', { ...goingTo('1'), issuer: { ...supplier, uf: 'PR' } }),
  ],
  [
    'S26',
    'CFOP 5 to somebody of another UF who came',
    false,
    inside(0, cheap(0), '5102', { ...goingTo('1', '1'), issuer: { ...supplier, uf: 'PR' } }),
  ],
  [
    'S26',
    'CFOP 5 delivered elsewhere',
    false,
    inside(0, cheap(0), '5102', { ...goingTo('1', '0', true), issuer: { ...supplier, uf: 'PR' } }),
  ],
  ['S27', 'a gift after five sales', true, inside(0, cheap(0), '5910'), bought(5, cheap)],
  ['S27', 'a gift after four sales', false, inside(0, cheap(0), '5910'), bought(4, cheap)],
  ['S27', 'another kind of sale', false, inside(0, cheap(0), '5405'), bought(5, cheap)],
  ['S27', 'the same from another UF', false, inside(0, cheap(0), '6910'), bought(5, cheap, '5910')],
  ['S28', 'a chapter never bought, of P75', true, inside(0, bolts(400, { ncm: '22041000' }))],
  ['S28', 'a chapter never bought, of little', false, inside(0, bolts(20, { ncm: '22041000' }))],
  ['S28', 'a chapter bought from others', false, inside(0, bolts(400))],
  [
    'S28',
    'a chapter that the supplier sold before in the same month',
    false,
    inside(0, bolts(400, { ncm: '22041000' })),
    [inside(-5, bolts(1, { ncm: '22041000' }))],
  ],
  ['S29', '60 % more than three before', true, inside(0, bolts(163.2)), bought(3, cheap)],
  ['S29', '60 % more than two before', false, inside(0, bolts(163.2)), bought(2, cheap)],
  ['S29', 'a quarter more', true, inside(0, bolts(126.25)), bought(3, cheap)],
  ['S29', 'less than a quarter more', false, inside(0, bolts(126)), bought(3, cheap)],
  ['S29', 'half', true, inside(0, bolts(50)), bought(3, cheap)],
  ['S29', 'a price that moves', false, inside(0, bolts(160)), bought(6, (n) => bolts(n % 2 === 0 ? 80 : 150))],
  ['S29', 'less than 100 reais of it', false, inside(0, bolts(200, { quantity: 0.4 })), bought(3, cheap)],
  [
    'S29',
    'another unit, by that of taxation',
    true,
    inside(0, bolts(2_000, { unit: 'CX', base: { unit: 'UN', price: 200 } })),
    bought(3, cheap),
  ],
  [
    'S29',
    'another unit at the same price by that of taxation',
    false,
    inside(0, bolts(2_000, { unit: 'CX', base: { unit: 'UN', price: 100 } })),
    bought(3, cheap),
  ],
  ['S29', 'another unit that says nothing', false, inside(0, bolts(2_000, { unit: 'CX' })), bought(3, cheap)],
  ['S30', 'more than five times the most of five', true, inside(0, bolts(100, { quantity: 51 })), bought(5, cheap)],
  ['S30', 'five times the most', false, inside(0, bolts(100, { quantity: 50 })), bought(5, cheap)],
  ['S30', 'of four before', false, inside(0, bolts(100, { quantity: 51 })), bought(4, cheap)],
  ['S31', 'no tax after five with', true, inside(0, bolts(100, { tax: '40' })), bought(5, cheap)],
  ['S31', 'no tax after four with', false, inside(0, bolts(100, { tax: '40' })), bought(4, cheap)],
  ['S31', 'three points of ICMS more', false, inside(0, bolts(100, { tax: '00 21' })), bought(5, cheap)],
  ['S31', 'four points of ICMS more', true, inside(0, bolts(100, { tax: '00 22' })), bought(5, cheap)],
  ['S31', 'a return', false, inside(0, bolts(100, { tax: '40' }), '5915'), bought(5, cheap)],
  [
    'S31',
    'one that one of the five had',
    false,
    inside(0, bolts(100, { tax: '40' })),
    bought(5, (n) => bolts(100, n === 4 ? { tax: '40' } : {})),
  ],
  [
    'S31',
    'a supplier that left the Simples',
    false,
    inside(0, bolts(100, { tax: '00 18' }), '5102', { more: { issuer: { ...supplier, crt: '3' } } }),
    bought(5, () => bolts(100, { tax: '102' })),
  ],
  ['S47', 'the same things of another a week before', true, thing(0, things), [thing(-7, things, other, 1_515)]],
  ['S47', 'eight days before', false, thing(0, things), [thing(-8, things, other)]],
  ['S47', 'more than a hundredth apart', false, thing(0, things), [thing(-7, things, other, 1_516)]],
  ['S47', 'other things', false, thing(0, things), [thing(-7, ['A|1|700', 'C|1|800'], other)]],
  ['S47', 'one thing', false, thing(0, ['A|1|1500']), [thing(-7, ['A|1|1500'], other)]],
  ['S47', 'of the same issuer', false, thing(0, things), [thing(-7, things)]],
  ['S01', 'a new supplier above P75 and 1,000', true, fresh(1_300)],
  ['S01', 'a new supplier below 1,000', false, fresh(999.99)],
  [
    'S01',
    'a new branch of a known base',
    false,
    of(0, 1_300, { issuer: { ...other, taxId: other.taxId.replace('0001', '0002') } }),
  ],
  ['S01', 'a transfer between own establishments', false, fresh(1_300, { more: { part: 'issues' } })],
  ['S01', 'a supplier silent for two years', true, of(0, 1_300), [of(-731, 1_300)]],
  ['S02', 'a new supplier below the floor', true, fresh(999.99)],
  ['S03', 'an outlier of the usual', true, of(0, 2_200), past(8, 20, spread(1_000))],
  ['S03', 'twice the usual', false, of(0, 2_000), past(8, 20, spread(1_000))],
  ['S03', 'three documents, more than three times the largest', true, of(0, 3_200), past(3, 20, spread(1_000))],
  ['S03', 'two documents', false, of(0, 9_000), past(2, 20, spread(1_000))],
  ['S03', 'less than 500', false, of(0, 499), past(8, 20, spread(20))],
  ['S04', 'above P99 and 10,000', true, fresh(10_000)],
  ['S04', 'below 10,000', false, fresh(9_999)],
  ['S04', 'a supplier of large documents', false, of(0, 30_000), past(3, 20, () => 16_000)],
  ['S05', 'after a year and a day, three times the median', true, of(0, 3_000), [of(-366, 1_000)]],
  ['S05', 'after less than a year', false, of(0, 3_000), [of(-364, 1_000)]],
  ['S05', 'less than three times', false, of(0, 2_999), [of(-366, 1_000)]],
  ['S06', 'the sixth in a day', true, of(0, 90), past(5, 0.1, spread(90))],
  ['S06', 'the fifth in a day', false, of(0, 90), past(4, 0.1, spread(90))],
  ['S06', 'a supplier of many a day', false, of(0, 90), past(80, 0.11, spread(90))],
  ['S07', 'three below the limit in 72 hours', true, of(0, 90_000), past(2, 1, spread(90_000))],
  ['S07', 'one of them four days ago', false, of(0, 90_000), past(2, 2, spread(90_000))],
  ['S07', 'at the limit', false, of(0, 100_000), past(2, 1, spread(90_000))],
  ['S07', 'a supplier of lorry loads', false, of(0, 90_000), past(12, 1, spread(90_000))],
  ['S08', 'a round value of a new supplier', true, fresh(10_000)],
  ['S08', 'not of whole thousands', false, fresh(10_500)],
  ['S09', 'at 22h of a new supplier', true, fresh(1_300, { at: '2026-05-13T22:00:00' })],
  ['S09', 'on Good Friday', true, fresh(1_300, { at: '2026-04-03T10:00:00' })],
  ['S09', 'at midnight to the second', false, fresh(1_300, { at: '2026-05-13T00:00:00' })],
  ['S09', 'at 22h, and nothing else', false, of(0, 90, { at: '2026-05-13T22:00:00' }), past(2, 20, spread(90))],
  ['S10', 'the same value five days later', true, of(0, 700, { summary: true }), [of(-5, 700.01)]],
  ['S10', 'the same value six days later', false, of(0, 700, { summary: true }), [of(-6, 700)]],
  ['S10', 'two cents more', false, of(0, 700.02, { summary: true }), [of(-1, 700)]],
  [
    'S10',
    'other items',
    false,
    of(0, 700, { nfe: { items: ['A', 'B'] } }),
    [of(-1, 700, { nfe: { items: ['C', 'D'] } })],
  ],
  [
    'S10',
    'a monthly bill',
    false,
    of(0, 700, { summary: true }),
    [of(-4, 700), of(-30, 700), of(-61, 700), of(-91, 700)],
  ],
  ['S10', 'another that was cancelled', false, of(0, 700, { summary: true }), [cancelledAt(-2, -1, 700)]],
  ['S11', 'the same number', true, of(0, 90, { numero: 40 }), [of(-3, 80, { numero: 40, cNF: '87654321' })]],
  ['S11', 'the same number of another série', false, of(0, 90, { numero: 40 }), [of(-3, 80, { numero: 40, serie: 2 })]],
  ['S11', 'the earlier of the two', false, of(0, 90, { numero: 40 }), [of(3, 80, { numero: 40, cNF: '87654321' })]],
  [
    'S12',
    'four numbers in a row in thirty days',
    true,
    of(0, 90, { numero: 44 }),
    [1, 2, 3].map((n) => of(-n * 10, 90 + n, { numero: 44 - n })),
  ],
  ['S12', 'in 27 days', false, of(0, 90, { numero: 44 }), [1, 2, 3].map((n) => of(-n * 9, 90 + n, { numero: 44 - n }))],
  [
    'S12',
    'one number between',
    false,
    of(0, 90, { numero: 44 }),
    [1, 2, 3].map((n) => of(-n * 10, 90 + n, { numero: 43 - n })),
  ],
  ['S13', 'number 50 above P90', true, fresh(1_500, { numero: 50 })],
  ['S13', 'number 51', false, fresh(1_500, { numero: 51 })],
  ['S13', 'série 2', false, fresh(1_500, { numero: 50, serie: 2 })],
  ['S14', 'a lower number a day later', true, of(0, 90, { numero: 40 }), [of(-1, 80, { numero: 41 })]],
  ['S14', 'a lower number an hour later', false, of(0, 90, { numero: 40 }), [of(-0.04, 80, { numero: 41 })]],
  ['S14', 'contingency', false, of(0, 90, { numero: 40, tpEmis: '9' }), [of(-1, 80, { numero: 41 })]],
  ['S15', 'authorised 25 hours later', true, of(0, 90, { more: { authorizedAt: '2026-05-14T11:00:01-03:00' } })],
  ['S15', 'authorised 24 hours later', false, of(0, 90, { more: { authorizedAt: '2026-05-14T10:00:00-03:00' } })],
  ['S15', 'authorised a quarter before', true, of(0, 90, { more: { authorizedAt: '2026-05-13T09:45:00-03:00' } })],
  [
    'S15',
    'contingency, three days later',
    false,
    of(0, 90, { tpEmis: '9', more: { authorizedAt: '2026-05-16T10:00:00-03:00' } }),
  ],
  ['S16', 'contingency after ten without', true, of(0, 90, { tpEmis: '6' }), past(10, 9, spread(90))],
  ['S16', 'contingency after nine', false, of(0, 90, { tpEmis: '6' }), past(9, 9, spread(90))],
  [
    'S16',
    'contingency of five suppliers',
    false,
    of(0, 90, { tpEmis: '6' }),
    [...past(10, 9, spread(90)), ...[1, 2, 3, 4].map((n) => contingent('SC', n))],
  ],
  [
    'S17',
    'a name one letter away',
    true,
    fresh(90),
    [of(-40, 90, { issuer: { ...stranger, taxId: supplier.taxId, name: 'GRAFICA NOVALANDYA LTDA' } })],
  ],
  [
    'S17',
    'a name with another word',
    false,
    fresh(90),
    [of(-40, 90, { issuer: { ...stranger, taxId: supplier.taxId, name: 'GRAFICA NOVAPOLIS LTDA' } })],
  ],
  ['S18', 'another IE', true, of(0, 90, { issuer: { ...supplier, ie: '1' } }), past(1, 9, spread(90))],
  [
    'S18',
    'the IE written otherwise',
    false,
    of(0, 90, { issuer: { ...supplier, ie: '0150.000.001' } }),
    past(1, 9, spread(90)),
  ],
  [
    'S19',
    'the telephone of another, first seen 180 days ago',
    true,
    called(0, [phone]),
    [called(-180, [phone], newcomer)],
  ],
  ['S19', 'first seen 181 days ago', false, called(0, [phone]), [called(-181, [phone], newcomer)]],
  ['S19', 'first seen later', false, called(0, [phone]), [called(1, [phone], newcomer)]],
  ['S19', 'another telephone', false, called(0, [phone]), [called(-9, ['fone 4733335555'], newcomer)]],
  ['S19', 'told with an earlier note', false, called(0, [phone]), [called(-9, [phone], newcomer), called(-5, [phone])]],
  ['S19', 'an earlier note without it', true, called(0, [phone]), [called(-9, [phone], newcomer), called(-5, [])]],
  [
    'S19',
    'the earlier note is from before',
    true,
    called(0, [phone]),
    [called(-9, [phone], newcomer), called(-20, [phone])],
  ],
  ['S19', 'shared by five', true, called(0, [phone]), sharers(4)],
  ['S19', 'shared by six', false, called(0, [phone]), sharers(5)],
  [
    'S20',
    'an IE that is not ours',
    true,
    of(0, 90, { more: { recipient: { taxId: own, name: 'EMPRESA COMPRADORA', ie: '1', uf: 'SC' } } }),
  ],
  ['S20', 'another UF', true, of(0, 90, { more: { recipient: { taxId: own, name: 'EMPRESA COMPRADORA', uf: 'AM' } } })],
  [
    'S20',
    'our IE with dots',
    false,
    of(0, 90, { more: { recipient: { taxId: own, name: 'EMPRESA COMPRADORA', ie: '250.123.456', uf: 'SC' } } }),
  ],
  ['S21', 'from another UF, without transport', true, sent({})],
  ['S21', 'less than 10,000', false, sent({}, { amount: 9_999.99 })],
  ['S21', 'a carrier is named', false, sent({ modFrete: '0', transport: { named: true, plate: false } })],
  ['S21', 'freight by the sender, and nobody is named', true, sent({ modFrete: '0' })],
  ['S21', 'no transport, and a carrier is named', true, sent({ transport: { named: true, plate: false } })],
  ['S21', 'in a vehicle of the sender', false, sent({ modFrete: '3', transport: { named: false, plate: true } })],
  ['S21', 'in the same UF', false, sent({}, { issuer: supplier })],
  ['S21', 'a service', false, sent({ cfops: ['6102', '6933'] })],
  ['S21', 'sold before, delivered later', false, sent({ cfops: ['6922'] })],
  ['S21', 'a CT-e cites it', false, sent({}), [lorry(3, 300, [sent({}).chave])]],
  [
    'S21',
    'a cancelled CT-e cites it',
    true,
    sent({}),
    [lorry(3, 300, [sent({}).chave], { more: { events: [event(110111, 4)] } })],
  ],
  ['S21', 'it passed a border', false, sent({}, { more: { events: [event(610500, 1)] } })],
  ['S21', 'CT-e stand still since the ninth day', false, sent({}, { company: captured('2026-05-22T10:00:00-03:00') })],
  ['S21', 'CT-e that came until the tenth day', true, sent({}, { company: captured('2026-05-23T10:00:00-03:00') })],
  ['S21', 'CT-e of which some are missing', false, sent({}, { company: captured(null) })],
  ['S21', 'a CT-e that was cancelled', true, sent({}, { more: { events: [event(610600, 1), event(610601, 2)] } })],
  [
    'S21',
    'a CT-e cancelled and another',
    false,
    sent({}, { more: { events: [event(610600, 1), event(610601, 2), event(610600, 3, { nSeqEvento: 2 })] } }),
  ],
  ['S21', 'CT-e are not captured', false, sent({}, { company: { ...company, captures: { nfe: true, cte: false } } })],
  ['S21', 'issued before the capture', false, sent({}, { company: since('2026-05-14T00:00:00Z') })],
  ['S22', 'parcels that do not add up', true, of(0, 90, { nfe: { dup: [{ vDup: '80.00' }] } })],
  ['S22', 'parcels that add up to a cent', false, of(0, 90, { nfe: { dup: [{ vDup: '45.00' }, { vDup: '45.01' }] } })],
  ['S22', 'a sale without payment', true, of(0, 90, { nfe: { tPag: ['90'] } })],
  ['S22', 'a shipment without payment', false, of(0, 90, { nfe: { tPag: ['90'], cfops: ['5915'] } })],
  ['S23', 'items that are more than the total', true, of(0, 90, { nfe: { sums: { vProd: 9_100 } } })],
  ['S23', 'vNF eleven cents off', true, of(0, 90, { nfe: { totals: { vProd: '89.89' }, sums: { vProd: 8_989 } } })],
  ['S23', 'vNF ten cents off', false, of(0, 90, { nfe: { totals: { vProd: '89.90' }, sums: { vProd: 8_990 } } })],
  [
    'S23',
    'desoneração taken off',
    false,
    of(0, 90, { nfe: { totals: { vProd: '95.00', vICMSDeson: '5.00' }, sums: { vProd: 9_500 } } }),
  ],
  ['S24', 'an altered document', true, of(0, 90, { more: { proof: 'altered' } })],
  ['S24', 'a hidden one', false, of(0, 90, { more: { proof: 'hidden' } })],
  ['S24', 'no protocol', true, of(0, 90, { more: { situation: 'no-protocol' } })],
  ['S24', 'a wrong check digit', true, wrongDigit(of(0, 90))],
  ['S24', 'another number than the chave', true, of(0, 90, { more: { stated: { numero: '1' } } })],
  ['S24', 'another digest than the resumo', true, of(0, 90, { more: { summaryDigest: 'x' } })],
  ['S25', 'homologação', true, of(0, 90, { more: { tpAmb: '2' } })],
  ['S25', 'a sample without commercial value', false, of(0, 90, { more: { natOp: 'AMOSTRA SEM VALOR COMERCIAL' } })],
  [
    'S25',
    'homologação, in homologação',
    false,
    of(0, 90, { more: { tpAmb: '2', company: { ...company, tpAmb: '2' } } }),
  ],
  ['S32', 'a reader whom five notes do not name', true, of(0, 90, read([reader])), past(5, 9, spread(90))],
  ['S32', 'after four notes', false, of(0, 90, read([reader])), past(4, 9, spread(90))],
  [
    'S32',
    'the accountant of a supplier',
    false,
    of(0, 90, read([accountant])),
    past(5, 9, spread(90), read([accountant])),
  ],
  [
    'S32',
    'a branch of who read before',
    false,
    of(0, 90, read([accountant.replace('0001', '0002')])),
    past(5, 9, spread(90), read([accountant])),
  ],
  [
    'S32',
    'notes of which it is not known',
    false,
    of(0, 90, read([reader])),
    past(5, 9, spread(90), { summary: true }),
  ],
  ['S33', 'an entry in our name', true, of(0, 90, { more: { tpNF: '0' } })],
  ['S33', 'a nota de crédito', false, of(0, 90, { nfe: { finNFe: '5' }, more: { tpNF: '0' } })],
  ['S35', 'a nota de crédito', true, of(0, 90, { nfe: { finNFe: '5' }, more: { tpNF: '0' } })],
  ['S35', 'a nota de débito', true, of(0, 90, { nfe: { finNFe: '6' } })],
  ['S35', 'a return', false, of(0, 90, { nfe: { finNFe: '4' } })],
  [
    'S36',
    'cancelled after our Ciência',
    true,
    of(0, 90, { more: { events: [event(210210, 1, { authorTaxId: own }), event(110111, 2)] } }),
  ],
  [
    'S36',
    'cancelled before our Ciência',
    false,
    of(0, 90, { more: { events: [event(210210, 3, { authorTaxId: own }), event(110111, 2)] } }),
  ],
  [
    'S36',
    'cancelled after the Ciência of another',
    false,
    of(0, 90, { more: { events: [event(210210, 1, { authorTaxId: other.taxId }), event(110111, 2)] } }),
  ],
  [
    'S37',
    'issued again with another value',
    true,
    of(0, 920, { nfe: { items: ['A'] } }),
    [cancelledAt(-2, -1, 900, ['A'])],
  ],
  [
    'S37',
    'issued again a per cent off',
    false,
    of(0, 909, { nfe: { items: ['A'] } }),
    [cancelledAt(-2, -1, 900, ['A'])],
  ],
  ['S37', 'other items', false, of(0, 920, { nfe: { items: ['B'] } }), [cancelledAt(-2, -1, 900, ['A'])]],
  [
    'S38',
    'the third cancelled of three',
    true,
    cancelledAt(0, 1, 300),
    [cancelledAt(-9, -8, 100), cancelledAt(-18, -17, 200)],
  ],
  ['S38', 'the second', false, cancelledAt(0, 1, 300), [cancelledAt(-9, -8, 100)]],
  [
    'S38',
    'the third of sixteen',
    false,
    cancelledAt(0, 1, 300),
    [cancelledAt(-9, -8, 100), cancelledAt(-18, -17, 200), ...past(13, 5.5, spread(90))],
  ],
  [
    'S39',
    'a letter about the value',
    true,
    of(0, 90, { more: { events: [event(110110, 1, { text: 'Valor correto: 10' })] } }),
  ],
  [
    'S39',
    'replaced by a harmless one',
    false,
    of(0, 90, {
      more: { events: [event(110110, 1, { text: 'Valor' }), event(110110, 2, { text: 'Placa ABC', nSeqEvento: 2 })] },
    }),
  ],
  ['S40', 'eight days later', true, of(0, 90, { more: { events: [event(110110, 8, { text: 'Placa' })] } })],
  ['S40', 'six days later', false, of(0, 90, { more: { events: [event(110110, 6, { text: 'Placa' })] } })],
  [
    'S40',
    'after our Confirmação',
    true,
    of(0, 90, { more: { events: [event(210200, 1, { authorTaxId: own }), event(110110, 2, { text: 'Placa' })] } }),
  ],
  ['S41', 'the same note, way and payer', true, lorry(0, 101, [shipped.chave]), [shipped, first]],
  ['S41', 'a redespacho', false, lorry(0, 101, [shipped.chave], { cte: { tpServ: '2' } }), [shipped, first]],
  ['S41', 'another city', false, lorry(0, 101, [shipped.chave], { cte: { cMunFim: '4202404' } }), [shipped, first]],
  ['S42', 'more than 15 % of the load', true, lorry(0, 151, [], { cte: { vCarga: '1000.00' } })],
  ['S42', '15 % of the load', false, lorry(0, 150, [], { cte: { vCarga: '1000.00' } })],
  ['S43', 'the note says that the sender pays', true, lorry(0, 100, [paidBySender.chave]), [paidBySender]],
  ['S43', 'the note says nothing', false, lorry(0, 100, [shipped.chave]), [shipped]],
  ['S44', 'no note is here', true, lorry(0, 100, [shipped.chave])],
  ['S44', 'the note is here', false, lorry(0, 100, [shipped.chave]), [shipped]],
  ['S45', 'a complement of 11 %', true, lorry(0, 11, [first.chave], { cte: { tpCTe: '1' } }), [first]],
  ['S45', 'a complement of 10 %', false, lorry(0, 10, [first.chave], { cte: { tpCTe: '1' } }), [first]],
  ['S46', 'new to three companies in a week', true, fresh(90), campaign(2, 6)],
  ['S46', 'new to two', false, fresh(90), campaign(1, 6)],
  ['S46', 'known to a third for long', false, fresh(90), [...campaign(2, 6), ...campaign(3, -40).slice(2)]],
]

describe.each(cases)('%s', (rule, what, fires, facts, before = []) => {
  test(`${what}: ${fires ? 'fires' : 'is silent'}`, () => {
    const archive = createArchive([...habits, ...before, facts])
    const { fired } = judge(facts, archive.history(facts), settings)
    expect(
      fired
        .filter(({ learning }) => !learning)
        .map(({ id }) => id)
        .includes(rule),
    ).toBe(fires)
  })
})

test.each([
  [
    '2026-12-30T10:00:00',
    'Nota de crédito do fornecedor: exige resposta (evento 211128); não muda o que a empresa paga, porque em 2026 IBS e CBS são só de teste.',
  ],
  [
    '2027-01-04T10:00:00',
    'Nota de crédito do fornecedor, de R$ 90,00: exige resposta (evento 211128); se for aceita, reduz o seu crédito de IBS e CBS.',
  ],
])('S35 of %s', (at, sentence) => {
  const facts = of(0, 90, { at, nfe: { finNFe: '5' }, more: { tpNF: '0' } })
  const { fired } = judge(facts, createArchive([]).history(facts), settings)
  expect(fired.find(({ id }) => id === 'S35')?.sentence).toBe(sentence)
})

test('S21 waits ten days for a trace', () => {
  const archive = createArchive([])
  const facts = sent({})
  const early = judge(facts, archive.history(facts), { ...settings, asOf: Date.parse('2026-05-23T12:59:59Z') })
  expect(early.fired.map(({ id }) => id)).not.toContain('S21')
  const late = judge(facts, archive.history(facts), { ...settings, asOf: early.againAt! })
  expect(late.fired.find(({ id }) => id === 'S21')?.sentence).toBe(
    'Mercadoria de R$ 10.000,00 de SP para SC, declarada sem transporte (modFrete 9), e 10 dias depois nenhum CT-e cita a nota nem há registro de MDF-e, de passagem ou de entrega.',
  )
})

test('contacts that say nothing are none, and what says the same is one key', () => {
  const address = { CEP: '89010-000', xLgr: 'Rua XV de Novembro', nro: '1.200', xCpl: 'Sala 3' }
  expect(contactsOf({ fone: '04733334444', email: ' Vendas@Exemplo.com.br', ...address })).toEqual([
    'fone 4733334444',
    'email vendas@exemplo.com.br',
    'end 89010000/RUA XV DE NOVEMBRO/1 200/SALA 3',
  ])
  expect(contactsOf({ fone: '55 (47) 3333-4444' })).toEqual(['fone 4733334444'])
  for (const emit of [{ fone: '33334444' }, { fone: '4790000000' }, { email: 'sem email' }, { ...address, nro: 'S/N' }])
    expect(contactsOf(emit)).toEqual([])
  expect(contactsOf({ CEP: '89010000', xLgr: 'RUA XV DE NOVEMBRO', nro: '1200' }).map(contactText)).toEqual([
    'o endereço RUA XV DE NOVEMBRO, 1200 (CEP 89010-000)',
  ])
})

test.each([
  ['nfe', 'ALÍQUOTA do ICMS', ['alíquota']],
  ['nfe', 'Endereço do destinatário: Rua Um', []],
  ['nfe', 'Quantidade de volumes 3, sem alteração de valor', []],
  ['nfe', 'Data de saída 10/05', ['data de emissão ou saída']],
  ['cte', 'compl/xObs: valor do pedido', []],
  ['cte', 'vPrest/vTPrest: 10.00; ide/cfop: 6353', ['valor']],
] as const)('%s: %s', (type, text, words) => {
  expect(forbiddenWords(type, text)).toEqual(words)
})

test('a document of a family that no rule names gets no verdict', () => {
  const facts = { ...wrongDigit(of(0, 90)), deadline: '2026-11-26T12:00:00Z' }
  const verdictOf = (type: string) => {
    const other = { ...facts, type: type as AlertFacts['type'] }
    return judge(other, createArchive().history(other), settings)
  }
  expect(verdictOf('nfe').fired.map(({ id }) => id)).toEqual(expect.arrayContaining(['S24', 'S49']))
  expect(verdictOf('other')).toMatchObject({ score: 0, fired: [], againAt: null })
})

function wrongDigit(facts: AlertFacts): AlertFacts {
  return { ...facts, chave: facts.chave.slice(0, 43) + String((Number(facts.chave.at(-1)) + 1) % 10) }
}

function campaign(companies: number, days: number): AlertFacts[] {
  return Array.from({ length: companies }, (_, n) =>
    of(days - n, 90, { issuer: stranger, company: companyOf(40_000_010 + n, `EMPRESA ${n} LTDA`) }),
  )
}

test('the items of a note are summed by product and unit, and what has no GTIN goes by its code and NCM', () => {
  const det = (prod: Record<string, string>, ICMS = {}) => ({ prod, ICMS }) as never
  const bolt = { cProd: '7', NCM: '73181500', CFOP: '5102', uCom: 'un ', uTrib: 'UN', vUnTrib: '2', cEAN: 'SEM GTIN' }
  const box = {
    cProd: '8',
    NCM: '22041000',
    CFOP: '5405',
    uCom: 'CX',
    uTrib: 'GF',
    vUnTrib: '5',
    cEAN: '7898744790959',
  }
  const found = itemsOf({
    det: [
      det({ ...bolt, qCom: '10', vUnCom: '2', vProd: '20.00' }, { CST: '00', pICMS: '18.00', vICMS: '3.60' }),
      det({ ...bolt, qCom: '30', vUnCom: '4', vProd: '120.00' }, { CST: '20', pICMS: '7.00', vICMS: '8.40' }),
      det({ ...box, qCom: '2', vUnCom: '60', vProd: '120.01', xProd: 'VINHO' }, { CSOSN: '500' }),
      det({ cProd: 'S', NCM: '00', CFOP: '5933', uCom: 'UN', qCom: '1', vUnCom: '9', vProd: '9.00' }),
    ],
  })
  expect(found.cfops).toEqual({ '5102': 14_000, '5405': 12_001, '5933': 900 })
  expect(found.chapters).toEqual({ '73': 14_000, '22': 12_001 })
  expect(found.lines.slice(0, 2)).toMatchObject([
    { product: '7 73181500', unit: 'UN', quantity: 40, price: 3.5, tax: '20 7', value: 14_000, vICMS: 1_200 },
    { product: '7898744790959', unit: 'CX', quantity: 2, price: 60, base: { unit: 'GF', price: 5 }, tax: '500' },
  ])
})
