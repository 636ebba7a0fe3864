import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../tests/support/seed.ts'
import type { AlertFacts } from './facts.ts'
import { thresholdsOf, valueBucket } from './history.ts'
import { judge, textOf, type Verdict } from './judge.ts'
import { areAlike, normalName } from './names.ts'
import { type AllowEntry, defaultSettings } from './settings.ts'
import { createArchive } from './support/archive.ts'
import { companyOf, later, note, supplierOf } from './support/facts.ts'
import { generate } from './support/generate.ts'

const company = companyOf(40_000_001, 'EMPRESA COMPRADORA LTDA')
const settings = { ...defaultSettings, asOf: Date.parse('2026-11-25T12:00:00Z') }
const supplier = supplierOf(50_000_001, 'METALURGICA ITAPEMIRIM LTDA')

describe('the verdict of a set of documents', () => {
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
