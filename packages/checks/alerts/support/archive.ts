import { type AlertFacts, baseOf, cancellationOf, isPurchase } from '../facts.ts'
import {
  type Affected,
  affectedBy,
  askOf,
  boughtBefore,
  chaptersIn,
  contactsIn,
  contactsMax,
  contingencyKey,
  type History,
  isCounted,
  learnedFrom,
  learningPeriod,
  type MonthChapters,
  monthOf,
  monthsBefore,
  movedChapters,
  movedThresholds,
  type PairDocument,
  pairDocument,
  pairMax,
  probesOf,
  type Sharer,
  sharedMax,
  sharingMs,
  type Thresholds,
  thresholdsOf,
  twinMs,
  twinRange,
  twinsMax,
  valueBucket,
} from '../history.ts'
import { nameKeys, normalName } from '../names.ts'
import { cents, dayMs, instantOf, isNote } from '../values.ts'

/** All documents of a workspace in memory, one version of each, for tests, benches and back-tests: it answers what a database answers by its indexes. */
export interface Archive {
  /** Adds a document, or replaces it (by its XML, or with another event); returns the documents to judge again, itself first. */
  put(facts: AlertFacts): AlertFacts[]
  /** Takes a document out; returns the others to judge again. */
  remove(facts: AlertFacts): AlertFacts[]
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
  const bought = new Map<string, MonthChapters>()
  const byChave = index()
  const byNumber = index()
  const byCitation = index()
  const byContingency = index()
  const byName = index()
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
      sameNumber: distinct(byNumber.get(ask.number))
        .filter((one) => one.chave !== facts.chave && one.tpAmb !== '2' && stands(one))
        .slice(0, 10)
        .map(({ chave, issuedAt, amount }) => ({ chave, issuedAt, amount })),
      alike: pair.some(({ cancelledAt }) => cancelledAt === null) ? [] : alike(facts, probesOf(facts)),
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
    return boughtBefore((each) => bought.get(`${companyBase} ${each}`), month)
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

  function alike(facts: AlertFacts, probes: string[]) {
    const { companyBase, issuerBase, at } = askOf(facts)
    const found = new Map<string, { base: string; name: string }>()
    for (const one of probes.flatMap((probe) => [...byName.get(`${companyBase} ${probe}`)])) {
      const base = baseOf(one.issuer.taxId)
      if (base === issuerBase || !isBefore({ facts: one, at: instantOf(one.issuedAt) }, { facts, at })) continue
      const name = normalName(one.issuer.name)
      found.set(`${base} ${name}`, { base, name })
    }
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
  }

