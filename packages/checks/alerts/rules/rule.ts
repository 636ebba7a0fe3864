import type { FamilyId } from '@vigia/dfe/families/id'
import { type AlertFacts, baseOf, cancellationOf, isPurchase } from '../facts.ts'
import type { History, PairDocument } from '../history.ts'
import type { Settings } from '../settings.ts'
import { cents, dayMs, instantOf } from '../values.ts'

export type Family = 'identity' | 'value' | 'timing' | 'logistics' | 'tax' | 'integrity' | 'cancellation'

/** A rule: its texts, weight and check. */
export interface Rule {
  id: string
  /** Missing: 1. */
  version?: number
  /** In Portuguese, for people. */
  name: string
  family: Family
  /** Families of documents that it looks at; missing: all of `judgedFamilies`. */
  families?: readonly FamilyId[]
  /** 0 to 1. */
  weight: number
  /** `purchase`: standing purchases; `received`: standing documents to the company; `any`: all. */
  of: 'purchase' | 'received' | 'any'
  /** It compares with the company's habits, and is silent in weight until these are learned. */
  learns?: true
  /** It only adds to others. */
  adds?: true
  /** Critical by itself, and no allow entry silences it. */
  critical?: true
  find(view: View): Finding | null
}

/** Result of a rule: inputs, compared documents, and a Portuguese sentence with the numbers. */
export interface Finding {
  inputs: Record<string, string | number | boolean>
  compared?: string[]
  sentence: string
  /** Weight of this finding, for rules with several weights. */
  weight?: number
}

/** A document with its history, as the rules look at it. */
export interface View {
  facts: AlertFacts
  history: History
  settings: Settings
  issuerBase: string
  at: number
  /** Cents. */
  value: number
  cancelledAt: string | null
  purchase: boolean
  /** Earlier purchases of the pair, newest first; with the cancelled ones. */
  all: readonly PairDocument[]
  /** Standing ones of `all`. */
  past: readonly PairDocument[]
  /** Purchases of `past` within 365 days. */
  year: readonly PairDocument[]
  /** Whether the company's habits are known: before, everybody is new to it. */
  learned: boolean
  /** No standing document of the pair in 24 months, and the supplier is not marked as known. */
  isNew: boolean
}

export function viewOf(facts: AlertFacts, history: History, settings: Settings, isKnown: boolean): View {
  const at = instantOf(facts.issuedAt)
  const all = history.pair
  const past = all.filter(({ cancelledAt }) => cancelledAt === null)
  const purchase = isPurchase(facts)
  return {
    facts,
    history,
    learned: history.learnedAt !== null && at > history.learnedAt,
    settings,
    issuerBase: baseOf(facts.issuer.taxId),
    at,
    value: cents(facts.amount),
    cancelledAt: cancellationOf(facts),
    purchase,
    all,
    past,
    year: past.filter((one) => one.at >= at - 365 * dayMs),
    isNew: purchase && past.length === 0 && !isKnown,
  }
}

/** Earlier documents, newest first, at most `days` before the instant `at`. */
export function within<T extends { at: number }>(past: readonly T[], at: number, days: number): T[] {
  return past.filter((one) => one.at >= at - days * dayMs)
}

/** Share of two multisets that both have in common. */
export function jaccard(one: readonly string[], other: readonly string[]): number {
  const counts = new Map<string, number>()
  for (const item of one) counts.set(item, (counts.get(item) ?? 0) + 1)
  let common = 0
  for (const item of other) {
    const left = counts.get(item) ?? 0
    if (left === 0) continue
    common++
    counts.set(item, left - 1)
  }
  return common / Math.max(1, one.length + other.length - common)
}
