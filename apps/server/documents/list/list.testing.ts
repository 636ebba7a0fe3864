import { gzipSync } from 'node:zlib'
import { formatCnpj, formatCpf } from '@vigia/dfe/cnpj'
import fc from 'fast-check'
import type { Service } from '../../platform/service.ts'
import type { Arrival } from '../arrival.ts'
import type { Filter, Order } from './filter.ts'
import { cnpjs } from './order.testing.ts'

// Documents and filters for list.test.ts, and a simple model of what a filter must find.

/** A document of one of the two companies, with what the list is asked about. */
export interface Draft {
  to: number
  type: Service
  issuer: number
  number: number
  issuedAt: string
  cents: number
  roles: number[]
  /** How it arrives, or the event that comes after it. */
  fate: 'summary' | 'authorized' | 'denied' | 'cancelled' | number
}

// Names as people have them and as they trip up searches; CNPJs with and without letters, a CPF.
const issuers = [
  { taxId: '11222333000181', name: 'PAPELARIA SÃO JOÃO LTDA' },
  { taxId: '12ABC34501DE35', name: 'Açúcar 100% Doce_S.A.' },
  { taxId: '52998224725', name: 'José da Silva Müller' },
  { taxId: '55666777000181', name: 'COMERCIO DE ALIMENTOS 2000 LTDA' },
  { taxId: '33444555000181', name: 'A 3 MARIAS \\ FILHOS 🚚' },
]

// Months, years and days begin and end among them, and some come again and again.
const times = [
  '1999-12-31T23:59:59',
  '2000-01-01T00:00:00',
  '2024-02-29T12:00:00',
  '2025-12-31T23:59:59',
  '2026-01-01T00:00:00',
  '2026-01-31T23:59:59',
  '2026-02-01T00:00:00',
  '2026-02-10T09:15:00',
  '2026-02-10T09:15:01',
  '2026-02-28T23:59:59',
  '2026-03-01T00:00:00',
  '2099-12-31T23:59:59',
]

const eventStatus: Record<number, number> = { 210210: 8, 210200: 6, 210220: 4, 210240: 5, 110110: 7, 110111: 3 }
const eventsOf = { nfe: [210210, 210200, 210220, 210240, 110111], cte: [110110, 110111] }

export const draft: fc.Arbitrary<Draft> = fc.constantFrom<Service>('nfe', 'cte').chain((type) =>
  fc.record({
    to: fc.nat(1),
    type: fc.constant(type),
    issuer: fc.nat(issuers.length - 1),
    number: fc.constantFrom(1, 77, 1234, 11_222_333, 999_999_999),
    issuedAt: fc.constantFrom(...times),
    cents: fc.nat(100_000_000),
    roles: fc.uniqueArray(fc.constantFrom(...(type === 'nfe' ? [0, 1, 2, 3] : [0, 1, 3, 4, 5, 6, 7])), {
      maxLength: 3,
    }),
    fate: fc.constantFrom<Draft['fate']>(
      'authorized',
      'authorized',
      'denied',
      'cancelled',
      ...(type === 'nfe' ? (['summary'] as const) : []),
      ...eventsOf[type],
    ),
  }),
)

/** The chave of the draft at `index`; the check digit is nobody's matter here. */
export function chaveOf({ type, issuer, number, issuedAt }: Draft, index: number): string {
  const month = issuedAt.slice(2, 4) + issuedAt.slice(5, 7)
  const taxId = issuers[issuer]!.taxId.padStart(14, '0')
  const mod = type === 'nfe' ? '55' : '57'
  return `35${month}${taxId}${mod}001${String(number).padStart(9, '0')}1${String(index).padStart(8, '0')}0`
}

