import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../tests/support/seed.ts'
import type { AlertFacts } from './facts.ts'
import { thresholdsOf, valueBucket } from './history.ts'
import { judge, textOf, type Verdict } from './judge.ts'
import { areAlike, nameKeys, nameProbes, normalName } from './names.ts'
import { type AllowEntry, defaultSettings } from './settings.ts'
import { createArchive } from './support/archive.ts'
import { companyOf, freight, insideOf, later, note, randomOf, supplierOf } from './support/facts.ts'
import { generate } from './support/generate.ts'

const company = companyOf(40_000_001, 'EMPRESA COMPRADORA LTDA')
const settings = { ...defaultSettings, asOf: Date.parse('2026-11-25T12:00:00Z') }
const supplier = supplierOf(50_000_001, 'METALURGICA ITAPEMIRIM LTDA')

describe('the verdict of a set of documents', () => {
  test('is the same in any order of arrival, and what is judged again after each arrival is enough', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (seed) => {
        const random = randomOf(seed)
        const documents = someDocuments(random)
        const arrivals = shuffled(
          documents.flatMap((facts) => versionsOf(facts).map((version, rank) => ({ version, rank }))),
          random,
        )
        const archive = createArchive()
        const kept = new Map<string, Verdict>()
        const ranks = new Map<string, number>()
        for (const { version, rank } of arrivals) {
          // Skips a version with less data than the one here, like the projection of receipts.
          if (rank < (ranks.get(version.chave) ?? 0)) continue
          ranks.set(version.chave, rank)
          for (const facts of archive.put(version))
            kept.set(facts.chave, judge(facts, archive.history(facts), settings))
        }
        const anew = createArchive(documents)
        for (const facts of documents)
          expect(kept.get(facts.chave)).toEqual(judge(facts, anew.history(facts), settings))
      }),
      { numRuns: runs(24) },
    )
  })

  test('is the same when what came in the meantime is gone', () => {
    const documents = someDocuments(randomOf(7))
    const [first, ...others] = documents
    const archive = createArchive()
    const kept = new Map<string, Verdict>()
    const judgeAll = (some: AlertFacts[]) => {
      for (const facts of some) kept.set(facts.chave, judge(facts, archive.history(facts), settings))
    }
    for (const facts of documents) judgeAll(archive.put(facts))
    judgeAll(archive.remove(first!))
    const anew = createArchive(others)
    for (const facts of others) expect(kept.get(facts.chave)).toEqual(judge(facts, anew.history(facts), settings))
  })

  test('of a complete document counts, and no more that of its resumo', () => {
    const archive = createArchive()
    const at = '2026-05-12T10:00:00'
    const entry = { company, issuer: supplier, at, amount: 900, numero: 7 }
    const summary = note({ ...entry, summary: true, more: { tpNF: '0' } })
    const complete = note({ ...entry, nfe: { finNFe: '5' }, more: { tpNF: '0' } })
    archive.put(summary)
    expect(ids(judge(summary, archive.history(summary), settings))).toEqual(['S33'])
    archive.put(complete)
    expect(ids(judge(complete, archive.history(complete), settings))).toEqual(['S35'])
  })
})

describe('learning', () => {
  test('shows what it finds without counting it, until the thirtieth document and the thirtieth day', () => {
    const archive = createArchive()
    for (let n = 0; n < 30; n++) archive.put(noteAt(later('2026-01-02T09:00:00', n * 1_440), 100 + n, n + 1))
    const before = noteAt('2026-01-20T12:00:00', 9_000, 900, supplierOf(50_000_009, 'GRAFICA PIRATINGA LTDA'))
    const after = noteAt('2026-02-02T12:00:00', 9_000, 901, supplierOf(50_000_009, 'GRAFICA PIRATINGA LTDA'))
    const early = judge(before, archive.history(before), settings)
    expect([early.learning, early.score, early.band, ids(early)]).toEqual([true, 0, 'informativo', ['S01']])
    const late = judge(after, archive.history(after), settings)
    expect([late.learning, late.score, late.band, ids(late)]).toEqual([false, 0.35, 'médio', ['S01']])
  })
})

