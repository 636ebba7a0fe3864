import { createHash } from 'node:crypto'
import { type AlertFacts, baseOf, cancellationOf, isPurchase } from '@vigia/checks/alerts/facts'
import {
  affectedBy,
  askOf,
  type Bought,
  boughtAfter,
  boughtBefore,
  chaptersIn,
  contactsIn,
  contactsMax,
  isCounted,
  learnedFrom,
  learningPeriod,
  type MonthChapters,
  monthOf,
  monthsAfter,
  monthsBefore,
  movedChapters,
  movedThresholds,
  pairDocument,
  pairMax,
  sharedMax,
  sharingMs,
  type Thresholds,
  thresholdsOf,
  twinMs,
  valueBucket,
} from '@vigia/checks/alerts/history'
import { nameKeys, nameProbes, normalName } from '@vigia/checks/alerts/names'
import { nfe } from '@vigia/dfe/families/nfe'
import { type RawBuilder, sql } from 'kysely'
import type { Database, WithDatabase } from '../../platform/context.ts'
import { serviceCodes, serviceOf } from '../../platform/service.ts'
import { nfeFacts } from './alerts.ts'
import { packFacts, unpackFacts } from './packed.ts'

// Increments that the rules look up. Whoever changes something here holds the row of the workspace in `alert_position`.

/** A document with what is known of it now; `facts` null: it is no more. */
export interface FactChange {
  documentId: bigint
  companyId: number
  facts: AlertFacts | null
}

interface Known extends FactChange {
  before: AlertFacts | null
}

// Documents that one document may touch, in a kind without a bound of its own.
const touchedMax = 200
// Purchases of a supplier among which those with a contact are looked for.
const sharingMax = 1_000