/** Deliveries of a draft: the document and, for some, an event. */
export function arrivalsOf(draft: Draft, index: number): Arrival[] {
  const chave = chaveOf(draft, index)
  const { type, issuer, number, cents, fate } = draft
  const { taxId, name } = issuers[issuer]!
  const common = { type, root: '', chave }
  const document: Arrival['facts'] = {
    ...common,
    kind: 'document',
    complete: fate !== 'summary',
    mod: chave.slice(20, 22),
    serie: 1,
    numero: number,
    issuedAt: `${draft.issuedAt}-03:00`,
    issuerTaxId: taxId,
    issuerName: name,
    amount: (cents / 100).toFixed(2),
    parties: draft.roles.map((role) => ({ role, taxId: cnpjs[draft.to]! })),
    tpAmb: '2',
    situation: fate === 'denied' || fate === 'cancelled' ? fate : 'authorized',
  }
  const registration = { summary: false, registration: 'registered' as const, nSeqEvento: 1, cOrgao: '91' }
  const event = (tpEvento: number): Arrival['facts'] => ({
    ...common,
    ...registration,
    kind: 'event',
    tpEvento,
    dhEvento: '2026-04-01T10:00:00-03:00',
    protocol: String(index),
    description: 'Evento',
  })
  const all = typeof fate === 'number' ? [document, event(fate)] : [document]
  return all.map((facts, place) => ({
    nsu: BigInt(2 * index + place + 1),
    schema: 'x',
    content: gzipSync(''),
    problem: null,
    chave: facts!.chave,
    facts,
    proof: null,
  }))
}

export function statusOf({ fate }: Draft): number {
  return typeof fate === 'number' ? eventStatus[fate]! : { summary: 1, authorized: 2, denied: 9, cancelled: 3 }[fate]
}

/** The parts of the company; a summary is only given to the destinatário, who is named nowhere is 8. */
export function rolesOf({ roles, fate }: Draft): number[] {
  const named = fate === 'summary' ? [...new Set([...roles, 1])] : roles
  return named.length > 0 ? named : [8]
}

/** Search text and the documents that it means. */
export interface Typed {
  text: string
  /** The range does not matter. */
  anyDate?: true
  means: (draft: Draft, index: number) => boolean
}

const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
// As office.testing.ts calls its companies.
const companyName = 'empresa'

// Each word must stand in one of the fields.
const words = (text: string): Typed => ({
  text,
  means: (draft) =>
    text
      .trim()
      .split(/\s+/)
      .every((word) => isIn(draft, word)),
})
function isIn({ issuer, number, to }: Draft, word: string): boolean {
  const bare = word.replace(/[./-]/g, '').toUpperCase()
  const digits = /^[\d.]+$/.test(word) && bare.length <= 9
  const isTaxId = /^[A-Z0-9]*\d[A-Z0-9]*$/.test(bare) && (bare.length >= 8 || (/[/-]/.test(word) && bare.length >= 6))
  return (
    [issuers[issuer]!.name, companyName].some((name) => plain(name).includes(plain(word))) ||
    (digits && number === Number(bare)) ||
    (isTaxId && [issuers[issuer]!.taxId, cnpjs[to]!].some((taxId) => taxId.includes(bare)))
  )
}
const named = words
const ofTaxId = (text: string, part: string): Typed => ({
  text,
  means: ({ issuer, to }) => [issuers[issuer]!.taxId, cnpjs[to]!].some((taxId) => taxId.includes(part)),
})
type Write = (text: string) => string
const masked: Write = (taxId) => (taxId.length === 11 ? formatCpf(taxId) : formatCnpj(taxId))
const inFours: Write = (chave) => chave.replace(/(.{4})/g, '$1 ')

// Facts about an issuer that people type: its tax id in any notation, part of it, its name or a piece.
const issuer = fc.constantFrom(...issuers)
const someIssuer = fc.oneof(
  fc
    .tuple(
      issuer,
      fc.constantFrom<Write>(
        String,
        masked,
        (id) => id.toLowerCase(),
        (id) => ` ${masked(id)} `,
      ),
    )
    .map(([{ taxId }, write]) => ofTaxId(write(taxId), taxId)),
  fc
    .tuple(issuer, fc.constantFrom(10, 12), fc.constantFrom<Write>(String, masked))
    .filter(([{ taxId }, length]) => taxId.length > length)
    .map(([{ taxId }, length, write]) => ofTaxId(cutAfter(write(taxId), length), taxId.slice(0, length))),
  issuer.map(({ name }) => named(name)),
  fc
    .tuple(issuer, fc.nat(6), fc.integer({ min: 4, max: 40 }), fc.boolean())
    .map(([{ name }, start, length, loud]) => ({
      part: [...name]
        .slice(start, start + length)
        .join('')
        .trim(),
      loud,
    }))
    .filter(({ part }) => part !== '')
    .map(({ part, loud }) => ({ ...named(part), text: loud ? part.toUpperCase() : plain(part) })),
  fc.constantFrom('%', '_', '\\', '🚚', '100%', 'e_s', '.', 'ninguém', 'x'.repeat(200), "'; --").map(named),
)