describe('the score', () => {
  test('counts the two heaviest of each family, and the text has the sentences in order of weight', () => {
    const archive = learned()
    archive.put(noteAt('2026-03-01T09:00:00', 500, 5_000, supplierOf(50_000_010, 'GRAFICA PIRATINGA LTDA')))
    const facts = noteAt('2026-05-04T10:00:00', 20_000, 12, supplierOf(50_000_011, 'GRAFICA PIRATINGAS LTDA'))
    const verdict = judge(facts, archive.history(facts), settings)
    expect(ids(verdict)).toEqual(['S17', 'S01', 'S13', 'S08'])
    // S17 and S01 of three of identity, S08 of value.
    expect(verdict.score).toBe(Math.round((1 - 0.55 * 0.65 * 0.85) * 100) / 100)
    expect(verdict.band).toBe('alto')
    expect(textOf(verdict.fired)).toMatch(
      /^O nome GRAFICA PIRATINGAS é \d+% igual .* • Fornecedor nunca visto .* • É a nota nº 12 /,
    )
  })

  test('of a test document is critical, whatever is known', () => {
    const archive = learned()
    const facts = { ...noteAt('2026-05-04T10:00:00', 100, 12), tpAmb: '2' }
    const known = ['S25', 'S24'].map((rule) => allow({ rule }))
    const verdict = judge(facts, archive.history(facts), { ...settings, known })
    expect([verdict.band, ids(verdict), verdict.allowed]).toEqual(['crítico', ['S25'], []])
  })

  test('goes up a band while a doubt stands before a deadline', () => {
    const archive = learned()
    const facts = {
      ...noteAt('2026-11-04T10:00:00', 9_000, 12_000, supplierOf(50_000_012, 'GRAFICA NOVA')),
      deadline: '2026-12-05',
    }
    const early = judge(facts, archive.history(facts), { ...settings, asOf: Date.parse('2026-11-10T00:00:00Z') })
    expect([early.band, ids(early)]).toEqual(['médio', ['S01']])
    const late = judge(facts, archive.history(facts), { ...settings, asOf: early.againAt! })
    expect([late.band, ids(late)]).toEqual(['alto', ['S01', 'S49']])
  })
})

describe('"é conhecido"', () => {
  const stranger = supplierOf(50_000_012, 'GRAFICA NOVA LTDA')
  const facts = noteAt('2026-05-04T10:00:00', 20_000, 12, stranger)
  const issuerBase = stranger.taxId.slice(0, 8)
  test.each<[string, AllowEntry, string[]]>([
    ['a new supplier, of all that says that it is new', allow({ issuerBase, rule: 'S01' }), []],
    ['a rule alone', allow({ issuerBase, rule: 'S13' }), ['S01', 'S08']],
    ['up to a value', allow({ issuerBase, rule: 'S01', ceiling: 1_999_999 }), ['S01', 'S13', 'S08']],
    [
      'until a day',
      allow({ issuerBase, rule: 'S01', until: Date.parse('2026-05-01T00:00:00Z') }),
      ['S01', 'S13', 'S08'],
    ],
    ['of one company', allow({ issuerBase, rule: 'S01', companyBase: '40000002' }), ['S01', 'S13', 'S08']],
  ])('%s', (_, entry, left) => {
    const archive = learned()
    expect(ids(judge(facts, archive.history(facts), { ...settings, known: [entry] }))).toEqual(left)
  })
})

describe('what is known by increments', () => {
  test('a threshold is at most a bucket above the quantile, and never below it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100_000_000 }), { minLength: 1, maxLength: 300 }), (values) => {
        const histogram = new Map<number, number>()
        for (const value of values) histogram.set(valueBucket(value), (histogram.get(valueBucket(value)) ?? 0) + 1)
        const { p75 } = thresholdsOf([histogram])
        const exact = values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.75) - 1]!
        expect(p75).toBeGreaterThanOrEqual(exact)
        expect(p75).toBeLessThanOrEqual(Math.ceil(exact * 1.101) + 1)
      }),
      { numRuns: runs(400) },
    )
  })

  test('names two edits apart that begin alike share a key', () => {
    const letters = fc.string({ unit: fc.constantFrom('A', 'B', 'C', ' '), minLength: 6, maxLength: 40 })
    const edit = fc.record({ at: fc.nat(60), letter: fc.constantFrom('', 'A', 'X'), kept: fc.boolean() })
    fc.assert(
      fc.property(letters, fc.array(edit, { minLength: 1, maxLength: 2 }), (name, edits) => {
        let other = name
        for (const { at, letter, kept } of edits) {
          const place = at % (other.length + 1)
          other = other.slice(0, place) + letter + other.slice(kept ? place : place + 1)
        }
        fc.pre(other[0] === name[0])
        const keys = new Set(nameKeys(name))
        expect(nameProbes(other).length).toBeLessThanOrEqual(75)
        expect(nameProbes(other).some((probe) => keys.has(probe))).toBe(true)
      }),
      { numRuns: runs(2_000) },
    )
  })

  test.each([
    ['COMERCIAL ITAPEMIRIM LTDA', 'C0MERCIAL ITAPEMIRIM LTDA ME', true],
    ['COMÉRCIO SÃO JOSÉ S.A.', 'COMERCIO SAO JOSES SA', true],
    ['COMERCIAL ITAPEMIRIM LTDA', 'COMERCIAL ITAPEMRIIM LTDA', true],
    ['AUTO POSTO 12 LTDA', 'AUTO POSTO 13 LTDA', false],
    ['TRANSPORTES SILVA LTDA', 'TRANSPORTES SILVEIRA LTDA', false],
    ['INDUSTRIA MARATINGA', 'INDUSTRIA GUARATINGA', false],
    ['DISTRIBUIDORA NORTE', 'DISTRIBUIDORA SUL', false],
  ])('%s and %s are alike: %s', (one, other, alike) => {
    expect(areAlike(normalName(one), normalName(other))).toBe(alike)
  })
})

