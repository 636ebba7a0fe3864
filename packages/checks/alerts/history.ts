import { chaveParts } from '@vigia/dfe/chave'
import { type AlertFacts, baseOf, cancellationOf, isPurchase, tpEmisOf } from './facts.ts'
import type { ItemLine, NfeItems } from './items.ts'
import { traceDue } from './transport.ts'
import { cents, dayMs, instantOf } from './values.ts'

// Order is by the dates in documents, then by chave; never by order of arrival.

/** How many earlier documents of a pair a verdict looks at. */
export const pairMax = 100
/** How far back a pair is looked at: 24 months. */
export const pairDays = 730
/** How many first contacts of an issuer a verdict looks at. */
export const contactsMax = 50

/** How long a supplier is one first seen lately: 180 days. */
export const sharingMs = 180 * dayMs
/** Suppliers that make a shared contact meaningless: an accountant, an office building. */
export const sharedMax = 6

/** Purchases and days since the first one after which habits of a company base are known. */
export const learningPeriod = { purchases: 30, days: 30 }

/** Instant (ms) when they are known, from the first purchase and the one that completes the number. */
export function learnedFrom(first: number, last: number): number {
  return Math.max(last, first + learningPeriod.days * dayMs)
}

/**
 * Context of a document in its workspace, each part from an index or a summary by month;
 * `askOf` gives the keys. "Before" means an earlier issue date, or the same date and a smaller
 * chave.
 */
export interface History {
  /** The last `pairMax` purchases of the pair before it within `pairDays`, newest first. */
  pair: PairDocument[]
  /** Usual amounts of the company base for this type, in the twelve calendar months before. */
  thresholds: Thresholds
  /** Instant when the company's habits were known (`learningPeriod`), ms; null: not yet. */
  learnedAt: number | null
  /** Other standing documents of the same issuer, model, série and number, at most ten, by chave. */
  sameNumber: { chave: string; issuedAt: string; amount: string }[]
  /** Names of earlier suppliers of other bases that `areAlike`, with the first purchase of each, if `pair` has no standing one. */
  alike: { base: string; name: string; chave: string }[]
  /** The first purchase of each company base from the issuer base, the earliest `contactsMax`. */
  contacts: { companyBase: string; chave: string; at: number }[]
  /** Issuer bases of the UF in contingency (not `tpEmis` 1) on the same local day; at most five. */
  contingency: number
  /** For a CT-e: standing CT-e that cite one of its NF-e; at most twenty, by chave. */
  freights: Freight[]
  /** Documents of the company base that the document names and that are here. */
  cited: CitedDocument[]
  /** Other suppliers of the company base under one of the contacts of the issuer, by contact and base; at most five of each contact, which are too many (`sharedMax`). */
  sharing: Sharer[]
  /** Purchases of the company base by chapter, in the 24 months before that of the document. */
  bought: Bought
  /** Similar purchases from others up to a week before: the last `twinsMax`, if `askOf` asks. */
  twins: Twin[]
  /** Whether a standing CT-e cites this NF-e. Only looked up if `carried` of `askOf`. */
  carried: boolean
}

/** A purchase as later ones are compared with it. Texts as in `AlertFacts`. */
export interface PairDocument {
  chave: string
  issuedAt: string
  /** `issuedAt` as milliseconds. */
  at: number
  /** Cents. */
  value: number
  /** Registration of the cancellation; null: not cancelled; '': time unknown. */
  cancelledAt: string | null
  issuer: AlertFacts['issuer']
  readers?: string[]
  freight?: { ufIni: string; ufFim: string; vCarga?: string }
  /** For a complete NF-e: UF of the recipient, CFOP, NCM chapters and heaviest products. */
  to?: string
  cfops?: string[]
  chapters?: string[]
  lines?: ItemLine[]
  /** Items as in `NfeFacts`; compared for equal values and cancelled documents. */
  items?: string[]
}

/** Purchases of 24 months by chapter. */
export interface Bought {
  /** Whether enough notes were read for a habit. */
  known: boolean
  /** First two digits of the NCM. */
  chapters: ReadonlySet<string>
}

export interface Twin {
  chave: string
  issuedAt: string
  amount: string
  issuerBase: string
  issuerName: string
  items: string[]
}

export interface Freight {
  chave: string
  issuedAt: string
  amount: string
  issuerName: string
  payer?: string
  tpCTe: string
  tpServ: string
  cMunIni: string
  cMunFim: string
  cites: string[]
}

export interface CitedDocument {
  chave: string
  amount: string
  issuerBase: string
  recipientBase?: string
  modFrete?: string
  standing: boolean
}

/** A supplier that shares a contact with another one, and its first purchase. */
export interface Sharer {
  key: string
  base: string
  /** Normalised. */
  name: string
  chave: string
  /** Milliseconds. */
  at: number
}

/** Amounts in cents at quantiles of the purchases; null without any, `p99` with fewer than 100. */
export interface Thresholds {
  p75: number | null
  p90: number | null
  p99: number | null
}

/** Counts by bucket of a month's purchases of one company base and type. */
export type Histogram = ReadonlyMap<number, number>

const perDecade = 24

