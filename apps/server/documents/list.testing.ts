import { gzipSync } from 'node:zlib'
import { formatCnpj, formatCpf } from '@vigia/dfe/cnpj'
import fc from 'fast-check'
import type { Service } from '../platform/service.ts'
import type { Arrival } from './arrival.ts'
import type { Filter } from './filter.ts'
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

/** What is delivered of a draft: the document and, for some, an event. */
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
    facts,
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

/** What somebody types and which documents that means. */
export interface Typed {
  text: string
  means: (draft: Draft, index: number) => boolean
}

const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
const named = (text: string): Typed => ({
  text,
  means: ({ issuer }) => plain(issuers[issuer]!.name).includes(plain(text.trim())),
})
const ofTaxId = (text: string, start: string): Typed => ({
  text,
  means: ({ issuer }) => issuers[issuer]!.taxId.startsWith(start),
})
type Write = (text: string) => string
const masked: Write = (taxId) => (taxId.length === 11 ? formatCpf(taxId) : formatCnpj(taxId))
const inFours: Write = (chave) => chave.replace(/(.{4})/g, '$1 ')

// What people know by heart of an issuer: its tax id in every way of writing it, part of it, its name or a piece of that.
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
    // The 100 of "100%" alone is a number, and means one.
    .filter(({ part }) => !/^[\d.\s]+$/.test(part))
    .map(({ part, loud }) => ({ ...named(part), text: loud ? part.toUpperCase() : plain(part) })),
  fc.constantFrom('%', '_', '\\', '🚚', '100%', 'e_s', '.', 'ninguém', 'x'.repeat(200), "'; --").map(named),
)

// The first characters of a tax id, with the signs of the mask among them.
function cutAfter(written: string, length: number): string {
  let counted = 0
  return [...written].filter((sign) => (/\w/.test(sign) ? ++counted <= length : counted < length)).join('')
}

/** Ways of typing what is in one of the documents, or in none. */
export function typed(drafts: Draft[]): fc.Arbitrary<Typed> {
  const one = fc.nat(drafts.length - 1)
  const number = one.map((index) => String(drafts[index]!.number))
  const chave = one.map((index) => chaveOf(drafts[index]!, index))
  return fc.oneof(
    fc
      .tuple(
        number,
        fc.constantFrom<Write>(
          String,
          (number) => number.padStart(9, '0'),
          (number) => ` ${number} `,
        ),
      )
      .map(([number, write]): Typed => {
        const text = write(number)
        const isBase = text.trim().length === 8
        return {
          text,
          means: (draft) =>
            draft.number === Number(number) || (isBase && issuers[draft.issuer]!.taxId.startsWith(number)),
        }
      }),
    fc
      .tuple(
        chave,
        fc.constantFrom<Write>(String, inFours, (chave) => `NFe${chave.toLowerCase()}`),
      )
      .map(([chave, write]): Typed => ({ text: write(chave), means: (...one) => chaveOf(...one) === chave })),
    fc.tuple(chave, fc.integer({ min: 25, max: 43 })).map(([chave, length]): Typed => {
      const start = chave.slice(0, length)
      return { text: inFours(start), means: (...one) => chaveOf(...one).startsWith(start) }
    }),
    { weight: 2, arbitrary: someIssuer },
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

export type Question = Omit<Filter, 'text' | 'companyId'> & { company?: number }

const seldom = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, arbitrary)

/** Every filter of the list but the text, in any combination; dates in order. */
export const question: fc.Arbitrary<Question> = fc
  .record({
    type: fc.constantFrom<0 | 2>(0, 2),
    company: seldom(fc.nat(1)),
    status: seldom(fc.integer({ min: 1, max: 8 })),
    role: seldom(fc.integer({ min: 0, max: 7 })),
    from: seldom(someTime),
    to: seldom(someTime),
    page: fc.constantFrom(1, 1, 1, 2, 3),
    // As the screen asks.
    wholeDays: fc.boolean(),
  })
  .map(({ wholeDays, ...filter }) => {
    const [from, to] =
      filter.from && filter.to && filter.from > filter.to ? [filter.to, filter.from] : [filter.from, filter.to]
    return wholeDays
      ? { ...filter, from: from && `${from.slice(0, 10)}T00:00:00`, to: to && `${to.slice(0, 10)}T23:59:59` }
      : { ...filter, from, to }
  })