  function contacts(issuerBase: string, most = contactsMax) {
    const first = [...companiesOf.get(issuerBase)].map((one) => pairs.get(pairKey(one))?.[0])
    const entries = [...new Set(first)].flatMap((one) => one ?? []).sort(inOrder)
    return entries.slice(0, most).map(({ facts, at }) => ({ companyBase: facts.company.base, chave: facts.chave, at }))
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

  // Data of a supplier that other verdicts read: its first purchase and its contacts.
  function seen({ companyBase, issuerBase }: Sharing) {
    const contacts = (pairs.get(`${companyBase} ${issuerBase}`) ?? []).flatMap(({ facts }) => contactsIn(facts))
    return { first: firstOf(companyBase, issuerBase), contacts: new Set(contacts) }
  }

  // Documents to judge again because a supplier changed from `was`.
  function sharedWith(one: Sharing, was: ReturnType<typeof seen>): AlertFacts[] {
    const now = seen(one)
    const isMoved = JSON.stringify(was.first) !== JSON.stringify(now.first)
    const known = [...new Set([...was.contacts, ...now.contacts])]
    const changed = known.filter((key) => isMoved || was.contacts.has(key) !== now.contacts.has(key))
    return changed.flatMap((key) => {
      const times = [was.first, ...sharersOf(one.companyBase, key)].flatMap((each) => each?.at ?? [])
      return [...byContact.get(`${one.companyBase} ${key}`)].filter((facts) => {
        const at = instantOf(facts.issuedAt)
        return times.some((time) => at >= time && at <= time + sharingMs)
      })
    })
  }

  // Adds or removes the data of a document that other verdicts read.
  function change(facts: AlertFacts, add: boolean): void {
    const { companyBase, issuerBase, number } = askOf(facts)
    const entry = { facts, at: instantOf(facts.issuedAt) }
    const mark = (keys: Index, key: string) => (add ? keys.get(key).add(facts) : keys.get(key).delete(facts))
    if (add) documents.set(keyOf(facts), facts)
    else documents.delete(keyOf(facts))
    mark(byChave, facts.chave)
    mark(byNumber, number)
    for (const { chave } of facts.references) mark(byCitation, chave)
    if (!isPurchase(facts)) return
    place(pairs, pairKey(facts), entry, add)
    place(purchases, companyBase, entry, add)
    mark(companiesOf, issuerBase)
    const contingency = contingencyKey(facts)
    if (contingency !== null) mark(byContingency, contingency)
    const name = normalName(facts.issuer.name)
    if (name !== '') for (const key of nameKeys(name)) mark(byName, `${companyBase} ${key}`)
    for (const key of contactsIn(facts)) mark(byContact, `${companyBase} ${key}`)
    const chapters = chaptersIn(facts)
    if (chapters !== null) {
      const key = `${companyBase} ${monthOf(facts.issuedAt)}`
      const known = bought.get(key) ?? { notes: 0, chapters: {} }
      const by = add ? 1 : -1
      const counts = chapters.map((chapter) => [chapter, (known.chapters[chapter] ?? 0) + by] as const)
      bought.set(key, { notes: known.notes + by, chapters: { ...known.chapters, ...Object.fromEntries(counts) } })
    }
    if (!isCounted(facts)) return
    const month = `${companyBase} ${facts.type} ${monthOf(facts.issuedAt)}`
    const histogram = histograms.get(month) ?? new Map<number, number>()
    const bucket = valueBucket(cents(facts.amount))
    const count = (histogram.get(bucket) ?? 0) + (add ? 1 : -1)
    if (count === 0) histogram.delete(bucket)
    else histogram.set(bucket, count)
    histograms.set(month, histogram)
  }

  function replace(old: AlertFacts | null, now: AlertFacts | null): AlertFacts[] {
    const affected = affectedBy(old, now)
    const { companyBase } = askOf((now ?? old)!)
    const values = affected.flatMap((one) =>
      one.kind === 'values' ? one.months.map((month) => ({ month, type: one.type })) : [],
    )
    const were = values.map(({ month, type }) => thresholds(companyBase, type, month))
    const months = affected.flatMap((one) => (one.kind === 'bought' ? one.months : []))
    const boughtWas = months.map((month) => boughtAt(companyBase, month))
    const learned = learnedAt(companyBase)
    const sharers = affected.filter((one) => one.kind === 'sharing').map((one) => ({ one, was: seen(one) }))
    if (old) change(old, false)
    if (now) change(now, true)
    const found = new Set<AlertFacts>(now ? [now] : [])
    for (const one of affected) for (const facts of resolve(one)) found.add(facts)
    for (const { one, was } of sharers) for (const facts of sharedWith(one, was)) found.add(facts)
    for (const [position, { month, type }] of values.entries())
      for (const { from, to } of movedThresholds(were[position]!, thresholds(companyBase, type, month)))
        for (const { facts } of purchases.get(companyBase) ?? [])
          if (facts.type === type && monthOf(facts.issuedAt) === month && isIn(cents(facts.amount), from, to))
            found.add(facts)
    for (const [position, month] of months.entries()) {
      const moved = movedChapters(boughtWas[position]!, boughtAt(companyBase, month))
      for (const { facts } of purchases.get(companyBase) ?? []) {
        const own = monthOf(facts.issuedAt) === month ? Object.keys(facts.nfe?.inside?.chapters ?? {}) : []
        if (moved === 'all' ? own.length > 0 : own.some((chapter) => moved.includes(chapter))) found.add(facts)
      }
    }
    const learnedNow = learnedAt(companyBase)
    if (learned !== learnedNow) {
      const [from, to] = [learned ?? Number.POSITIVE_INFINITY, learnedNow ?? Number.POSITIVE_INFINITY].sort(
        (a, b) => a - b,
      )
      for (const { facts, at } of purchases.get(companyBase) ?? []) if (at >= from! && at <= to!) found.add(facts)
    }
    return [...found]
  }

  function resolve(one: Affected): AlertFacts[] {
    switch (one.kind) {
      case 'pair': {
        const entries = pairs.get(`${one.companyBase} ${one.issuerBase}`) ?? []
        const later = entries.filter(({ facts, at }) => at > one.at || (at === one.at && facts.chave > one.chave))
        return later
          .filter(({ at }) => at <= one.until)
          .slice(0, pairMax)
          .map(({ facts }) => facts)
      }
      case 'number':
        return [...byNumber.get(one.number)]
      case 'citing':
        return one.chaves.flatMap((chave) => [...byCitation.get(chave)])
      case 'carried':
        return one.chaves.flatMap((chave) => [...byChave.get(chave)])
      case 'contacts':
        return contacts(one.issuerBase, contactsMax + 1).flatMap(
          ({ companyBase, chave }) => documents.get(`${companyBase} ${chave}`) ?? [],
        )
      case 'names': {
        const bases = new Set(
          one.probes
            .flatMap((probe) => [...byName.get(`${one.companyBase} ${probe}`)])
            .map((facts) => baseOf(facts.issuer.taxId)),
        )
        return [...bases]
          .flatMap((base) => newOnes(pairs.get(`${one.companyBase} ${base}`) ?? []))
          .filter(({ at }) => at >= one.at)
          .map(({ facts }) => facts)
      }
      case 'twins':
        return (purchases.get(one.companyBase) ?? [])
          .filter(
            ({ facts, at }) =>
              at >= one.at &&
              at <= one.at + twinMs &&
              facts.type === 'nfe' &&
              isIn(cents(facts.amount), one.from, one.to) &&
              askOf(facts).issuerBase !== one.issuerBase,
          )
          .map(({ facts }) => facts)
      case 'contingency':
        return [...byContingency.get(one.key)]
      default:
        return []
    }
  }

  for (const facts of initial) change(facts, true)
  return {
    put: (facts) => replace(documents.get(keyOf(facts)) ?? null, facts),
    remove: (facts) => replace(documents.get(keyOf(facts)) ?? null, null),
    history,
  }
}

// Purchases of a pair with no standing one in the two years before.
function newOnes(entries: readonly Entry[]): Entry[] {
  let last = Number.NEGATIVE_INFINITY
  return entries.filter(({ facts, at }) => {
    const isNew = at - last > 730 * dayMs
    if (stands(facts)) last = at
    return isNew
  })
}

type Sharing = Extract<Affected, { kind: 'sharing' }>

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