// The first characters of a tax id, with the signs of the mask among them.
function cutAfter(written: string, length: number): string {
  let counted = 0
  return [...written].filter((sign) => (/\w/.test(sign) ? ++counted <= length : counted < length)).join('')
}

const money = (cents: number) => (cents / 100).toLocaleString('pt-BR', { minimumFractionDigits: 2 })
const inCents = (cents: number) => (draft: Draft) => draft.cents === cents

// Facts about one document besides its issuer, in the notations of people.
function fact(draft: Draft, index: number): fc.Arbitrary<Typed> {
  const { number, cents, issuedAt } = draft
  const [year = '', month = '', day = ''] = issuedAt.slice(0, 10).split('-')
  const chave = chaveOf(draft, index)
  const is = (text: string, means: Typed['means']): Typed => ({ text, means })
  return fc.constantFrom<Typed>(
    words(String(number)),
    words(String(number).padStart(9, '0')),
    words(String(number).replace(/\B(?=(\d{3})+$)/g, '.')),
    is(money(cents), inCents(cents)),
    is(`R$ ${money(cents)}`, inCents(cents)),
    is((cents / 100).toFixed(2), inCents(cents)),
    is(`r$${money(cents).replaceAll('.', '')}`, inCents(cents)),
    is(`> ${money(cents)}`, (one) => one.cents > cents),
    is(`>=${money(cents)}`, (one) => one.cents >= cents),
    is(`<R$ ${money(cents)}`, (one) => one.cents < cents),
    is(`<= ${Math.floor(cents / 100)}`, (one) => one.cents <= Math.floor(cents / 100) * 100),
    is(`1.000..${money(cents)}`, (one) => one.cents >= 100_000 && one.cents <= cents),
    is(`${money(cents)} .. R$ 900000`, (one) => one.cents >= cents && one.cents <= 90_000_000),
    is(`${day}/${month}/${year}`, (one) => one.issuedAt.startsWith(`${year}-${month}-${day}`)),
    is(`${Number(day)}/${Number(month)}`, (one) => one.issuedAt.slice(5, 10) === `${month}-${day}`),
    is(`${month}/${year}`, (one) => one.issuedAt.startsWith(`${year}-${month}`)),
    is(chave.slice(-12), (...one) => chaveOf(...one).includes(chave.slice(-12))),
    is(
      chave.slice(15, 35),
      (...one) => /^\d+$/.test(chave.slice(15, 35)) && chaveOf(...one).includes(chave.slice(15, 35)),
    ),
  )
}

/** Ways of typing what is in one of the documents, or in none; several at once in any order. */
export function typed(drafts: Draft[]): fc.Arbitrary<Typed> {
  const one = fc.nat(drafts.length - 1)
  const chave = one.map((index) => chaveOf(drafts[index]!, index))
  const someFact = one.chain((index) => fact(drafts[index]!, index))
  const word = fc.oneof(someFact, someIssuer, fc.constantFrom('empresa', 'EMPR', ...cnpjs).map(words))
  return fc.oneof(
    fc
      .tuple(
        chave,
        fc.constantFrom<Write>(String, inFours, (chave) => `NFe${chave.toLowerCase()}`),
      )
      .map(
        ([chave, write]): Typed => ({
          text: write(chave),
          anyDate: true,
          means: (...one) => chaveOf(...one) === chave,
        }),
      ),
    fc.tuple(chave, fc.integer({ min: 25, max: 43 })).map(([chave, length]): Typed => {
      const start = chave.slice(0, length)
      return { text: inFours(start), means: (...one) => chaveOf(...one).startsWith(start) }
    }),
    { weight: 2, arbitrary: someIssuer },
    { weight: 3, arbitrary: someFact },
    {
      weight: 3,
      arbitrary: fc.array(word, { minLength: 2, maxLength: 3 }).map(
        (parts): Typed => ({
          text: parts.map(({ text }) => text.trim()).join(' '),
          means: (...one) => parts.every(({ means }) => means(...one)),
        }),
      ),
    },
  )
}

