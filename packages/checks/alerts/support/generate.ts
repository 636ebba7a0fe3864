import type { AlertCompany, AlertEvent, AlertFacts } from '../facts.ts'
import type { NamedLine } from '../items.ts'
import { normalName } from '../names.ts'
import { cnpjOf, companyOf, freight, insideOf, later, note, randomOf, type Supplier, supplierOf } from './facts.ts'

export { freight, later, note, randomOf, supplierOf } from './facts.ts'

// Two years of a workspace of four companies, with planted cases for each rule and innocent
// look-alikes of its guard. The truth comes from the generator, not from the rules.

export interface Generated {
  documents: AlertFacts[]
  /** Rules that must fire, by chave. Any other rule is wrong, unless it is in `maybe`. */
  must: Map<string, string[]>
  maybe: Map<string, string[]>
  /** Rules for which a document is an innocent look-alike. */
  innocent: Map<string, string[]>
  groups: string[][]
}

const begin = '2024-11-01T09:00:00'
/** When the verdicts are asked. */
export const asOf = Date.parse('2027-01-31T00:00:00Z')
const day = 24 * 60

export function generate(seed: number, { suppliers = 120, cases = 6 } = {}): Generated {
  const random = randomOf(seed)
  const whole = (from: number, to: number) => from + Math.floor(random() * (to - from + 1))
  const pick = <T>(some: readonly T[]) => some[whole(0, some.length - 1)]!
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const made: Generated = { documents: [], must: new Map(), maybe: new Map(), innocent: new Map(), groups: [] }
  const companies = [1, 2, 3, 4].map((n) => companyOf(40_000_000 + n, `EMPRESA COMPRADORA ${'ABCD'[n - 1]} LTDA`))
  let bases = 50_000_000
  const names = new Set<string>()

  function newName(): string {
    for (;;) {
      const name = randomName(random)
      if (!names.has(normalName(name)) && names.add(normalName(name))) return name
    }
  }
  const newSupplier = (of: Partial<Supplier> = {}) => supplierOf(bases++, of.name ?? newName(), of)

  const reais = (usual: number, spread: number) =>
    Math.max(1, Math.round(usual * Math.exp(spread * normal()) * 100) / 100)
  // At the place of the issuer, on a working day; 9h at the beginning.
  const time = (days: number, minutes = whole(0, 8 * 60)) => {
    const at = later(begin, Math.floor(days) * day + minutes)
    const weekday = new Date(`${at.slice(0, 10)}T00:00:00Z`).getUTCDay()
    const working = later(at, weekday === 0 ? day : weekday === 6 ? 2 * day : 0)
    return holidays.some((date) => working.slice(0, 10).endsWith(date)) ? later(working, day) : working
  }
  // Numbers grow with time, as for an issuer with many other customers.
  const numbers = new Map<string, number>()
  const taken = new Set<string>()
  const numberAt = ({ taxId }: Supplier, at: string) => {
    const first = numbers.get(taxId) ?? whole(1_000, 900_000)
    numbers.set(taxId, first)
    let number = first + Math.floor((Date.parse(`${at}Z`) - Date.parse(`${begin}Z`)) / 60_000 / 2)
    while (taken.has(`${taxId} ${number}`)) number++
    taken.add(`${taxId} ${number}`)
    return number
  }
  const put = (facts: AlertFacts, must: string[] = [], maybe: string[] = [], innocent: string[] = []) => {
    made.documents.push(facts)
    made.must.set(facts.chave, must)
    made.maybe.set(facts.chave, maybe)
    made.innocent.set(facts.chave, innocent)
    return facts
  }
  type Extra = Partial<Parameters<typeof note>[0]>
  const noteOf = (company: AlertCompany, issuer: Supplier, at: string, amount: number, extra: Extra = {}) =>
    note({ company, issuer, at, amount, numero: numberAt(issuer, at), ...extra })

  // The habits of the companies: everybody is known before learning ends.
  const usual: Supplier[] = []
  for (const company of companies)
    for (let n = 0; n < suppliers / companies.length; n++) {
      const issuer = newSupplier()
      usual.push(issuer)
      const every = pick([7, 10, 15, 30])
      const level = reais(2_000, 0.8)
      for (let at = whole(0, 25); at < 750; at += every * (0.8 + 0.4 * random()))
        put(noteOf(company, issuer, time(at), reais(level, 0.25), { summary: random() < 0.5 }))
    }

  /** A supplier with `count` documents of about `level` in its past, from the first month on until `until`. */
  function knownSupplier(
    company: AlertCompany,
    count: number,
    level: number,
    until: number,
    of: Partial<Supplier> = {},
    from = whole(0, 20),
  ) {
    const issuer = newSupplier(of)
    for (let n = 0; n < count; n++)
      put(noteOf(company, issuer, time(from + ((until - from) * n) / count), reais(level, 0.05)))
    return issuer
  }

  const fiscal = (tpEvento: number, at: string, more: Partial<AlertEvent> = {}): AlertEvent => ({
    tpEvento,
    nSeqEvento: 1,
    at: `${at}-03:00`,
    ...more,
  })

  for (let n = 0; n < cases; n++) {
    const company = pick(companies)
    const when = 150 + Math.floor(((750 - 160) * n) / cases) + whole(0, 40)
    const own = company.establishments[0]!.taxId

    // S01, S02, S08, S09, S13: new suppliers.
    const fresh = (amount: number, extra: Extra = {}, at = time(when)) =>
      noteOf(company, newSupplier(), at, amount, extra)
    put(fresh(reais(9_000, 0.1)), ['S01'], ['S04'])
    put(fresh(reais(9_000, 0.1), { summary: true }), ['S01'], ['S04'])
    put(fresh(reais(300, 0.2)), ['S02'], [], ['S01'])
    put(fresh(reais(9_000, 0.1), { more: { part: 'issues' } }), [], [], ['S01'])
    put(fresh(20_000), ['S01', 'S08'], ['S04'])
    put(fresh(9_950, {}), ['S01'], ['S04'], ['S08'])
    put(fresh(reais(9_000, 0.1), {}, later(time(when, 0), 14 * 60 + whole(0, 100))), ['S01', 'S09'], ['S04'])
    put(fresh(reais(25_000, 0.05), { numero: whole(1, 50) }), ['S01', 'S13'], ['S04'])
    put(fresh(reais(300, 0.1), { numero: whole(1, 50) }), ['S02'], [], ['S13'])

    // S03
    const steady = knownSupplier(company, 24, 1_500, when - 2)
    put(noteOf(company, steady, time(when), reais(12_000, 0.05)), ['S03'], ['S04'])
    const small = knownSupplier(company, 24, 40, when - 2)
    put(noteOf(company, small, time(when), 380), [], [], ['S03'])
    const wide = newSupplier()
    for (let m = 0; m < 40; m++)
      put(
        noteOf(company, wide, time(whole(0, 20) * (m === 0 ? 1 : 0) + (when * m) / 40), reais(900, 0.8)),
        [],
        ['S03', 'S02', 'S01', 'S04'],
      )
    put(noteOf(company, wide, time(when), 2_300), [], [], ['S03'])

    // Innocent S09: a usual night worker, though the value is unusual. Innocent S02: another branch
    // of a known supplier.
    const nightly = newSupplier()
    for (let m = 0; m < 24; m++)
      put(
        noteOf(company, nightly, later(time(whole(0, 3) + ((when - 6) * m) / 24, 0), 14 * 60 + m), reais(700, 0.05)),
        [],
        m < 3 ? ['S02', 'S09'] : [],
      )
    put(noteOf(company, nightly, later(time(when, 0), 14 * 60 + 30), 6_000.5), ['S03'], ['S04'], ['S09'])
    const twofold = knownSupplier(company, 6, 700, when - 8)
    const branch = { ...twofold, taxId: cnpjOf(Number(twofold.taxId.slice(0, 8)), 2) }
    put(noteOf(company, branch, time(when), 705), [], [], ['S01', 'S02'])

    // S49: a doubt whose answer is due in ten days, and in twenty.
    for (const days of [10, 20]) {
      const deadline = new Date(asOf + days * 86_400_000).toISOString()
      const doubted = knownSupplier(company, 24, 1_500, when - 2)
      put(
        noteOf(company, doubted, time(when), reais(8_000, 0.02), { more: { deadline } }),
        days === 10 ? ['S03', 'S49'] : ['S03'],
        ['S04'],
        days === 10 ? [] : ['S49'],
      )
    }
    const calmlyDue = knownSupplier(company, 24, 1_500, when - 2)
    const due = new Date(asOf + 10 * 86_400_000).toISOString()
    put(noteOf(company, calmlyDue, time(when), 1_510, { more: { deadline: due } }), [], [], ['S49'])

    // S04, S05, S07
    const rare = knownSupplier(company, 2, 3_000, when - 40)
    put(noteOf(company, rare, time(when), reais(180_000, 0.2)), ['S04'], [])
    const large = newSupplier()
    for (let m = 0; m < 4; m++) put(noteOf(company, large, time(m * 5), 150_000 + m), [], ['S04', 'S02'])
    put(noteOf(company, large, time(when), 170_000.5), [], ['S05'], ['S04'])
    if (when > 420) {
      const asleep = knownSupplier(company, 4, 1_000, 30)
      put(noteOf(company, asleep, time(when), reais(5_000, 0.05)), ['S05'])
      const awake = knownSupplier(company, 4, 1_000, 30)
      put(noteOf(company, awake, time(when), 1_100), [], [], ['S05'])
    }
    const split = knownSupplier(company, 12, 20_000, 20, {}, 0)
    for (const [m, of] of [95_111, 96_222, 94_333].entries())
      put(noteOf(company, split, time(when, 60 + m * 100), of + n), m === 2 ? ['S07'] : [], ['S04', 'S03', 'S05'])
    const truckloads = knownSupplier(company, 12, 90_000, 20, {}, 0)
    for (const m of [0, 1, 2])
      put(noteOf(company, truckloads, time(when, m * 60), 90_100 + m * 1_000), [], ['S04', 'S05'], ['S07'])
    const apart = knownSupplier(company, 12, 70_000, 20, {}, 0)
    for (const m of [0, 1, 2])
      put(noteOf(company, apart, time(when + m * 6), 90_400 + m * 1_000), [], ['S04', 'S03', 'S05'], ['S07'])

    // S06
    const calm = knownSupplier(company, Math.floor(when / 7), 700, when - 3)
    for (let m = 0; m < 10; m++) put(noteOf(company, calm, time(when, m * 20), reais(700, 0.05)), m >= 5 ? ['S06'] : [])
    const busy = newSupplier()
    for (let m = 0; m < 20; m++)
      for (let k = 0; k < 6; k++)
        put(
          noteOf(company, busy, time(m === 0 ? whole(0, 20) : when - 40 + m * 1.9, k * 60), reais(400, 0.1)),
          [],
          m < 5 ? ['S06'] : [],
        )
    for (let m = 0; m < 20; m++) put(noteOf(company, busy, time(when, m * 20), reais(400, 0.1)), [], [], ['S06'])

    // S10
    const twice = knownSupplier(company, 20, 2_500, when - 8)
    const once = put(noteOf(company, twice, time(when), 2_431.17))
    put(
      noteOf(company, twice, later(once.issuedAt.slice(0, 19), 2 * day), 2_431.17, { nfe: { items: once.nfe!.items } }),
      ['S10'],
      ['S09'],
    )
    const other = put(noteOf(company, twice, time(when + 8), 2_512.4))
    put(noteOf(company, twice, later(other.issuedAt.slice(0, 19), day), 2_512.4), [], [], ['S10'])
    const rent = newSupplier()
    for (let at = 10; at < when - 5; at += 30.4)
      put(noteOf(company, rent, later(begin, Math.round(at * day)), 850, { summary: true }), [], ['S09'])
    const lastRent = 10 + 30.4 * Math.floor((when - 15) / 30.4)
    put(
      noteOf(company, rent, later(begin, Math.round((lastRent + 4) * day)), 850, { summary: true }),
      [],
      ['S09'],
      ['S10'],
    )

    // S11, S12, S14
    const doubled = knownSupplier(company, 10, 1_800, when - 8)
    const number = numberAt(doubled, time(when, 10))
    put(noteOf(company, doubled, time(when, 10), 1_700, { numero: number }))
    put(noteOf(company, doubled, time(when, 200), 1_950, { numero: number, cNF: '87654321' }), ['S11'])
    put(
      noteOf(company, doubled, time(when, 300), 1_850, { numero: number, serie: 2, cNF: '87654321' }),
      [],
      [],
      ['S11'],
    )
    const captive = newSupplier()
    const slow = newSupplier()
    for (let m = 0; m < 6; m++) {
      put(
        noteOf(company, captive, time(12 + m * 20), 1_400 + m, { numero: 500 + m }),
        m * 20 >= 60 ? ['S12'] : [],
        m === 3 ? ['S12'] : [],
      )
      put(noteOf(company, slow, time(12 + m * 2), 1_400 + m, { numero: 500 + m }), [], [], ['S12'])
    }
    const back = knownSupplier(company, 8, 1_200, when - 10)
    put(noteOf(company, back, time(when), 1_250, { numero: numberAt(back, time(21)) }), ['S14'])
    const offline = knownSupplier(company, 8, 1_200, when - 10)
    put(
      noteOf(company, offline, time(when), 1_260, { numero: numberAt(offline, time(21)), tpEmis: '9' }),
      [],
      [],
      ['S14'],
    )

    // S15, S16
    const timely = knownSupplier(company, 12, 1_300, when - 10)
    put(noteOf(company, timely, time(when), 1_310, { more: { authorizedAt: `${later(time(when), 60 * 60)}-03:00` } }), [
      'S15',
    ])
    put(noteOf(company, timely, time(when + 12), 1_290, { tpEmis: '7' }), ['S16'])
    put(
      noteOf(company, timely, time(when + 20), 1_330, {
        tpEmis: '7',
        more: { authorizedAt: `${time(when + 23)}-03:00` },
      }),
      [],
      [],
      ['S15', 'S16'],
    )
    const outage = time(when + 5, 30)
    for (let m = 0; m < 5; m++) {
      const down = knownSupplier(company, 11, 900, when - 10, { uf: 'PR', cUF: 41 })
      put(noteOf(company, down, later(outage, m), 905, { tpEmis: '6' }), [], [], ['S16'])
    }

    // S17, S18, S20
    const victim = knownSupplier(company, 6, 1_000, when - 30)
    const [first = '', second = '', ...rest] = victim.name.split(' ')
    const disguised = pick([
      [first, second.replace('O', '0').replace(/A$/, 'AA'), ...rest],
      [first, `${second.slice(0, -1)}${second.at(-1)}S`, ...rest],
      [first, `${second[0]}${second[2]}${second[1]}${second.slice(3)}`, ...rest],
    ]).join(' ')
    put(noteOf(company, newSupplier({ name: disguised }), time(when), 800), ['S17', 'S02'])
    const kin = supplierOf(bases++, `${victim.name}`)
    made.groups.push([victim.taxId.slice(0, 8), kin.taxId.slice(0, 8)])
    put(noteOf(company, kin, time(when - 5), 800), ['S02'], [], ['S17'])
    knownSupplier(company, 3, 500, 40, { name: `AUTO POSTO ${20 + n} LTDA` })
    put(noteOf(company, newSupplier({ name: `AUTO POSTO ${60 + n} LTDA` }), time(when + 1), 400), ['S02'], [], ['S17'])
    const drifting = knownSupplier(company, 8, 1_100, when - 9)
    put(noteOf(company, drifting, time(when), 1_120, { more: { issuer: { ...drifting, ie: '999888777' } } }), ['S18'])
    const formatted = knownSupplier(company, 8, 1_100, when - 9)
    const ie = formatted.ie.replace(/(...)(...)(...)/, '$1.$2.$3')
    put(noteOf(company, formatted, time(when), 1_120, { more: { issuer: { ...formatted, ie } } }), [], [], ['S18'])
    const recipient = { taxId: own, name: company.establishments[0]!.names[0]!, ie: '250123456', uf: 'SC' }
    put(noteOf(company, formatted, time(when + 3), 1_090, { more: { recipient: { ...recipient, ie: '777000111' } } }), [
      'S20',
    ])
    put(noteOf(company, formatted, time(when + 5), 1_080, { more: { recipient: { ...recipient, uf: 'AM' } } }), ['S20'])
    put(
      noteOf(company, formatted, time(when + 7), 1_070, { more: { recipient: { ...recipient, ie: '250.123.456' } } }),
      [],
      [],
      ['S20'],
    )

    // S32
    const [accountant, stranger] = [cnpjOf(60_000_000 + n), cnpjOf(61_000_000 + n)]
    const accounted = newSupplier()
    for (let m = 0; m < 10; m++)
      put(
        noteOf(company, accounted, time(3 + ((when - 9) * m) / 10), reais(800, 0.05), {
          more: { readers: [accountant] },
        }),
      )
    const byAccounted = (days: number, readers: string[]) =>
      noteOf(company, accounted, time(when + days), reais(800, 0.05), { more: { readers } })
    put(byAccounted(0, [accountant, stranger]), ['S32'])
    put(byAccounted(4, [accountant]), [], [], ['S32'])
    put(byAccounted(8, [cnpjOf(60_000_000 + n, 2)]), [], [], ['S32'])
    const unread = knownSupplier(company, 4, 800, when - 8)
    put(noteOf(company, unread, time(when), 810, { more: { readers: [accountant] } }), [], [], ['S32'])

    // S22, S23, S24, S25, S33, S35
    const plain = knownSupplier(company, 20, 1_000, when - 5)
    const ofPlain = (days: number, amount: number, extra: Extra) =>
      noteOf(company, plain, time(when + days), amount, extra)
    put(ofPlain(1, 1_010, { nfe: { dup: [{ dVenc: '2026-12-20', vDup: '700.00' }] } }), ['S22'])
    put(ofPlain(2, 1_011, { nfe: { tPag: ['90'], dup: [], vLiq: undefined } }), ['S22'])
    put(ofPlain(3, 1_012, { nfe: { tPag: ['90'], dup: [], vLiq: undefined, cfops: ['5908'] } }), [], ['S27'], ['S22'])
    put(ofPlain(4, 1_013, { nfe: { totals: { vProd: '900.00' }, sums: { vProd: 90_000 } } }), ['S23'])
    put(ofPlain(5, 1_014, { nfe: { sums: { vProd: 91_400 } } }), ['S23'])
    put(
      ofPlain(6, 1_015, { nfe: { totals: { vProd: '1115.00', vICMSDeson: '100.00' }, sums: { vProd: 111_500 } } }),
      [],
      [],
      ['S23'],
    )
    const signed = ofPlain(7, 1_016, {})
    put({ ...signed, proof: pick(['altered', 'signature', 'unsigned', 'protocol', 'form']) }, ['S24'])
    const moved = ofPlain(8, 1_017, {})
    put({ ...moved, stated: { ...moved.stated, numero: '1' } }, ['S24'])
    put({ ...ofPlain(9, 1_018, {}), summaryDigest: 'another' }, ['S24'])
    put({ ...ofPlain(10, 1_019, {}), proof: 'hidden' }, [], [], ['S24'])
    put({ ...ofPlain(11, 1_020, {}), tpAmb: '2' }, ['S25'])
    put({ ...ofPlain(12, 1_021, {}), natOp: 'REMESSA DE AMOSTRA SEM VALOR COMERCIAL' }, [], [], ['S25'])
    put({ ...ofPlain(13, 1_022, {}), tpNF: '0' }, ['S33'])
    put({ ...ofPlain(14, 1_023, { nfe: { finNFe: '5' } }), tpNF: '0' }, ['S35'], [], ['S33'])
    put(ofPlain(15, 1_024, { nfe: { finNFe: '6' } }), ['S35'], [], ['S33'])
    put(ofPlain(16, 1_025, { nfe: { finNFe: '4', cfops: ['5202'], tPag: ['90'] } }), [], [], ['S35', 'S22'])

    // S36 to S40
    const changing = knownSupplier(company, 30, 2_000, when - 5)
    const ofChanging = (days: number, amount: number, events: AlertEvent[], more: Partial<AlertFacts> = {}) =>
      noteOf(company, changing, time(when + days), amount, { more: { events, ...more } })
    put(
      ofChanging(1, 2_010, [
        fiscal(210210, time(when + 3, 0), { authorTaxId: own }),
        fiscal(110111, time(when + 3, 300)),
      ]),
      ['S36'],
    )
    put(
      ofChanging(30, 2_110, [fiscal(110111, time(when + 36))], {
        marks: [{ kind: 'exported', at: `${time(when + 31)}-03:00` }],
      }),
      ['S36'],
      ['S38'],
    )
    put(
      ofChanging(60, 2_210, [
        fiscal(110111, time(when + 62, 0)),
        fiscal(210210, time(when + 62, 300), { authorTaxId: own }),
      ]),
      [],
      ['S38'],
      ['S36'],
    )
    put(ofChanging(61, 2_450, []))
    const wrongAt = time(when + 120, 100)
    const wrong = put(
      noteOf(company, changing, wrongAt, 2_020, { more: { events: [fiscal(110111, later(wrongAt, 60))] } }),
      [],
      ['S38'],
    )
    put(noteOf(company, changing, later(wrongAt, 300), 2_320, { nfe: { items: wrong.nfe!.items } }), ['S37'], [])
    put(noteOf(company, changing, time(when + 130), 2_024, {}), [], [], ['S37'])
    put(ofChanging(131, 2_030, [fiscal(110110, time(when + 132), { text: pick(forbiddenLetters) })]), ['S39'])
    put(
      ofChanging(135, 2_040, [fiscal(110110, time(when + 136), { text: pick(allowedLetters) })]),
      [],
      [],
      ['S39', 'S40'],
    )
    put(
      ofChanging(138, 2_050, [fiscal(110110, time(when + 150), { text: 'Transportadora correta: Transportes Um' })]),
      ['S40'],
    )
    const fickle = knownSupplier(company, 6, 1_500, when - 100)
    for (const m of [0, 1, 2])
      put(
        noteOf(company, fickle, time(when + m * 9), 1_510 + 300 * m, {
          more: { events: [fiscal(110111, time(when + m * 9 + 1))] },
        }),
        m === 2 ? ['S38'] : [],
      )

    // Three cancelled ones among many.
    const regular = newSupplier()
    for (let m = 0; m < 40; m++) {
      const at = time(m === 0 ? whole(0, 20) : when - 85 + m * 2)
      const more = [10, 20, 30].includes(m) ? { events: [fiscal(110111, later(at, 2 * day))] } : {}
      put(noteOf(company, regular, at, reais(900, 0.05), { more }), [], [], m === 30 ? ['S38'] : [])
    }

    // S41 to S45
    const carrier = newSupplier({ name: `TRANSPORTES ${newName()}` })
    for (let m = 0; m < 14; m++) {
      const shipped = put(ofPlain(-7 * m - 20, 990 + m, {}), [], ['S06'])
      put(freightOf(carrier, time(m === 13 ? 12 : when - 7 * m), 100 + m, [shipped.chave]))
    }
    function freightOf(
      issuer: Supplier,
      at: string,
      amount: number,
      cites: string[],
      more: Partial<Parameters<typeof freight>[0]> = {},
    ) {
      return freight({ company, issuer, at, amount, numero: numberAt(issuer, at), cites, ...more })
    }
    const goods = [17, 18, 19, 20, 21].map(
      (days) => put(ofPlain(days, 1_030 + days, days === 21 ? { nfe: { modFrete: '0' } } : {})).chave,
    )
    put(freightOf(carrier, time(when + 22), 101, [goods[0]!]))
    put(freightOf(carrier, time(when + 25), 103, [goods[0]!]), ['S41'])
    put(freightOf(carrier, time(when + 28), 104, [goods[0]!], { cte: { tpServ: '1' } }), [], [], ['S41'])
    put(freightOf(carrier, time(when + 26), 105, [goods[1]!], { cte: { vCarga: '500.00' } }), ['S42'])
    put(freightOf(carrier, time(when + 27), 106, [goods[2]!], { cte: { vCarga: '1700.00' } }), [], [], ['S42'])
    put(freightOf(carrier, time(when + 28), 107, [goods[4]!]), ['S43'])
    put(
      freightOf(carrier, time(when + 29), 108, [
        note({ company, issuer: plain, at: time(when), amount: 5, numero: 999_999_000 + n }).chave,
      ]),
      ['S44'],
    )
    const charged = put(freightOf(carrier, time(when + 30), 109, [goods[3]!])).chave
    put(freightOf(carrier, time(when + 31), 40, [charged], { cte: { tpCTe: '1' } }), ['S45'], ['S42'])
    put(freightOf(carrier, time(when + 32), 5, [charged], { cte: { tpCTe: '1' } }), [], [], ['S45'])
    put(freightOf(carrier, time(when + 33), 110, [charged], { cte: { tpCTe: '3' } }), ['S45'])

    const collected = put(ofPlain(34, 1_070, { nfe: { modFrete: '1' } })).chave
    put(freightOf(carrier, time(when + 35), 111, [collected]), [], [], ['S43', 'S44'])
    const sold = note({
      company,
      issuer: supplierOf(Number(company.base), 'NÓS'),
      at: time(when),
      amount: 5,
      numero: 7,
    })
    put(freightOf(carrier, time(when + 36), 112, [sold.chave]), [], [], ['S44'])

    // S46: one issuer, new to three companies within a week; and one that others know for long.
    const spreading = newSupplier()
    for (const [m, each] of companies.slice(0, 3).entries())
      put(noteOf(each, spreading, time(when + m * 2, m * 30), 180 + m), ['S46', 'S02'])
    const famous = newSupplier()
    put(noteOf(companies[3]!, famous, time(20), 200))
    for (const [m, each] of companies.slice(0, 3).entries())
      put(noteOf(each, famous, time(when + m * 2, m * 30), 180 + m), ['S02'], [], ['S46'])
  }

  // Later cases draw their random numbers last, because the cases above must not change.
  for (let n = 0; n < cases; n++) {
    const company = pick(companies)
    const when = 150 + Math.floor(((750 - 160) * n) / cases) + whole(0, 40)

    // S19: two suppliers in turn under one phone; look-alikes: a group, an accountant of many, an
    // old one. Some of the many new names are alike by chance.
    const chance = ['S17']
    const twin = () => `fone 47${whole(30_000_000, 39_999_999)}`
    const calling = (days: number, contacts: string[], of: Partial<Supplier> = {}) =>
      noteOf(company, newSupplier({ contacts, ...of }), time(when + days), reais(300, 0.2))
    const phone = twin()
    put(calling(0, [phone]), ['S02'], chance)
    const caller = { ...newSupplier(), contacts: [phone, 'end 89010000/RUA XV DE NOVEMBRO/1200/SALA 3'] }
    put(noteOf(company, caller, time(when + 20), reais(300, 0.2)), ['S19', 'S02'], chance)
    put(noteOf(company, caller, time(when + 40), reais(300, 0.2)), [], [], ['S19'])
    const shared = twin()
    for (let m = 0; m < 7; m++) put(calling(m * 7, [shared]), ['S02'], chance, ['S19'])
    const old = twin()
    knownSupplier(company, 3, 500, 30, { contacts: [old] })
    put(calling(70, [old]), ['S02'], chance, ['S19'])
    const [parent, subsidiary] = [newSupplier({ contacts: [twin()] }), newSupplier()]
    made.groups.push([parent.taxId.slice(0, 8), subsidiary.taxId.slice(0, 8)])
    put(noteOf(company, parent, time(when), reais(300, 0.2)), ['S02'], chance)
    put(noteOf(company, { ...subsidiary, contacts: parent.contacts }, time(when + 9), 310), ['S02'], chance, ['S19'])

    // S21: goods from another UF without a carrier; look-alikes: carried, or not transported.
    const far = knownSupplier(company, 4, 10_500, when - 9, { uf: 'SP', cUF: 35 })
    const sent = (days: number, nfe: Extra['nfe'], extra: Extra = {}) =>
      noteOf(company, far, time(when + days), reais(10_500, 0.01), { nfe: { cfops: ['6102'], ...nfe }, ...extra })
    const isLarge = ['S04']
    put(sent(0, {}), ['S21'], isLarge)
    put(sent(3, { modFrete: '0' }), ['S21'], isLarge)
    put(sent(6, { modFrete: '1', transport: { named: true, plate: true } }), [], isLarge, ['S21'])
    put(sent(9, { modFrete: '4', transport: { named: false, plate: true } }), [], isLarge, ['S21'])
    put(sent(12, { cfops: ['6922'] }), [], [...isLarge, 'S27'], ['S21'])
    put(sent(15, { cfops: ['5102'] }), [], isLarge, ['S21'])
    put(sent(18, {}, { more: { events: [fiscal(610610, time(when + 19))] } }), [], isLarge, ['S21'])
    const carried = put(sent(21, {}), [], isLarge, ['S21'])
    const carrier = newSupplier({ name: `TRANSPORTES ${newName()}` })
    const at = time(when + 40)
    put(freight({ company, issuer: carrier, at, amount: 113, numero: numberAt(carrier, at), cites: [carried.chave] }), [
      'S02',
    ])
  }

  // Items of notes.
  for (let n = 0; n < cases; n++) {
    const company = pick(companies)
    const when = 200 + Math.floor(((750 - 260) * n) / cases) + whole(0, 30)
    const isLarge = ['S04', 'S03', 'S10']
    const store = newSupplier()
    const sell = (days: number, lines: Partial<NamedLine>[], extra: Extra = {}, cfop = '5102', issuer = store) => {
      const inside = insideOf(lines, cfop)
      const amount = inside.lines.reduce((sum, { value }) => sum + value, 0) / 100
      const nfe = { inside, cfops: [cfop], ...extra.nfe }
      return noteOf(company, issuer, time(when + days), Math.round(amount * 100) / 100, { ...extra, nfe })
    }
    // Screws and boxes at prices that move a little, in a habit of eight months; and tomatoes, whose price moves by itself.
    const screws = (price: number, quantity = whole(8, 12)) => ({
      product: 'PARAFUSO',
      name: 'PARAFUSO M8',
      price,
      quantity,
    })
    const usualPrice = () => 100 * (0.97 + 0.06 * random())
    for (let m = 0; m < 12; m++)
      put(
        sell(m === 0 ? whole(0, 10) - when : -170 + m * 12, [screws(usualPrice())]),
        [],
        m === 0 ? ['S01', 'S02'] : [],
      )
    // S29
    put(sell(0, [screws(130)]), ['S29'], isLarge)
    put(sell(4, [screws(212)]), ['S29'], isLarge)
    put(sell(8, [screws(44)]), ['S29'], isLarge)
    put(sell(12, [screws(118)]), [], isLarge, ['S29'])
    put(sell(16, [screws(usualPrice()), { product: 'CAIXA', price: 300 }]), [], isLarge, ['S29'])
    put(
      sell(20, [{ ...screws(2_150), unit: 'CX', base: { unit: 'UN', price: 105 } }]),
      [],
      [...isLarge, 'S30'],
      ['S29'],
    )
    const market = newSupplier()
    const tomatoes = (price: number) => [
      { product: 'TOMATE', ncm: '07020000', name: 'TOMATE', unit: 'KG', price, quantity: 40 },
    ]
    for (let m = 0; m < 12; m++)
      put(
        sell(m === 0 ? whole(0, 10) - when : -100 + m * 8, tomatoes([4, 7, 9, 5][m % 4]!), {}, '5102', market),
        [],
        ['S01', 'S02', 'S10', ...isLarge],
      )
    put(sell(0, tomatoes(9.5), {}, '5102', market), [], isLarge, ['S29'])
    // S30
    put(sell(24, [screws(usualPrice(), 90)]), ['S30'], isLarge)
    put(sell(60, [screws(usualPrice(), 300)]), [], isLarge, ['S30'])
    // S31: the situation changed, the rate by much and by little, and for a return.
    put(sell(64, [{ ...screws(usualPrice()), tax: '40', vICMS: 0 }]), ['S31'], isLarge)
    put(sell(68, [{ ...screws(usualPrice()), tax: '00 12' }]), ['S31'], isLarge)
    put(sell(72, [{ ...screws(usualPrice()), tax: '00 19.5' }]), [], isLarge, ['S31'])
    put(sell(76, [{ ...screws(usualPrice()), tax: '41', vICMS: 0 }], {}, '5915'), ['S27'], isLarge, ['S31'])
    // S27
    put(sell(80, [screws(usualPrice())], {}, '5910'), ['S27'], isLarge)
    put(sell(84, [screws(usualPrice())], {}, '5405'), [], isLarge, ['S27'])
    const few = knownSupplier(company, 4, 1_000, when - 5)
    put(sell(2, [{ product: 'BRINDE' }], {}, '5910', few), [], isLarge, ['S27'])
    // S28: a chapter of its own in each case.
    const chapter = String(11 + n)
    put(sell(88, [{ product: 'NOVO', ncm: `${chapter}010000`, quantity: 120 }]), ['S28'], isLarge)
    put(sell(92, [{ product: 'NOVO', ncm: `${chapter}010000`, quantity: 121 }]), [], isLarge, ['S28'])
    put(sell(96, [{ product: 'MIUDEZA', ncm: `${chapter === '11' ? 50 : 50 + n}010000`, quantity: 1 }]), [], isLarge, [
      'S28',
    ])
    // S26
    const to = (idDest: string, indPres = '0') => ({ nfe: { destination: { idDest, indPres, elsewhere: false } } })
    const usual = () => [screws(usualPrice())]
    put(sell(100, usual(), to('1'), '6102'), ['S26'], isLarge)
    put(sell(104, usual(), to('2'), '5102'), ['S26'], isLarge)
    put(sell(108, usual(), to('1'), '5102'), [], isLarge, ['S26'])
    const shop = knownSupplier(company, 6, 1_000, when - 5, { uf: 'PR', cUF: 41 })
    put(sell(3, [{ product: 'FERRAMENTA' }], to('1', '1'), '5102', shop), [], isLarge, ['S26'])
    // S47: two issuers, the same five things within a week; other things for the same value, and a group.
    const things = (mark: string) => [1, 2, 3, 4, 5].map((item) => `${mark}${n}${item}|${item}|97.13`)
    const twin = (days: number, items: string[], issuer: Supplier) =>
      noteOf(company, issuer, time(when + days), 1_456.95, { nfe: { items } })
    const [one, two, three, four, five] = [0, 1, 2, 3, 4].map(() => knownSupplier(company, 8, 1_450, when - 12))
    put(twin(0, things('A'), one!))
    put(twin(3, things('A'), two!), ['S47'])
    put(twin(5, things('B'), three!), [], [], ['S47'])
    put(twin(40, things('C'), four!))
    put(twin(42, things('C'), five!), [], [], ['S47'])
    made.groups.push([four!.taxId.slice(0, 8), five!.taxId.slice(0, 8)])
  }
  return made
}

