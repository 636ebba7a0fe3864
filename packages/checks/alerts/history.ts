import { chaveParts } from '@vigia/dfe/chave'
import { cte } from '@vigia/dfe/families/cte'
import type { FamilyId } from '@vigia/dfe/families/id'
import { type AlertFacts, baseOf, cancellationOf, isPurchase, numberKey, tpEmisOf } from './facts.ts'
import type { ItemLine, NfeItems } from './items.ts'
import { nameProbes, normalName } from './names.ts'
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
 * Context of a document in its workspace, each part from an index or an incremental summary;
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
  /** Other standing documents with the same `numberKey`, at most ten, by chave. */
  sameNumber: { chave: string; issuedAt: string; amount: string }[]
  /** Similar names (`nameProbes`) of earlier suppliers of other bases, if `pair` is empty. */
  alike: { base: string; name: string }[]
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

/** The twelve months whose documents are compared with the histogram of `month`. */
export function monthsAfter(month: string, count = 12): string[] {
  const first = Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1
  return Array.from({ length: count }, (_, index) => monthAt(first + index + 1))
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

/** Between which amounts (cents, from inclusive, to exclusive) a document is judged differently because thresholds moved. Usually none: edges of buckets seldom move. */
export function movedThresholds(before: Thresholds, after: Thresholds): { from: number; to: number }[] {
  const moves = [
    [before.p75 ?? 0, after.p75 ?? 0],
    [before.p90 ?? Number.POSITIVE_INFINITY, after.p90 ?? Number.POSITIVE_INFINITY],
    [before.p99 ?? Number.POSITIVE_INFINITY, after.p99 ?? Number.POSITIVE_INFINITY],
  ] as const
  return moves.flatMap(([old, now]) => (old === now ? [] : { from: Math.min(old, now), to: Math.max(old, now) }))
}

/** How many notes of each month of a company base, and of these how many with something of a chapter. */
export interface MonthChapters {
  notes: number
  chapters: Readonly<Record<string, number>>
}

const boughtMonths = 24
// Number of notes from which purchases show a habit.
const boughtMin = 30

/** Sums purchases of the 24 months before a month; `of` returns those of one month. */
export function boughtBefore(of: (month: string) => MonthChapters | undefined, month: string): Bought {
  const months = monthsBefore(month, boughtMonths).flatMap((each) => of(each) ?? [])
  return {
    known: months.reduce((sum, { notes }) => sum + notes, 0) >= boughtMin,
    chapters: new Set(
      months.flatMap(({ chapters }) => Object.keys(chapters).filter((chapter) => chapters[chapter]! > 0)),
    ),
  }
}

/** The months whose documents are compared with the purchases of `month`. */
export function boughtAfter(month: string): string[] {
  return monthsAfter(month, boughtMonths)
}

/** Chapters whose notes must be judged again after a change of earlier purchases. */
export function movedChapters(before: Bought, after: Bought): 'all' | string[] {
  if (before.known !== after.known) return 'all'
  const only = (one: Bought, other: Bought) => [...one.chapters].filter((chapter) => !other.chapters.has(chapter))
  return [...only(before, after), ...only(after, before)]
}

/** The chapters that a note adds to what its company base bought; null: nothing, or its items are not known. */
export function chaptersIn(facts: AlertFacts): string[] | null {
  return isPurchase(facts) && cancellationOf(facts) === null && facts.nfe?.inside
    ? Object.keys(facts.nfe.inside.chapters)
    : null
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

/** Whether a purchase is compared with those of other issuers. */
export function hasTwins(facts: AlertFacts): boolean {
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

/** Lookup keys of a document's history; look up `probesOf` only if `pair` has no standing one. */
export function askOf(facts: AlertFacts) {
  const at = instantOf(facts.issuedAt)
  return {
    issuerBase: baseOf(facts.issuer.taxId),
    companyBase: facts.company.base,
    at,
    since: at - pairDays * dayMs,
    months: monthsBefore(monthOf(facts.issuedAt)),
    number: numberKey(facts.chave),
    contingency: contingencyKey(facts),
    cited: facts.references.map(({ chave }) => chave),
    contacts: contactsIn(facts),
    carried: isPurchase(facts) && traceDue(facts) !== null,
    twins: hasTwins(facts),
  }
}

/** Keys of the known names that the issuer's may be taken for: at most 75. */
export function probesOf({ issuer }: Pick<AlertFacts, 'issuer'>): string[] {
  const name = normalName(issuer.name)
  return name === '' ? [] : nameProbes(name)
}

/** Keys under which a purchase has others find its issuer. */
export function contactsIn(facts: AlertFacts | null): string[] {
  return facts !== null && isPurchase(facts) ? (facts.issuer.contacts ?? []) : []
}

/** UF and local day of a document out of `tpEmis` 1, else null. */
export function contingencyKey(facts: AlertFacts): string | null {
  return isPurchase(facts) && tpEmisOf(facts.chave) !== '1'
    ? `${chaveParts(facts.chave).cUF} ${facts.issuedAt.slice(0, 10)}`
    : null
}

/**
 * Documents whose verdicts a change may affect, by index and bounded; the changed document is
 * always judged again. Instants in milliseconds, both ends included.
 */
export type Affected =
  /**
   * The next `pairMax` purchases of the pair until `until`; also similar names for a first contact.
   */
  | { kind: 'pair'; issuerBase: string; companyBase: string; chave: string; at: number; until: number }
  /** Documents with this `numberKey`, at most ten. */
  | { kind: 'number'; number: string }
  /** CT-e that name one of these chaves, at most twenty for each. */
  | { kind: 'citing'; chaves: string[] }
  /** The first purchases of the first `contactsMax` + 1 companies from this issuer, when the first of this company changes. */
  | { kind: 'contacts'; issuerBase: string }
  /** First purchases, from issuers with a name under one of these probes, after `at`: only when a name is new to the company, or no longer known. */
  | { kind: 'names'; companyBase: string; probes: string[]; at: number }
  /** Standing purchases of `sharingMs` after the first of each supplier that shares a contact with this one, when its contacts or its first purchase change, under which fewer than `sharedMax` are or were. */
  | { kind: 'sharing'; issuerBase: string; companyBase: string }
  /** The notes that a CT-e cites. */
  | { kind: 'carried'; chaves: string[] }
  /** Documents of this `contingencyKey`, only while fewer than six issuers are there. */
  | { kind: 'contingency'; key: string }
  /** Purchases of these months with amounts that `movedThresholds` names for each. */
  | { kind: 'values'; companyBase: string; type: FamilyId; months: string[] }
  /** Notes of these months that have something of a chapter that `movedChapters` names for each. */
  | { kind: 'bought'; companyBase: string; months: string[] }
  /** Standing notes of other issuers, issued from this instant on for `twinMs`, with amounts between these. */
  | { kind: 'twins'; issuerBase: string; companyBase: string; at: number; from: number; to: number }
  /** Purchases between the old and the new instant of `learnedAt`, when it moved. */
  | { kind: 'learning'; companyBase: string }

/**
 * Lists other documents to judge again when one comes (`before` null), is replaced, or goes
 * (`after` null); both have the same chave and company. Empty when the change is visible to no
 * other document.
 */
export function affectedBy(before: AlertFacts | null, after: AlertFacts | null): Affected[] {
  const known = (after ?? before)!
  if (before && after && shownToOthers(before) === shownToOthers(after)) return []
  const found: Affected[] = [{ kind: 'number', number: numberKey(known.chave) }]
  const named = new Set([before, after].flatMap((one) => one?.references.map(({ chave }) => chave) ?? []))
  found.push({ kind: 'citing', chaves: known.type === cte.id ? [known.chave, ...named] : [known.chave] })
  if (known.type === cte.id) found.push({ kind: 'carried', chaves: [...named] })
  const companyBase = known.company.base
  for (const one of [before, after]) {
    if (one === null || !isPurchase(one)) continue
    const { issuerBase, at } = askOf(one)
    found.push({
      kind: 'pair',
      issuerBase,
      companyBase,
      chave: one.chave,
      at,
      until: at + pairDays * dayMs,
    })
    found.push({ kind: 'contacts', issuerBase }, { kind: 'names', companyBase, probes: probesOf(one), at })
    found.push({ kind: 'sharing', issuerBase, companyBase })
    const key = contingencyKey(one)
    if (key !== null) found.push({ kind: 'contingency', key })
    found.push({ kind: 'values', companyBase, type: one.type, months: monthsAfter(monthOf(one.issuedAt)) })
    if (chaptersIn(one) !== null)
      found.push({ kind: 'bought', companyBase, months: boughtAfter(monthOf(one.issuedAt)) })
    if (hasTwins(one)) found.push({ kind: 'twins', issuerBase, companyBase, at, ...twinRange(cents(one.amount)) })
    found.push({ kind: 'learning', companyBase })
  }
  const seen = new Set<string>()
  return found.filter((one) => {
    const text = JSON.stringify(one)
    return !seen.has(text) && seen.add(text)
  })
}

// All that the verdict of another document may read of this one.
function shownToOthers(facts: AlertFacts): string {
  return JSON.stringify([
    isPurchase(facts),
    facts.type,
    facts.situation,
    facts.tpAmb === '2',
    pairDocument(facts),
    facts.cte,
    facts.recipient?.taxId,
    facts.nfe?.modFrete,
    facts.references,
  ])
}

/** Whether a document counts in the histograms: a standing purchase with an amount. */
export function isCounted(facts: AlertFacts): boolean {
  return isPurchase(facts) && cancellationOf(facts) === null && cents(facts.amount) > 0
}