const someTime = fc
  .tuple(
    fc.constantFrom(
      ...times,
      '0001-01-01T00:00:00',
      '2026-02-14T00:00:00',
      '2026-02-14T23:59:59',
      '2999-12-31T23:59:59',
      '9999-12-31T23:59:59',
    ),
    fc.constantFrom(-1, 0, 0, 1),
  )
  .map(([time, seconds]) => {
    const moved = new Date(Date.parse(`${time}Z`) + seconds * 1000).toISOString()
    // Years of four digits, the first of them 0001.
    return moved.length > 24 || moved < '0001' ? time : moved.slice(0, 19)
  })

export type Question = Omit<Filter, 'CampoPesquisa' | 'companyId' | 'order'> & { company?: number; order: Order }

const seldom = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, arbitrary)

/** Every filter of the list but the text, in any combination; dates in order. */
export const question: fc.Arbitrary<Question> = fc
  .record({
    TipoDFe: fc.constantFrom<0 | 2>(0, 2),
    company: seldom(fc.nat(1)),
    Status: seldom(fc.integer({ min: 1, max: 8 })),
    TipoParticipacao: seldom(fc.integer({ min: 0, max: 7 })),
    DataDe: seldom(someTime),
    DataAte: seldom(someTime),
    ValorDe: seldom(fc.constantFrom('0', '250000.00', '500000.5')),
    ValorAte: seldom(fc.constantFrom('500000.50', '999999.99')),
    page: fc.constantFrom(1, 1, 1, 2, 3),
    order: fc.record({
      by: fc.constantFrom<Order['by']>('issued', 'issued', 'amount', 'arrived', 'due', 'issuer'),
      ascending: fc.boolean(),
    }),
    // As the screen asks.
    wholeDays: fc.boolean(),
  })
  .map(({ wholeDays, DataDe, DataAte, ...filter }) => {
    const [from, to] = DataDe && DataAte && DataDe > DataAte ? [DataAte, DataDe] : [DataDe, DataAte]
    return wholeDays
      ? { ...filter, DataDe: from && `${from.slice(0, 10)}T00:00:00`, DataAte: to && `${to.slice(0, 10)}T23:59:59` }
      : { ...filter, DataDe: from, DataAte: to }
  })

/** Whether the model finds its amount in the range. */
export function hasAmount({ cents }: Draft, { ValorDe, ValorAte }: Question): boolean {
  return cents >= Number(ValorDe ?? 0) * 100 && cents <= Number(ValorAte ?? 1e9) * 100
}

/** Order of two documents in a list; `due` and `arrived` as the row shows them. */
export function compareRows({ by, ascending }: Order, one: ListedDraft, other: ListedDraft): number {
  const key = (listed: ListedDraft): string | number => {
    if (by === 'issued') return listed.draft.issuedAt
    if (by === 'amount') return listed.draft.cents
    if (by === 'arrived') return listed.arrived
    if (by === 'due') return listed.due ?? ''
    return plain(issuers[listed.draft.issuer]!.name)
  }
  const [a, b] = [key(one), key(other)]
  if (a !== b) {
    if (by === 'due' && (a === '' || b === '')) return a === '' ? 1 : -1
    return a < b === ascending ? -1 : 1
  }
  const newest =
    one.draft.issuedAt === other.draft.issuedAt
      ? Number(other.id - one.id)
      : one.draft.issuedAt < other.draft.issuedAt
        ? 1
        : -1
  return by === 'issued' && ascending ? -newest : newest
}
interface ListedDraft {
  draft: Draft
  id: bigint
  arrived: number
  due: string | null
}