/** Stores facts and marks all documents whose verdict that may change (`alert_due`), in a transaction inside the workspace. */
export async function putFacts(
  { db }: WithDatabase,
  workspaceId: number,
  changes: readonly FactChange[],
): Promise<void> {
  const known = await readBefore(db, workspaceId, changes)
  const purchases = known.flatMap(({ before, facts }) => [before, facts].filter((one) => one && isPurchase(one)))
  const bases = [...new Set(purchases.map((one) => one!.company.base))]
  const [learned, histograms] = [
    await readLearned(db, workspaceId, bases),
    await readHistograms(db, workspaceId, bases),
  ]
  const suppliers = await readSuppliers(db, workspaceId, known)
  await writeFacts(db, workspaceId, known)
  const names = await writeNames(db, workspaceId, known)
  const contacts = await writeContacts(db, workspaceId, known)
  const touched = known.flatMap(({ before, facts }) => affectedBy(before, facts))
  const of = <K extends (typeof touched)[number]['kind']>(kind: K) =>
    touched.filter((one): one is Extract<(typeof touched)[number], { kind: K }> => one.kind === kind)
  const facts = (rest: RawBuilder<unknown>) =>
    sql`select f.document_id from alert_fact f where f.workspace_id = ${workspaceId} and ${rest}`
  const mark = (found: RawBuilder<unknown>) => markDue(db, workspaceId, found)

  if (of('pair').length > 0)
    await mark(sql`select x.document_id from ${records(of('pair'), { companyBase: 'text', issuerBase: 'text', chave: 'text', at: 'bigint', until: 'bigint' })}
      cross join lateral (${facts(sql`f.company_base = q."companyBase" and f.issuer_base = q."issuerBase" and f.purchase
        and (f.at, f.chave) > (q.at, q.chave) and f.at <= q.until order by f.at, f.chave limit ${pairMax}`)}) x`)
  if (of('number').length > 0)
    await mark(sql`select x.document_id from ${records(of('number'), { number: 'text' })}
      cross join lateral (${facts(sql`f.number_key = q.number limit ${touchedMax}`)}) x`)
  if (of('citing').length > 0)
    await mark(sql`select x.document_id from unnest(${of('citing').flatMap(({ chaves }) => chaves)}::text[]) q (chave)
      cross join lateral (select c.document_id from alert_citation c where c.workspace_id = ${workspaceId} and c.chave = q.chave limit ${touchedMax}) x`)
  if (of('carried').length > 0)
    await mark(
      facts(
        sql`f.chave = any (${of('carried').flatMap(({ chaves }) => chaves)}::text[]) and f.type = ${nfe.code} and f.purchase`,
      ),
    )
  if (of('contingency').length > 0)
    await mark(sql`select x.document_id from ${records(of('contingency'), { key: 'text' })}
      cross join lateral (${facts(sql`f.contingency_key = q.key limit ${touchedMax}`)}) x`)

  const sharing = await findSharing(db, workspaceId, suppliers, contacts)
  if (sharing.length > 0)
    await mark(sql`select x.document_id from ${records(
      sharing.map((one) => ({ ...one, mark: contactMark(one.key) })),
      { companyBase: 'text', issuerBase: 'text', key: 'text', mark: 'text', at: 'bigint' },
    )}
      cross join lateral (select f.document_id from (${facts(sql`f.company_base = q."companyBase" and f.issuer_base = q."issuerBase" and f.purchase and f.standing
        and f.at between q.at and q.at + ${sharingMs}::bigint order by f.at, f.chave limit ${sharingMax}`)}) s
        join alert_fact f on f.workspace_id = ${workspaceId} and f.document_id = s.document_id
       where ${hasContact(sql`q.key`, sql`q.mark`)} limit ${touchedMax}) x`)

  // Only a name that is new, no longer known, or known since another day changes what is alike, and who was first.
  const issuers = [...new Set(names.map(({ issuerBase }) => issuerBase))].map((issuerBase) => ({ issuerBase }))
  if (issuers.length > 0)
    await mark(sql`select f.document_id from ${records(issuers, { issuerBase: 'text' })}
      cross join lateral (${firstContacts(workspaceId, sql`q."issuerBase"`, contactsMax + 1)}) x
      join alert_fact f on f.workspace_id = ${workspaceId} and f.chave = x.chave and f.company_base = x.company_base`)
  const named = names
    .filter(({ name }) => name !== '')
    .map(({ companyBase, name, at }) => ({ companyBase, at, probes: nameProbes(name) }))
  if (named.length > 0)
    await mark(sql`select x.document_id from ${records(named, { companyBase: 'text', at: 'bigint', probes: 'text[]' })}
      cross join lateral (select distinct n.issuer_base from alert_name n
                           where n.workspace_id = ${workspaceId} and n.company_base = q."companyBase" and n.key = any (q.probes)) n
      -- One whose pair changed since its last verdict is due anyway.
      cross join lateral (${facts(sql`f.company_base = q."companyBase" and f.issuer_base = n.issuer_base and f.is_new and f.at >= q.at limit ${touchedMax}`)}) x`)

  const moved = await writeHistograms(db, workspaceId, known, histograms)
  if (moved.amounts.length > 0)
    await mark(sql`select x.document_id from ${records(moved.amounts, { companyBase: 'text', type: 'smallint', month: 'text', from: 'bigint', to: 'bigint' })}
      cross join lateral (${facts(sql`f.company_base = q."companyBase" and f.type = q.type and f.month = q.month and f.purchase
        and f.amount between q.from and q.to`)}) x`)
  // Only where something is bought for the first time, or no more, and only of the months in which it was bought later.
  if (moved.chapters.length > 0)
    await mark(sql`select x.document_id from ${records(moved.chapters, { companyBase: 'text', month: 'text', chapters: 'text[]' })}
      cross join lateral (${facts(sql`f.company_base = q."companyBase" and f.type = ${nfe.code} and f.month = q.month and f.purchase
        and (q.chapters is null or (${nfeFacts} -> 'inside' -> 'chapters')::jsonb ?| q.chapters)`)}) x`)
  if (of('twins').length > 0)
    await mark(sql`select x.document_id from ${records(
      of('twins').map((one) => ({ ...one, months: monthsAround(one.at, one.at + twinMs) })),
      { companyBase: 'text', issuerBase: 'text', at: 'bigint', from: 'bigint', to: 'bigint', months: 'text[]' },
    )}
      cross join lateral (${facts(sql`f.company_base = q."companyBase" and f.type = ${nfe.code} and f.month = any (q.months) and f.purchase
        and f.amount between q.from and q.to and f.at between q.at and q.at + ${twinMs}::bigint and f.issuer_base <> q."issuerBase" order by f.at, f.chave limit ${touchedMax}`)}) x`)
  const learnedNow = await readLearned(db, workspaceId, bases)
  const learning = bases.flatMap((companyBase) => {
    const [before, now] = [learned.get(companyBase) ?? never, learnedNow.get(companyBase) ?? never]
    return before === now ? [] : [{ companyBase, from: Math.min(before, now), to: Math.max(before, now) }]
  })
  if (learning.length > 0)
    await mark(sql`select x.document_id from ${records(learning, { companyBase: 'text', from: 'bigint', to: 'bigint' })}
      cross join lateral (${facts(sql`f.company_base = q."companyBase" and f.purchase and f.at between q.from and q.to`)}) x`)
}

