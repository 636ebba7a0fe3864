import { chaveParts } from '@vigia/dfe/chave'
import { type AlertFacts, baseOf, cancellationOf, isPurchase } from '../facts.ts'
import {
  askOf,
  boughtBefore,
  contactsIn,
  contactsMax,
  contingencyKey,
  type History,
  learnedFrom,
  learningPeriod,
  monthOf,
  monthsBefore,
  type PairDocument,
  pairDocument,
  pairMax,
  type Sharer,
  sharedMax,
  type Thresholds,
  thresholdsOf,
  twinMs,
  twinRange,
  twinsMax,
  valueBucket,
} from '../history.ts'
import { areAlike, normalName } from '../names.ts'
import { cents, instantOf, isNote } from '../values.ts'

/** All documents of a workspace in memory, one version of each, for tests, benches and back-tests: it answers what a database answers by its indexes. */
export interface Archive {
  /** Adds a document, or replaces it (by its XML, or with another event). */
  put(facts: AlertFacts): void
  /** Context of a document, which may be in the archive or not. */
  history(facts: AlertFacts): History
}

interface Entry {
  facts: AlertFacts
  at: number
  past?: PairDocument
}

export function createArchive(initial: readonly AlertFacts[] = []): Archive {
  const documents = new Map<string, AlertFacts>()
  /** Purchases, oldest first. */
  const pairs = new Map<string, Entry[]>()
  const purchases = new Map<string, Entry[]>()
  const histograms = new Map<string, Map<number, number>>()
  const bought = index()
  const byNumber = index()
  const byCitation = index()
  const byContingency = index()
  const byName = new Map<string, Map<string, Set<AlertFacts>>>()
  const byContact = index()
  const companiesOf = index()

  function history(facts: AlertFacts): History {
    const ask = askOf(facts)
    const self: Entry = { facts, at: ask.at }
    // A document may be asked about that is here as another version of itself.
    const earlier = before(pairs.get(pairKey(facts)) ?? [], self).filter(
      (entry) => entry.at >= ask.since && entry.facts.chave !== facts.chave,
    )
    const pair = earlier
      .slice(-pairMax)
      .reverse()
      .map((entry) => (entry.past ??= pairDocument(entry.facts)))
    return {
      pair,
      thresholds: thresholds(ask.companyBase, facts.type, monthOf(facts.issuedAt)),
      learnedAt: learnedAt(ask.companyBase),
      sameNumber: distinct(byNumber.get(numberKey(facts.chave)))
        .filter((one) => one.chave !== facts.chave && one.tpAmb !== '2' && stands(one))
        .slice(0, 10)
        .map(({ chave, issuedAt, amount }) => ({ chave, issuedAt, amount })),
      alike: pair.some(({ cancelledAt }) => cancelledAt === null) ? [] : alike(facts),
      contacts: contacts(ask.issuerBase),
      contingency:
        ask.contingency === null
          ? 0
          : new Set(distinct(byContingency.get(ask.contingency)).map((one) => baseOf(one.issuer.taxId))).size,
      freights: freights(facts),
      cited: cited(facts),
      bought: boughtAt(ask.companyBase, monthOf(facts.issuedAt)),
      twins: ask.twins ? twins(facts) : [],
      sharing: sharing(facts),
      carried: ask.carried && [...byCitation.get(facts.chave)].some((one) => one.type === 'cte' && stands(one)),
    }
  }

  function thresholds(companyBase: string, type: string, month: string): Thresholds {
    return thresholdsOf(monthsBefore(month).flatMap((each) => histograms.get(`${companyBase} ${type} ${each}`) ?? []))
  }

  function boughtAt(companyBase: string, month: string) {
    return boughtBefore((each) => {
      const notes = [...bought.get(`${companyBase} ${each}`)]
      return { notes: notes.length, chapters: notes.flatMap((one) => chaptersIn(one)!) }
    }, month)
  }

  function twins(facts: AlertFacts) {
    const { companyBase, issuerBase, at } = askOf(facts)
    const { from, to } = twinRange(cents(facts.amount))
    return before(purchases.get(companyBase) ?? [], { facts, at })
      .filter(
        (one) =>
          one.at >= at - twinMs &&
          one.facts.type === 'nfe' &&
          stands(one.facts) &&
          isIn(cents(one.facts.amount), from, to) &&
          askOf(one.facts).issuerBase !== issuerBase,
      )
      .reverse()
      .slice(0, twinsMax)
      .map(({ facts: { chave, issuedAt, amount, issuer, nfe } }) => ({
        chave,
        issuedAt,
        amount,
        issuerBase: baseOf(issuer.taxId),
        issuerName: issuer.name,
        items: nfe?.items ?? [],
      }))
  }

  function learnedAt(companyBase: string): number | null {
    const own = purchases.get(companyBase) ?? []
    const last = own[learningPeriod.purchases - 1]
    return last === undefined ? null : learnedFrom(own[0]!.at, last.at)
  }

  function alike(facts: AlertFacts) {
    const { companyBase, issuerBase, at } = askOf(facts)
    const own = normalName(facts.issuer.name)
    const names = [...(byName.get(companyBase) ?? [])].filter(([name]) => own !== '' && areAlike(own, name))
    const found = new Map<string, { base: string; name: string; chave: string; at: number }>()
    for (const [name, some] of names)
      for (const one of some) {
        const base = baseOf(one.issuer.taxId)
        const when = instantOf(one.issuedAt)
        if (base === issuerBase || !isBefore({ facts: one, at: when }, { facts, at })) continue
        const first = found.get(`${base} ${name}`)
        if (first && (first.at < when || (first.at === when && first.chave < one.chave))) continue
        found.set(`${base} ${name}`, { base, name, chave: one.chave, at: when })
      }
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { at: _, ...one }]) => one)
  }

  function contacts(issuerBase: string) {
    const first = [...companiesOf.get(issuerBase)].map((one) => pairs.get(pairKey(one))?.[0])
    const entries = [...new Set(first)].flatMap((one) => one ?? []).sort(inOrder)
    return entries
      .slice(0, contactsMax)
      .map(({ facts, at }) => ({ companyBase: facts.company.base, chave: facts.chave, at }))
  }

  function freights(facts: AlertFacts) {
    if (facts.type !== 'cte') return []
    const others = facts.references
      .filter(({ chave }) => isNote(chave))
      .flatMap(({ chave }) => [...byCitation.get(chave)])
      .filter((one) => one.type === 'cte' && one.chave !== facts.chave && one.company.base === facts.company.base)
    return distinct(others)
      .filter((one) => one.cte !== undefined && stands(one))
      .slice(0, 20)
      .map((one) => ({
        ...one.cte!,
        chave: one.chave,
        issuedAt: one.issuedAt,
        amount: one.amount,
        issuerName: one.issuer.name,
        cites: one.references.map(({ chave }) => chave),
      }))
  }

  function cited(facts: AlertFacts) {
    return facts.references.flatMap(({ chave }) => {
      const one = documents.get(`${facts.company.base} ${chave}`)
      if (one === undefined) return []
      const { amount, nfe, recipient } = one
      const recipientBase = recipient?.taxId && baseOf(recipient.taxId)
      return {
        chave,
        amount,
        issuerBase: baseOf(one.issuer.taxId),
        recipientBase,
        modFrete: nfe?.modFrete,
        standing: stands(one),
      }
    })
  }

  function sharing(facts: AlertFacts): Sharer[] {
    const { companyBase, issuerBase, contacts } = askOf(facts)
    return contacts.toSorted().flatMap((key) =>
      sharersOf(companyBase, key)
        .filter(({ base }) => base !== issuerBase)
        .slice(0, sharedMax - 1),
    )
  }

  // All suppliers under a contact, by base.
  function sharersOf(companyBase: string, key: string): Sharer[] {
    const bases = new Set([...byContact.get(`${companyBase} ${key}`)].map((one) => baseOf(one.issuer.taxId)))
    return [...bases].sort().map((base) => ({ key, base, ...firstOf(companyBase, base)! }))
  }

  function firstOf(companyBase: string, base: string) {
    const first = pairs.get(`${companyBase} ${base}`)?.[0]
    return first && { name: normalName(first.facts.issuer.name), chave: first.facts.chave, at: first.at }
  }

  // Adds or removes the data of a document that other verdicts read.
  function change(facts: AlertFacts, add: boolean): void {
    const { companyBase, issuerBase } = askOf(facts)
    const entry = { facts, at: instantOf(facts.issuedAt) }
    const mark = (keys: Index, key: string) => (add ? keys.get(key).add(facts) : keys.get(key).delete(facts))
    if (add) documents.set(keyOf(facts), facts)
    else documents.delete(keyOf(facts))
    mark(byNumber, numberKey(facts.chave))
    for (const { chave } of facts.references) mark(byCitation, chave)
    if (!isPurchase(facts)) return
    place(pairs, pairKey(facts), entry, add)
    place(purchases, companyBase, entry, add)
    mark(companiesOf, issuerBase)
    const contingency = contingencyKey(facts)
    if (contingency !== null) mark(byContingency, contingency)
    const name = normalName(facts.issuer.name)
    const names = byName.get(companyBase) ?? new Map<string, Set<AlertFacts>>()
    const named = names.get(name) ?? new Set<AlertFacts>()
    byName.set(companyBase, names)
    names.set(name, named)
    if (add && name !== '') named.add(facts)
    else named.delete(facts)
    for (const key of contactsIn(facts)) mark(byContact, `${companyBase} ${key}`)
    if (chaptersIn(facts) !== null) mark(bought, `${companyBase} ${monthOf(facts.issuedAt)}`)
    if (!isCounted(facts)) return
    const month = `${companyBase} ${facts.type} ${monthOf(facts.issuedAt)}`
    const histogram = histograms.get(month) ?? new Map<number, number>()
    const bucket = valueBucket(cents(facts.amount))
    const count = (histogram.get(bucket) ?? 0) + (add ? 1 : -1)
    if (count === 0) histogram.delete(bucket)
    else histogram.set(bucket, count)
    histograms.set(month, histogram)
  }

  for (const facts of initial) change(facts, true)
  return {
    put: (facts) => {
      const old = documents.get(keyOf(facts))
      if (old) change(old, false)
      change(facts, true)
    },
    history,
  }
}