// Holidays of these years on weekdays.
const holidays = [
  '01-01',
  '2025-04-18',
  '04-21',
  '05-01',
  '10-12',
  '11-20',
  '12-25',
  '2026-04-03',
  '2026-09-07',
  '2026-11-02',
]

/** A name as companies have them: kind, proper name, trade, legal form. */
function randomName(random: () => number): string {
  const pick = (some: readonly string[]) => some[Math.floor(random() * some.length)]!
  return [pick(kinds), pick(surnames) + pick(endings), pick(fields), pick(forms)].join(' ')
}

const kinds = [
  'COMERCIAL',
  'DISTRIBUIDORA',
  'INDUSTRIA',
  'ATACADO',
  'METALURGICA',
  'GRAFICA',
  'AUTO PECAS',
  'CERAMICA',
  'TECIDOS',
]
const surnames = [
  'ARA',
  'BELO',
  'CARI',
  'DORA',
  'ESTRE',
  'FARO',
  'GUARA',
  'HORI',
  'ITAPE',
  'JURU',
  'LUMI',
  'MARA',
  'NOVA',
  'ORIE',
  'PIRA',
]
const endings = ['NDUBA', 'MIRIM', 'GUACU', 'TINGA', 'POLIS', 'ZENDE', 'VERDE', 'LANDIA', 'QUARA', 'RESTES']
const fields = [
  'ALIMENTOS',
  'FERRAMENTAS',
  'MAQUINAS',
  'BEBIDAS',
  'TINTAS',
  'CALCADOS',
  'CONFECCOES',
  'INFORMATICA',
  'MADEIRAS',
  'EMBALAGENS',
  'FERRAGENS',
  'PAPEIS',
  'QUIMICA',
  'PARAFUSOS',
  'LIMPEZA',
  'MOVEIS',
  'ELETRICA',
  'PLASTICOS',
]
const forms = ['LTDA', 'LTDA ME', 'S.A.', 'EIRELI', 'LTDA EPP']

const forbiddenLetters = [
  'Onde se lê valor unitário 10,00 leia-se 12,00',
  'ALTERAR A ALÍQUOTA DO ICMS PARA 12%',
  'Correção da quantidade do item 3 para 40 unidades',
  'Base de cálculo correta: 1.200,00',
  'O destinatário correto é a filial 2',
  'Data de emissão correta 10/05/2026',
]
const allowedLetters = [
  'Endereço do destinatário: Rua Um, 200',
  'Quantidade de volumes: 12 caixas',
  'CFOP correto 5102, sem alteração de valores',
  'Transportadora correta: Transportes Um Ltda',
]