// After every date that a document can have.
const never = 8.64e15

export async function markDue(db: Database, workspaceId: number, found: RawBuilder<unknown>): Promise<void> {
  await sql`
    insert into alert_due (workspace_id, document_id, company_id, again_at)
    select f.workspace_id, f.document_id, f.company_id, '-infinity' from (select distinct document_id from (${found}) x) x
      -- Each by its key: a join of many might go through all that is known.
     cross join lateral (select * from alert_fact f where f.workspace_id = ${workspaceId} and f.document_id = x.document_id offset 0) f
    on conflict (workspace_id, document_id) do update set again_at = excluded.again_at
     where alert_due.again_at > excluded.again_at`.execute(db)
}

/** Records as the rows of `q`, whose columns are those of `types`. */
export function records(rows: readonly object[], types: Record<string, string>): RawBuilder<unknown> {
  const columns = Object.entries(types).map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`)
  return sql`json_to_recordset(${JSON.stringify(rows)}::json) as q (${sql.join(columns)})`
}

export function firstContacts(workspaceId: number, issuerBase: RawBuilder<unknown>, most: number): RawBuilder<unknown> {
  return sql`select * from (
    select distinct on (n.company_base) n.company_base, n.at, n.chave from alert_name n
     where n.workspace_id = ${workspaceId} and n.issuer_base = ${issuerBase} order by n.company_base, n.at, n.chave) n
     order by n.at, n.chave limit ${most}`
}

export function firstSeen(
  workspaceId: number,
  companyBase: RawBuilder<unknown>,
  issuerBase: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`select n.name, n.chave, n.at from alert_name n
    where n.workspace_id = ${workspaceId} and n.company_base = ${companyBase} and n.issuer_base = ${issuerBase} order by n.at, n.chave limit 1`
}

/** Milliseconds at which the habits of a company base are known; bases without habits are absent. */
export async function readLearned(
  db: Database,
  workspaceId: number,
  bases: readonly string[],
): Promise<Map<string, number>> {
  if (bases.length === 0) return new Map()
  const purchase = (offset: number) => sql`(
    select f.at from alert_fact f where f.workspace_id = ${workspaceId} and f.company_base = q.base and f.purchase
     order by f.at, f.chave offset ${offset} limit 1)::float8`
  const { rows } = await sql<{ base: string; first: number | null; last: number | null }>`
    select q.base, ${purchase(0)} as first, ${purchase(learningPeriod.purchases - 1)} as last
     from unnest(${bases}::text[]) q (base)`.execute(db)
  return new Map(
    rows.flatMap(({ base, first, last }) => (last === null ? [] : [[base, learnedFrom(first!, last)] as const])),
  )
}

interface MonthSums extends MonthChapters {
  counts: Map<number, number>
}

export type Histograms = Map<string, Map<string, MonthSums>>

export const histogramKey = (companyBase: string, type: string) => `${companyBase} ${type}`

export async function readHistograms(db: Database, workspaceId: number, bases: readonly string[]): Promise<Histograms> {
  const found: Histograms = new Map()
  if (bases.length === 0) return found
  const { rows } = await sql<{
    base: string
    type: number
    month: string
    counts: Record<string, number>
    notes: number
    chapters: Record<string, number>
  }>`
    select company_base as base, type, month, counts, notes, chapters from alert_histogram
     where workspace_id = ${workspaceId} and company_base = any (${bases}::text[])`.execute(db)
  for (const { base, type, month, counts, notes, chapters } of rows)
    monthsOf(found, base, serviceOf(type)).set(month, {
      counts: new Map(Object.entries(counts).map(([bucket, n]) => [Number(bucket), n])),
      notes,
      chapters,
    })
  return found
}

function monthsOf(histograms: Histograms, companyBase: string, type: string): Map<string, MonthSums> {
  const key = histogramKey(companyBase, type)
  const months = histograms.get(key) ?? new Map<string, MonthSums>()
  histograms.set(key, months)
  return months
}

export function thresholdsAt(months: ReadonlyMap<string, MonthSums> | undefined, month: string): Thresholds {
  return thresholdsOf(monthsBefore(month).flatMap((each) => months?.get(each)?.counts ?? []))
}

export function boughtAt(months: ReadonlyMap<string, MonthSums> | undefined, month: string): Bought {
  return boughtBefore((each) => months?.get(each), month)
}

/** Amount ranges and chapters (null: all) in which a month's documents have to be judged again. */
interface Moved {
  amounts: { companyBase: string; type: number; month: string; from: number; to: number }[]
  chapters: { companyBase: string; month: string; chapters: string[] | null }[]
}

interface MonthSteps {
  facts: AlertFacts
  counts: Map<number, number>
  notes: number
  chapters: Map<string, number>
}

function stepsOf(known: readonly Known[]): MonthSteps[] {
  const steps = new Map<string, MonthSteps>()
  for (const { before, facts } of known)
    for (const [one, by] of [
      [before, -1],
      [facts, 1],
    ] as const) {
      const chapters = one && chaptersIn(one)
      if (!one || (!isCounted(one) && chapters === null)) continue
      const key = [one.company.base, one.type, monthOf(one.issuedAt)].join(' ')
      const step = steps.get(key) ?? { facts: one, counts: new Map(), notes: 0, chapters: new Map() }
      steps.set(key, step)
      if (isCounted(one)) add(step.counts, valueBucket(pairDocument(one).value), by)
      if (chapters === null) continue
      step.notes += by
      for (const chapter of chapters) add(step.chapters, chapter, by)
    }
  return [...steps.values()].filter(({ counts, notes, chapters }) => counts.size + Math.abs(notes) + chapters.size > 0)
}

// Drops counts of zero.
function add<K>(counts: Map<K, number>, key: K, by: number): void {
  const n = (counts.get(key) ?? 0) + by
  if (n === 0) counts.delete(key)
  else counts.set(key, n)
}

// Updates the monthly histograms; returns the documents to judge again.
async function writeHistograms(
  db: Database,
  workspaceId: number,
  known: readonly Known[],
  histograms: Histograms,
): Promise<Moved> {
  const moved: Moved = { amounts: [], chapters: [] }
  const written: object[] = []
  for (const some of Map.groupBy(stepsOf(known), ({ facts }) =>
    histogramKey(facts.company.base, facts.type),
  ).values()) {
    const { facts } = some[0]!
    const [companyBase, type] = [facts.company.base, serviceCodes[facts.type]]
    const months = monthsOf(histograms, companyBase, facts.type)
    const after = (which: readonly MonthSteps[], later: (month: string) => string[]) => [
      ...new Set(which.flatMap((one) => later(monthOf(one.facts.issuedAt)))),
    ]
    const later = after(
      some.filter(({ counts }) => counts.size > 0),
      monthsAfter,
    ).map((month) => ({ month, was: thresholdsAt(months, month) }))
    const buying = after(
      some.filter(({ notes, chapters }) => notes !== 0 || chapters.size > 0),
      boughtAfter,
    ).map((month) => ({ month, was: boughtAt(months, month) }))
    for (const { facts, counts, notes, chapters } of some) {
      const month = monthOf(facts.issuedAt)
      const sums = months.get(month) ?? { counts: new Map<number, number>(), notes: 0, chapters: {} }
      const own = new Map(Object.entries(sums.chapters))
      for (const [bucket, by] of counts) add(sums.counts, bucket, by)
      for (const [chapter, by] of chapters) add(own, chapter, by)
      const now = { counts: sums.counts, notes: sums.notes + notes, chapters: Object.fromEntries(own) }
      months.set(month, now)
      written.push({ companyBase, type, month, ...now, counts: Object.fromEntries(now.counts) })
    }
    for (const { month, was } of later)
      for (const { from, to } of movedThresholds(was, thresholdsAt(months, month)))
        moved.amounts.push({ companyBase, type, month, from: Math.min(from, never), to: Math.min(to, never) })
    for (const { month, was } of buying) {
      const chapters = movedChapters(was, boughtAt(months, month))
      if (chapters === 'all') moved.chapters.push({ companyBase, month, chapters: null })
      else if (chapters.length > 0) moved.chapters.push({ companyBase, month, chapters })
    }
  }
  if (written.length > 0)
    await sql`
      insert into alert_histogram (workspace_id, company_base, type, month, counts, notes, chapters)
      select ${workspaceId}, q."companyBase", q.type, q.month, q.counts, q.notes, q.chapters
        from ${records(written, { companyBase: 'text', type: 'smallint', month: 'text', counts: 'jsonb', notes: 'int', chapters: 'jsonb' })}
      on conflict (workspace_id, company_base, type, month) do update
        set counts = excluded.counts, notes = excluded.notes, chapters = excluded.chapters`.execute(db)
  return moved
}

async function readBefore(db: Database, workspaceId: number, changes: readonly FactChange[]): Promise<Known[]> {
  const { rows } = await sql<{ documentId: bigint; packed: Buffer }>`
    select f.document_id as "documentId", f.packed from alert_fact f
     where f.workspace_id = ${workspaceId}
       and f.document_id = any (${changes.map(({ documentId }) => documentId)}::bigint[])`.execute(db)
  const before = new Map(rows.map((row) => [row.documentId, unpackFacts(row.packed)]))
  // The last of several changes of one document is what it is now.
  const last = new Map(changes.map((change) => [change.documentId, change]))
  return [...last.values()].flatMap((change) => {
    const known = before.get(change.documentId) ?? null
    return known || change.facts ? [{ ...change, before: known }] : []
  })
}

export const stands = (facts: AlertFacts) => facts.situation === 'authorized' && cancellationOf(facts) === null

async function writeFacts(db: Database, workspaceId: number, known: readonly Known[]): Promise<void> {
  const gone = known.flatMap(({ documentId, facts }) => (facts ? [] : documentId))
  if (gone.length > 0)
    await sql`
      with f as (delete from alert_fact where workspace_id = ${workspaceId} and document_id = any (${gone}::bigint[])),
           c as (delete from alert_citation where workspace_id = ${workspaceId} and document_id = any (${gone}::bigint[])),
           d as (delete from alert_due where workspace_id = ${workspaceId} and document_id = any (${gone}::bigint[]))
      delete from alert where workspace_id = ${workspaceId} and document_id = any (${gone}::bigint[])`.execute(db)
  const rows = known.flatMap(({ documentId, companyId, facts }) => (facts ? rowOf(documentId, companyId, facts) : []))
  if (rows.length > 0) {
    await sql`
      insert into alert_fact as f (workspace_id, ${sql.join(factNames)})
      select ${workspaceId}, ${sql.join(factNames)} from ${records(rows, factTypes)}
      on conflict (workspace_id, document_id) do update set ${sql.join(factNames.map((name) => sql`${name} = excluded.${name}`))}
       where f.packed is distinct from excluded.packed or f.company_id <> excluded.company_id`.execute(db)
    await sql`
      insert into alert_due (workspace_id, document_id, company_id, again_at)
      select ${workspaceId}, document_id, company_id, '-infinity' from ${records(rows, { document_id: 'bigint', company_id: 'int' })}
      on conflict (workspace_id, document_id) do update
         set company_id = excluded.company_id, again_at = excluded.again_at`.execute(db)
  }
  const recited = known.filter(({ before, facts }) => citedOf(before).join() !== citedOf(facts).join())
  if (recited.length === 0) return
  const citations = recited.flatMap(({ documentId, facts }) =>
    citedOf(facts).map((chave) => ({ documentId: String(documentId), chave })),
  )
  await sql`
    delete from alert_citation where workspace_id = ${workspaceId}
       and document_id = any (${recited.map(({ documentId }) => documentId)}::bigint[])`.execute(db)
  await sql`
    insert into alert_citation (workspace_id, document_id, chave)
    select ${workspaceId}, q."documentId", q.chave from ${records(citations, { documentId: 'bigint', chave: 'text' })}
    returning document_id`.execute(db)
}

const citedOf = (facts: AlertFacts | null) => [...new Set(facts?.references.map(({ chave }) => chave))].sort()

const factTypes: Record<string, string> = {
  document_id: 'bigint',
  company_id: 'int',
  at: 'bigint',
  amount: 'bigint',
  type: 'smallint',
  purchase: 'boolean',
  standing: 'boolean',
  company_base: 'text',
  issuer_base: 'text',
  month: 'text',
  chave: 'text',
  number_key: 'text',
  contingency_key: 'text',
  name: 'text',
  facts: 'json',
  packed: 'bytea',
}
const factNames = Object.keys(factTypes).map((name) => sql.ref(name))

function rowOf(documentId: bigint, companyId: number, facts: AlertFacts) {
  const ask = askOf(facts)
  const { at, value } = pairDocument(facts)
  return {
    document_id: String(documentId),
    company_id: companyId,
    at: finite(at),
    amount: value,
    type: serviceCodes[facts.type],
    purchase: isPurchase(facts),
    standing: stands(facts),
    company_base: ask.companyBase,
    issuer_base: ask.issuerBase,
    month: monthOf(facts.issuedAt),
    chave: facts.chave,
    number_key: ask.number,
    contingency_key: ask.contingency,
    name: normalName(facts.issuer.name),
    facts: lookedAt(facts),
    packed: `\\x${packFacts(facts).toString('hex')}`,
  }
}

// Fields for query conditions, here and in other slices; contacts and chapters of purchases only.
function lookedAt(facts: AlertFacts) {
  const { tpAmb, tpNF, issuer, nfe, cte } = facts
  const bought = isPurchase(facts)
  return {
    tpAmb,
    tpNF,
    issuer: bought && issuer.contacts ? { contacts: issuer.contacts.map(contactMark) } : undefined,
    nfe: nfe && {
      finNFe: nfe.finNFe,
      cfops: nfe.cfops,
      inside: bought && nfe.inside ? { chapters: Object.keys(nfe.inside.chapters) } : undefined,
    },
    cte: cte && {},
  }
}

/** The months, as documents write them, that may hold an instant between two; clocks differ by hours. */
export function monthsAround(from: number, to: number): string[] {
  const month = (at: number) => monthOf(new Date(at).toISOString())
  const day = 86_400_000
  return Number.isFinite(from) ? [...new Set([month(from - day), month(to + day), month(from), month(to)])] : []
}

/** A document without a date of issue is before all others; it is no purchase. */
export const finite = (at: number) => (Number.isFinite(at) ? at : 0)

interface MovedName {
  companyBase: string
  issuerBase: string
  name: string
  at: number
}

async function writeNames(db: Database, workspaceId: number, known: readonly Known[]): Promise<MovedName[]> {
  const touched = new Map<string, { companyBase: string; issuerBase: string; name: string }>()
  for (const { before, facts } of known)
    for (const one of [before, facts])
      if (one && isPurchase(one)) {
        const row = {
          companyBase: one.company.base,
          issuerBase: baseOf(one.issuer.taxId),
          name: normalName(one.issuer.name),
        }
        touched.set(JSON.stringify(row), row)
      }
  if (touched.size === 0) return []
  const { rows } = await sql<Omit<MovedName, 'at'> & Record<'was' | 'is', number | null> & { chave: string | null }>`
    select q."companyBase", q."issuerBase", q.name, n.at::float8 as was, f.at::float8 as is, f.chave
      from ${records([...touched.values()], { companyBase: 'text', issuerBase: 'text', name: 'text' })}
      left join lateral (select n.at, n.chave from alert_name n
                          where n.workspace_id = ${workspaceId} and n.company_base = q."companyBase" and n.issuer_base = q."issuerBase" and n.name = q.name
                          limit 1) n on true
      left join lateral (select f.at, f.chave from alert_fact f
                          where f.workspace_id = ${workspaceId} and f.company_base = q."companyBase" and f.issuer_base = q."issuerBase" and f.purchase and f.name = q.name
                          order by f.at, f.chave limit 1) f on true
     where (n.at, n.chave) is distinct from (f.at, f.chave)`.execute(db)
  if (rows.length === 0) return []
  const place = { companyBase: 'text', issuerBase: 'text', name: 'text' }
  await sql`
    delete from alert_name n using ${records(rows, place)}
     where n.workspace_id = ${workspaceId} and n.company_base = q."companyBase" and n.issuer_base = q."issuerBase"
       and n.name = q.name`.execute(db)
  const keyed = rows.flatMap(({ chave, is: at, ...row }) =>
    chave === null ? [] : keysOf(row.name).map((key) => ({ ...row, at, chave, key })),
  )
  await sql`
    insert into alert_name (workspace_id, company_base, issuer_base, name, at, chave, key)
    select ${workspaceId}, q."companyBase", q."issuerBase", q.name, q.at, q.chave, q.key
      from ${records(keyed, { ...place, at: 'bigint', chave: 'text', key: 'text' })}
    returning key`.execute(db)
  return rows.map(({ companyBase, issuerBase, name, was, is }) => ({
    companyBase,
    issuerBase,
    name,
    at: Math.min(was ?? never, is ?? never),
  }))
}

// An issuer without a name has been there all the same.
const keysOf = (name: string) => (name === '' ? [''] : [...new Set(nameKeys(name))])

// By the contact itself in a row that is not packed, by its mark in one that is.
const hasContact = (key: RawBuilder<unknown>, mark: RawBuilder<unknown>) =>
  sql`(f.facts -> 'issuer' -> 'contacts')::jsonb ?| array[${key}, ${mark}]`

// A contact is compared, and not shown: 48 bits tell those of one issuer apart.
const contactMark = (key: string) => createHash('sha256').update(key).digest('base64').slice(0, 8)

interface Supplier {
  companyBase: string
  issuerBase: string
  was: string | null
  at: number | null
}

const supplierTypes = { companyBase: 'text', issuerBase: 'text' }

async function readSuppliers(db: Database, workspaceId: number, known: readonly Known[]): Promise<Supplier[]> {
  const touched = known.flatMap(({ before, facts }) => [before, facts].filter((one) => one && isPurchase(one)))
  const pairs = new Map(
    touched.map((one) => {
      const { companyBase, issuerBase } = askOf(one!)
      return [`${companyBase} ${issuerBase}`, { companyBase, issuerBase }]
    }),
  )
  if (pairs.size === 0) return []
  const { rows } = await sql<Supplier>`
    select q."companyBase", q."issuerBase", n.at || ' ' || n.chave || ' ' || n.name as was, n.at::float8 as at
      from ${records([...pairs.values()], supplierTypes)}
      left join lateral (${firstSeen(workspaceId, sql`q."companyBase"`, sql`q."issuerBase"`)}) n on true`.execute(db)
  return rows
}

interface MovedContact {
  companyBase: string
  issuerBase: string
  key: string
  isNew: boolean
}

const contactTypes = { ...supplierTypes, key: 'text' }

async function writeContacts(db: Database, workspaceId: number, known: readonly Known[]): Promise<MovedContact[]> {
  interface Touched {
    companyBase: string
    issuerBase: string
    key: string
    first: { at: number; chave: string } | null
    left: string[]
  }
  const touched = new Map<string, Touched>()
  for (const { before, facts } of known)
    for (const one of [before, facts])
      for (const key of contactsIn(one)) {
        const { companyBase, issuerBase, at } = askOf(one!)
        const name = JSON.stringify([companyBase, issuerBase, key])
        const entry = touched.get(name) ?? { companyBase, issuerBase, key, first: null, left: [] }
        touched.set(name, entry)
        const [own, { first }] = [{ at: finite(at), chave: one!.chave }, entry]
        if (one === before) entry.left.push(own.chave)
        else if (first === null || own.at < first.at || (own.at === first.at && own.chave < first.chave))
          entry.first = own
      }
  if (touched.size === 0) return []
  const all = [...touched.values()].map((entry, n) => ({
    ...entry,
    n,
    mark: contactMark(entry.key),
    at: entry.first?.at,
    chave: entry.first?.chave,
  }))
  // Only when the first of a contact may have lost it are the others of the issuer looked at.
  const { rows } = await sql<{ n: number; was: string | null; at: number | null; chave: string | null }>`
    select q.n, c.chave as was, x.at::float8 as at, x.chave
      from ${records(all, { ...contactTypes, mark: 'text', n: 'int', at: 'bigint', chave: 'text', left: 'text[]' })}
      left join alert_contact c on c.workspace_id = ${workspaceId} and c.company_base = q."companyBase" and c.key = q.key and c.issuer_base = q."issuerBase"
      left join lateral (
        select f.at, f.chave from alert_fact f
         where c.chave = any (q.left) and f.workspace_id = ${workspaceId} and f.company_base = q."companyBase" and f.issuer_base = q."issuerBase" and f.purchase
           and ${hasContact(sql`q.key`, sql`q.mark`)}
         order by f.at, f.chave limit 1) f on true
      cross join lateral (
        select * from (values (f.at, f.chave), (q.at, q.chave), (case when not coalesce(c.chave = any (q.left), true) then c.at end, c.chave)) v (at, chave)
         order by v.at nulls last, v.chave limit 1) x
     where (c.at, c.chave) is distinct from (x.at, case when x.at is not null then x.chave end)`.execute(db)
  if (rows.length === 0) return []
  const changed = rows.map((row) => ({ ...all[row.n]!, at: row.at, chave: row.chave, was: row.was }))
  const [gone, kept] = [changed.filter(({ at }) => at === null), changed.filter(({ at }) => at !== null)]
  await sql`
    delete from alert_contact c using ${records(gone, contactTypes)}
     where c.workspace_id = ${workspaceId} and c.company_base = q."companyBase" and c.key = q.key
       and c.issuer_base = q."issuerBase"`.execute(db)
  await sql`
    insert into alert_contact (workspace_id, company_base, issuer_base, key, at, chave)
    select ${workspaceId}, q."companyBase", q."issuerBase", q.key, q.at, q.chave from ${records(kept, { ...contactTypes, at: 'bigint', chave: 'text' })}
    on conflict (workspace_id, company_base, key, issuer_base) do update
       set at = excluded.at, chave = excluded.chave`.execute(db)
  return changed.flatMap(({ companyBase, issuerBase, key, at, was }) =>
    at !== null && was !== null ? [] : { companyBase, issuerBase, key, isNew: at !== null },
  )
}

// Finds whose documents, and since when, to judge again: their suppliers were first seen at another
// time, or have other contacts.
async function findSharing(
  db: Database,
  workspaceId: number,
  before: readonly Supplier[],
  moved: readonly MovedContact[],
): Promise<{ companyBase: string; issuerBase: string; key: string; at: number }[]> {
  if (before.length === 0) return []
  const { rows: keys } = await sql<{ companyBase: string; key: string; at: number | null }>`
    select q."companyBase", c.key, q.at::float8 as at from ${records(before, { ...supplierTypes, was: 'text', at: 'bigint' })}
      left join lateral (${firstSeen(workspaceId, sql`q."companyBase"`, sql`q."issuerBase"`)}) n on true
      cross join lateral (select c.key from alert_contact c
                           where c.workspace_id = ${workspaceId} and c.company_base = q."companyBase" and c.issuer_base = q."issuerBase" limit ${touchedMax}) c
     where q.was is distinct from n.at || ' ' || n.chave || ' ' || n.name`.execute(db)
  const times = new Map(before.map(({ companyBase, issuerBase, at }) => [`${companyBase} ${issuerBase}`, at]))
  const news = moved.map((one) => ({ ...one, at: times.get(`${one.companyBase} ${one.issuerBase}`) ?? null }))
  const changed = [
    ...Map.groupBy([...keys, ...news], (one) => JSON.stringify([one.companyBase, one.key])).values(),
  ].map((some, n) => {
    const { companyBase, key } = some[0]!
    const steps = moved.filter((one) => one.companyBase === companyBase && one.key === key)
    const added = steps.filter(({ isNew }) => isNew).length
    return { n, companyBase, key, added, gone: steps.length - added, most: sharedMax + added, were: some }
  })
  if (changed.length === 0) return []
  const { rows } = await sql<{ n: number; issuerBase: string; at: number }>`
    select q.n, c.issuer_base as "issuerBase", n.at::float8 as at from ${records(changed, { n: 'int', companyBase: 'text', key: 'text', most: 'int' })}
      cross join lateral (select c.issuer_base from alert_contact c
                           where c.workspace_id = ${workspaceId} and c.company_base = q."companyBase" and c.key = q.key order by c.issuer_base limit q.most) c
      cross join lateral (${firstSeen(workspaceId, sql`q."companyBase"`, sql`c.issuer_base`)}) n`.execute(db)
  const sharers = Map.groupBy(rows, ({ n }) => n)
  return changed.flatMap(({ n, companyBase, key, added, gone, were }) => {
    const now = sharers.get(n) ?? []
    if (now.length >= sharedMax && now.length - added + gone >= sharedMax) return []
    const since = new Set([...were, ...now].flatMap(({ at }) => at ?? []))
    return now.flatMap(({ issuerBase }) => [...since].map((at) => ({ companyBase, issuerBase, key, at })))
  })
}