/** The bucket of an amount in cents: 24 to a decade, so each is 10 % wide. */
export function valueBucket(value: number): number {
  return Math.floor(perDecade * Math.log10(Math.max(value, 1)) + 1e-9)
}

/** The month of a document in its histogram, AAAA-MM as written. */
export function monthOf(issuedAt: string): string {
  return issuedAt.slice(0, 7)
}

/** The twelve months before `month`, whose histograms make its thresholds. */
export function monthsBefore(month: string, count = 12): string[] {
  const first = Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1
  return Array.from({ length: count }, (_, index) => monthAt(first - index - 1))
}

function monthAt(index: number): string {
  return `${Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, '0')}`
}

/** Thresholds of the sum of histograms: the upper edge of the bucket that holds the quantile, so at most 10.1 % above the true quantile and never below. */
export function thresholdsOf(histograms: readonly Histogram[]): Thresholds {
  const sum = new Map<number, number>()
  let count = 0
  for (const histogram of histograms)
    for (const [bucket, times] of histogram) {
      sum.set(bucket, (sum.get(bucket) ?? 0) + times)
      count += times
    }
  if (count === 0) return { p75: null, p90: null, p99: null }
  const sorted = [...sum].sort(([a], [b]) => a - b)
  const edge = (q: number) => {
    let left = Math.ceil(count * q)
    for (const [bucket, times] of sorted) {
      left -= times
      if (left <= 0) return Math.ceil(10 ** ((bucket + 1) / perDecade))
    }
    return Number.POSITIVE_INFINITY
  }
  return { p75: edge(0.75), p90: edge(0.9), p99: count < 100 ? null : edge(0.99) }
}

/** Standing notes of a company base in a month, and the chapters of their goods. */
export interface MonthChapters {
  notes: number
  chapters: readonly string[]
}

const boughtMonths = 24
// Number of notes from which purchases show a habit.
const boughtMin = 30

/** Sums purchases of the 24 months before a month; `of` returns those of one month. */
export function boughtBefore(of: (month: string) => MonthChapters | undefined, month: string): Bought {
  const months = monthsBefore(month, boughtMonths).flatMap((each) => of(each) ?? [])
  return {
    known: months.reduce((sum, { notes }) => sum + notes, 0) >= boughtMin,
    chapters: new Set(months.flatMap(({ chapters }) => chapters)),
  }
}

/** How many twins a verdict looks at. */
export const twinsMax = 10
/** Cents from which two notes of two issuers with the same items are worth a look. */
const twinMin = 100_000
/** One thing alone may agree by chance, as a rent or a tank of fuel. */
const twinItems = 2
/** How far apart twins are issued. */
export const twinMs = 7 * dayMs

/** Cents between which a twin of a value is: at most 1 % of the greater one apart. */
export function twinRange(value: number): { from: number; to: number } {
  return { from: Math.ceil(value * 0.99), to: Math.floor(value / 0.99) }
}

// Whether a purchase is compared with those of other issuers.
function hasTwins(facts: AlertFacts): boolean {
  return isPurchase(facts) && cents(facts.amount) >= twinMin && (facts.nfe?.items.length ?? 0) >= twinItems
}

/** The document as later ones of its pair look at it. */
export function pairDocument(facts: AlertFacts): PairDocument {
  const { chave, issuedAt, amount, issuer, readers, cte } = facts
  const freight = cte && { ufIni: cte.ufIni, ufFim: cte.ufFim, vCarga: cte.vCarga }
  return {
    chave,
    issuedAt,
    at: instantOf(issuedAt),
    value: cents(amount),
    cancelledAt: cancellationOf(facts),
    issuer,
    readers,
    freight,
    ...(facts.nfe?.inside && insideOf(facts, facts.nfe.inside)),
    items: facts.nfe?.items,
  }
}

function insideOf({ recipient }: AlertFacts, { lines, cfops, chapters }: NfeItems) {
  return {
    to: recipient?.uf,
    cfops: Object.keys(cfops),
    chapters: Object.keys(chapters),
    lines: lines.map(({ name: _, value: __, vICMS: ___, ...line }): ItemLine => line),
  }
}

/** Lookup keys of a document's history. */
export function askOf(facts: AlertFacts) {
  const at = instantOf(facts.issuedAt)
  return {
    issuerBase: baseOf(facts.issuer.taxId),
    companyBase: facts.company.base,
    at,
    since: at - pairDays * dayMs,
    contingency: contingencyKey(facts),
    cited: facts.references.map(({ chave }) => chave),
    contacts: contactsIn(facts),
    carried: isPurchase(facts) && traceDue(facts) !== null,
    twins: hasTwins(facts),
  }
}

/** Keys under which a purchase has others find its issuer. */
export function contactsIn(facts: AlertFacts): string[] {
  return isPurchase(facts) ? (facts.issuer.contacts ?? []) : []
}

/** UF and local day of a document out of `tpEmis` 1, else null. */
export function contingencyKey(facts: AlertFacts): string | null {
  return isPurchase(facts) && tpEmisOf(facts.chave) !== '1'
    ? `${chaveParts(facts.chave).cUF} ${facts.issuedAt.slice(0, 10)}`
    : null
}