type Index = { get: (key: string) => Set<AlertFacts> }

function index(): Index {
  const sets = new Map<string, Set<AlertFacts>>()
  return {
    get: (key) => {
      const found = sets.get(key) ?? new Set<AlertFacts>()
      sets.set(key, found)
      return found
    },
  }
}

function place(map: Map<string, Entry[]>, key: string, entry: Entry, add: boolean): void {
  const entries = map.get(key) ?? []
  map.set(key, entries)
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(entries[middle]!, entry)) low = middle + 1
    else high = middle
  }
  if (add) entries.splice(low, 0, entry)
  else entries.splice(low, 1)
}

function before(entries: readonly Entry[], self: Entry): Entry[] {
  return entries.filter((entry) => isBefore(entry, self))
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.at < other.at || (one.at === other.at && one.facts.chave < other.facts.chave)
}

function inOrder(one: Entry, other: Entry): number {
  return one.at - other.at || (one.facts.chave < other.facts.chave ? -1 : 1)
}

// One for each chave, by chave: two companies may have the same document.
function distinct(found: Iterable<AlertFacts>): AlertFacts[] {
  const byChave = new Map([...found].map((facts) => [facts.chave, facts]))
  return [...byChave.values()].sort((a, b) => (a.chave < b.chave ? -1 : 1))
}

function stands(facts: AlertFacts): boolean {
  return facts.situation === 'authorized' && cancellationOf(facts) === null
}

function isIn(value: number, from: number, to: number): boolean {
  return value >= from && value <= to
}

const keyOf = (facts: AlertFacts) => `${facts.company.base} ${facts.chave}`
const pairKey = (facts: AlertFacts) => `${facts.company.base} ${baseOf(facts.issuer.taxId)}`

// The chapters that a note adds to what its company base bought; null: nothing.
function chaptersIn(facts: AlertFacts): string[] | null {
  return isPurchase(facts) && cancellationOf(facts) === null && facts.nfe?.inside
    ? Object.keys(facts.nfe.inside.chapters)
    : null
}

// Whether a document counts in the histograms.
function isCounted(facts: AlertFacts): boolean {
  return isPurchase(facts) && cancellationOf(facts) === null && cents(facts.amount) > 0
}

// Issuer CNPJ, model, série and number, as the chave has them: two documents never share it (MOC 7.0, rejection 539).
function numberKey(chave: string): string {
  const { cnpj, mod, serie, numero } = chaveParts(chave)
  return [cnpj, mod, serie, numero].join(' ')
}