test('every planted case fires, and every innocent one is silent', () => {
  const { documents, must, innocent, groups } = generate(11, { suppliers: 24, cases: 2 })
  const archive = createArchive(documents)
  const wrong = documents.flatMap((facts) => {
    const verdict = judge(facts, archive.history(facts), {
      ...settings,
      asOf: Date.parse('2027-02-01T00:00:00Z'),
      groups,
    })
    const loud = new Set(verdict.fired.filter(({ learning }) => !learning).map(({ id }) => id))
    return [
      ...must
        .get(facts.chave)!
        .filter((id) => !loud.has(id))
        .map((id) => `${id} is silent on ${facts.chave}`),
      ...innocent
        .get(facts.chave)!
        .filter((id) => loud.has(id))
        .map((id) => `${id} fires on ${facts.chave}`),
    ]
  })
  expect(wrong).toEqual([])
})

function ids({ fired }: Verdict): string[] {
  return fired.map(({ id }) => id)
}

function noteAt(at: string, amount: number, numero: number, issuer = supplier): AlertFacts {
  return note({ company, issuer, at, amount, numero })
}

function allow(of: Partial<AllowEntry>): AllowEntry {
  return {
    issuerBase: supplier.taxId.slice(0, 8),
    rule: 'S01',
    companyBase: company.base,
    until: Date.parse('2027-01-01T00:00:00Z'),
    ...of,
  }
}

/** A company whose habits are known: sixty small purchases. */
function learned() {
  const archive = createArchive()
  for (let n = 0; n < 60; n++) archive.put(noteAt(later('2026-01-02T09:00:00', n * 1_440), 100 + n, n * 10 + 1))
  return archive
}

/** Few suppliers with similar names, values and numbers, because rules then compare documents. */
function someDocuments(random: () => number): AlertFacts[] {
  const whole = (most: number) => Math.floor(random() * most)
  const some = (all: string[]) => all.filter(() => random() < 0.4)
  const companies = [company, companyOf(40_000_002, 'OUTRA EMPRESA LTDA'), companyOf(40_000_003, 'TERCEIRA LTDA')]
  const names = ['GRAFICA PIRATINGA', 'GRAFICA PIRATINGAS', 'TECIDOS BELOMIRIM', 'ATACADO HORIVERDE']
  const issuers = [...names, 'CERAMICA DORAPOLIS', 'MADEIRAS ITAPEZENDE', 'TINTAS LUMIQUARA'].map((name, n) =>
    supplierOf(50_000_100 + n, name, n === 3 ? { uf: 'SP', cUF: 35 } : {}),
  )
  const seen = new Set<string>()
  const notes = Array.from({ length: 50 }, (_, n) => {
    const at = later('2025-06-02T09:00:00', whole(400) * 1_440 + whole(600))
    const facts = note({
      company: companies[n % 9 === 0 ? 1 + whole(2) : 0]!,
      issuer: {
        ...issuers[whole(random() < 0.7 ? 4 : 7)]!,
        contacts: some(['fone 4733334444', 'end 89010000/RUA UM/1']),
      },
      at,
      amount: [90, 1_500, 20_000, 85_000][whole(4)]! * (random() < 0.5 ? 1 : 1 + random()),
      numero: 1 + whole(60),
      tpEmis: random() < 0.1 ? '6' : '1',
      nfe: {
        cfops: [random() < 0.5 ? '6102' : '5102'],
        inside: insideOf(
          [
            {
              product: 'PARAFUSO',
              price: 50 + whole(150),
              tax: random() < 0.8 ? '00 18' : '40',
              ncm: `${70 + whole(12)}010000`,
            },
          ],
          random() < 0.9 ? '5102' : '5910',
        ),
        ...(random() < 0.3 && { items: ['A|1|1', 'B|1|2'] }),
      },
    })
    if (random() < 0.15) facts.events = [{ tpEvento: 110111, nSeqEvento: 1, at: `${later(at, whole(9_000))}-03:00` }]
    return facts
  }).filter(({ chave }) => !seen.has(chave) && seen.add(chave))
  const freights = Array.from({ length: 12 }, (_, n) => {
    const { chave, company, issuedAt } = notes[whole(8)]!
    const at = later(issuedAt.slice(0, 19), whole(9_000))
    const cte = random() < 0.3 ? { tpServ: '1' } : {}
    return freight({ company, issuer: issuers[0]!, at, amount: 10 + whole(300), numero: 900 + n, cites: [chave], cte })
  })
  return [...notes, ...freights]
}

/** Versions that arrived before the last one: the resumo, and the document without events. */
function versionsOf(facts: AlertFacts): AlertFacts[] {
  if (facts.type === 'cte') return [facts]
  const { nfe: _, recipient: __, stated: ___, readers: ____, issuer, ...rest } = facts
  const summary = { ...rest, issuer: { ...issuer, contacts: undefined }, complete: false, events: [], tpAmb: '' }
  return [summary, { ...facts, events: [] }, facts]
}

function shuffled<T>(some: readonly T[], random: () => number): T[] {
  return some
    .map((one) => [random(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one)
}
