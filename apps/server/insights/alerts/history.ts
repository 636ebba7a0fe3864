import { setImmediate } from 'node:timers/promises'
import { type AlertFacts, baseOf, isPurchase } from '@vigia/checks/alerts/facts'
import {
  askOf,
  boughtBefore,
  type CitedDocument,
  contactsMax,
  type Freight,
  type History,
  learnedFrom,
  learningPeriod,
  monthOf,
  monthsBefore,
  type PairDocument,
  pairMax,
  type Sharer,
  sharedMax,
  thresholdsOf,
  twinMs,
  twinRange,
  twinsMax,
} from '@vigia/checks/alerts/history'
import type { KeptFacts } from '@vigia/checks/alerts/kept'
import { areAlike, normalName } from '@vigia/checks/alerts/names'
import { cents, isNote } from '@vigia/checks/alerts/values'
import { chaveParts } from '@vigia/dfe/chave'
import { cte } from '@vigia/dfe/families/cte'
import { familyById } from '@vigia/dfe/families/lookup'
import { nfe } from '@vigia/dfe/families/nfe'
import { type RawBuilder, sql } from 'kysely'
import { recordsOf } from '../../documents/store.ts'
import type { Database } from '../../platform/context.ts'

// History of documents, each part asked of its own index. Companies of one base may have the same document: it counts once.

const cteCode = familyById(cte.id).code
const nfeCode = familyById(nfe.id).code

const ms = (at: RawBuilder<unknown>) => sql`(extract(epoch from ${at}) * 1000)::float8`
const amountOf = (cents: number) => (cents / 100).toFixed(2)
/** A document without a date of issue is before all others; it is no purchase. */
export const dateOf = (at: number) => new Date(Number.isFinite(at) ? at : 0).toISOString()

interface Around {
  sameNumber: { chave: string; issuedAt: string; cents: number }[]
  contacts: History['contacts']
  contingency: number
  sharing: Sharer[]
  carried: boolean
  freights: { chave: string; cents: number; facts: KeptFacts; cites: string[] }[]
  cited: { chave: string; cents: number; issuerBase: string; standing: boolean; facts: KeptFacts }[]
}

/** What is known around documents, in their order. */
export async function readHistories(
  db: Database,
  workspaceId: number,
  documents: readonly AlertFacts[],
): Promise<History[]> {
  const asked = documents.map((facts, n) => {
    const { issuerBase, companyBase, contingency, cited, contacts, carried } = askOf(facts)
    const { numero: number } = chaveParts(facts.chave)
    const notes = facts.type === cte.id ? cited.filter(isNote) : []
    return { n, issuerBase, companyBase, chave: facts.chave, number, contingency, contacts, carried, cited, notes }
  })
  const columns = {
    ...{ n: 'int', issuerBase: 'text', companyBase: 'text', chave: 'text', number: 'bigint', contingency: 'text' },
    ...{ contacts: 'text[]', carried: 'boolean', cited: 'text[]', notes: 'text[]' },
  }
  const all = (rows: RawBuilder<unknown>, order: RawBuilder<unknown>) =>
    sql`(select coalesce(json_agg(x order by ${order}), '[]') from (${rows}) x)`
  const factsOf = (id: RawBuilder<unknown>) =>
    sql`cross join lateral (select * from document_facts f where f.workspace_id = ${workspaceId} and f.document_id = ${id} offset 0) f`
  const citing = (chave: RawBuilder<unknown>) =>
    sql`(select c.document_id as id, c.chave from document_cite c where c.workspace_id = ${workspaceId} and c.chave ${chave} offset 0) c ${factsOf(sql`c.id`)}`
  // One round trip for all of them.
  const { rows } = await sql<Around>`
    select
      ${all(
        sql`select distinct on (d.chave) d.chave, f.facts ->> 'issuedAt' as "issuedAt", f.cents
              from (select * from document d where d.workspace_id = ${workspaceId} and d.number = r.number offset 0) d ${factsOf(sql`d.id`)}
             where substr(d.chave, 7, 28) = substr(r.chave, 7, 28) and d.chave <> r.chave and f.standing and not f.facts ? 'test' order by d.chave limit 10`,
        sql`x.chave`,
      )} as "sameNumber",
      ${all(
        sql`select n.company_base as "companyBase", n.first_chave as chave, ${ms(sql`n.first_at`)} as at from (
              select distinct on (n.company_base) n.* from partner n where n.workspace_id = ${workspaceId} and n.issuer_base = r."issuerBase"
               order by n.company_base, n.first_at, n.first_chave) n order by n.first_at, n.first_chave limit ${contactsMax}`,
        sql`x.at, x.chave`,
      )} as contacts,
      case when r.contingency is null then 0 else
        (select count(distinct f.issuer_base)::int from document_facts f where f.workspace_id = ${workspaceId} and f.contingency = r.contingency) end as contingency,
      case when r.contacts = '{}' then '[]' else ${all(
        sql`select k.key, c.issuer_base as base, n.name, n.first_chave as chave, ${ms(sql`n.first_at`)} as at
              from unnest(r.contacts) k (key)
             cross join lateral (select c.issuer_base from partner_contact c
                                  where c.workspace_id = ${workspaceId} and c.company_base = r."companyBase" and c.contact = k.key and c.issuer_base <> r."issuerBase"
                                  order by c.issuer_base limit ${sharedMax - 1}) c
             cross join lateral (select * from partner n where n.workspace_id = ${workspaceId} and n.company_base = r."companyBase" and n.issuer_base = c.issuer_base
                                  order by n.first_at, n.first_chave limit 1) n`,
        sql`x.key collate "C", x.base`,
      )} end as sharing,
      r.carried and exists (select from ${citing(sql`= r.chave`)} where f.type = ${cteCode} and f.standing) as carried,
      case when r.notes = '{}' then '[]' else ${all(
        sql`select distinct on (f.chave) f.chave, f.cents, f.facts - 'items' as facts,
                   array(select o.chave from document_cite o where o.workspace_id = ${workspaceId} and o.document_id = f.document_id) as cites
              from ${citing(sql`= any (r.notes)`)}
             where f.company_base = r."companyBase" and f.type = ${cteCode} and f.chave <> r.chave and f.standing and f.facts ? 'trip'
             order by f.chave, f.document_id limit 20`,
        sql`x.chave`,
      )} end as freights,
      case when r.cited = '{}' then '[]' else ${all(
        sql`select distinct on (d.chave) d.chave, f.cents, f.issuer_base as "issuerBase", f.standing, f.facts - 'items' as facts
              from (select * from document d where d.workspace_id = ${workspaceId} and d.chave = any (r.cited) offset 0) d ${factsOf(sql`d.id`)}
             where f.company_base = r."companyBase" order by d.chave, d.id`,
        sql`x.chave`,
      )} end as cited
      from ${recordsOf(asked, columns)} order by r.n`.execute(db)
  const bases = [...new Set(asked.map(({ companyBase }) => companyBase))]
  const learned = await readLearned(db, workspaceId, bases)
  const months = await readMonths(db, workspaceId, bases)
  const pairs = await readPairs(db, workspaceId, documents)
  const alike = await readAlike(db, workspaceId, documents, pairs)
  const twins = await readTwins(db, workspaceId, documents)
  return rows.map((row, n): History => {
    const facts = documents[n]!
    const { companyBase, cited } = asked[n]!
    const month = monthOf(facts.issuedAt)
    const here = new Map(row.cited.map((one) => [one.chave, citedOf(one)]))
    const monthOfType = (type: string) => (each: string) => months.get(`${companyBase} ${type} ${each}`)
    return {
      pair: pairs[n]!,
      thresholds: thresholdsOf(monthsBefore(month).flatMap((each) => monthOfType(facts.type)(each)?.amounts ?? [])),
      bought: boughtBefore(monthOfType(nfe.id), month),
      twins: twins[n]!,
      learnedAt: learned.get(companyBase) ?? null,
      sameNumber: row.sameNumber.map(({ cents, ...one }) => ({ ...one, amount: amountOf(cents) })),
      alike: alike[n]!,
      contacts: row.contacts,
      contingency: row.contingency,
      sharing: row.sharing,
      carried: row.carried,
      freights: row.freights.map(freightOf),
      cited: cited.flatMap((chave) => here.get(chave) ?? []),
    }
  })
}

function freightOf({ chave, cents, facts, cites }: Around['freights'][number]): Freight {
  const { issuedAt, issuer, trip } = facts
  const { payer, tpCTe, tpServ, from, to } = trip!
  const way = { cMunIni: from.cMun, cMunFim: to.cMun }
  return { chave, issuedAt, amount: amountOf(cents), issuerName: issuer.name, payer, tpCTe, tpServ, ...way, cites }
}

function citedOf({ cents, facts, ...one }: Around['cited'][number]): CitedDocument {
  const recipientBase = facts.recipient ? baseOf(facts.recipient) : undefined
  return { ...one, amount: amountOf(cents), recipientBase, modFrete: facts.modFrete }
}

/** Milliseconds at which the habits of company bases are known; bases without habits are absent. */
async function readLearned(db: Database, workspaceId: number, bases: readonly string[]): Promise<Map<string, number>> {
  const purchase = (offset: number) => sql`(
    select ${ms(sql`f.at`)} from (
      select distinct on (f.at, f.chave) f.at, f.chave from document_facts f where f.workspace_id = ${workspaceId} and f.company_base = q.base and f.purchase
       order by f.at, f.chave limit ${offset + 1}) f order by f.at, f.chave offset ${offset})`
  const { rows } = await sql<{ base: string; first: number | null; last: number | null }>`
    select q.base, ${purchase(0)} as first, ${purchase(learningPeriod.purchases - 1)} as last from unnest(${bases}::text[]) q (base)`.execute(
    db,
  )
  return new Map(rows.flatMap(({ base, first, last }) => (last === null ? [] : [[base, learnedFrom(first!, last)]])))
}

interface Month {
  amounts: Map<number, number>
  notes: number
  chapters: string[]
}

async function readMonths(db: Database, workspaceId: number, bases: readonly string[]): Promise<Map<string, Month>> {
  const { rows } = await sql<{ key: string; amounts: Record<string, number>; notes: number; chapters: string[] }>`
    select concat_ws(' ', company_base, case type when ${cteCode} then ${cte.id} else ${nfe.id} end, to_char(month, 'YYYY-MM')) as key, amounts, notes, chapters
      from company_month where workspace_id = ${workspaceId} and company_base = any (${bases}::text[])`.execute(db)
  return new Map(
    rows.map(({ key, amounts, ...rest }) => [
      key,
      { ...rest, amounts: new Map(Object.entries(amounts).map(([bucket, n]) => [Number(bucket), n])) },
    ]),
  )
}

interface KeptRow {
  chave: string
  /** Milliseconds. */
  at: number
  value: number
  cancelledAt: string | null
  facts: KeptFacts
}

function pairDocumentOf({ chave, at, value, cancelledAt, facts }: KeptRow): PairDocument {
  const { situation: _, test: __, recipient: ___, tpNF: ____, modFrete: _____, trip, ...pair } = facts
  const freight = trip && { ufIni: trip.from.uf, ufFim: trip.to.uf, vCarga: trip.vCarga }
  return { ...pair, chave, at, value, cancelledAt, freight }
}

// Earlier purchases of the pairs, each read once: documents that come together are mostly of few pairs, and look at the same ones.
async function readPairs(
  db: Database,
  workspaceId: number,
  documents: readonly AlertFacts[],
): Promise<PairDocument[][]> {
  const asked = documents.map((facts) => {
    const { issuerBase, companyBase, at, since } = askOf(facts)
    const pair = `${companyBase} ${issuerBase}`
    const { chave, amount } = facts
    return { pair, companyBase, issuerBase, at: dateOf(at), since: dateOf(since), chave, value: cents(amount) }
  })
  const columns = {
    ...{ companyBase: 'text', issuerBase: 'text', at: 'timestamptz', since: 'timestamptz' },
    ...{ chave: 'text', value: 'bigint' },
  }
  const { rows } = await sql<KeptRow & { pair: string }>`
    with q as materialized (select r.* from ${recordsOf(asked, columns)}),
         w as materialized (
           select distinct p.document_id from q cross join lateral (
             select distinct on (f.at, f.chave) f.document_id from document_facts f
              where f.workspace_id = ${workspaceId} and f.company_base = q."companyBase" and f.issuer_base = q."issuerBase" and f.purchase
                and (f.at, f.chave) < (q.at, q.chave) and f.at >= q.since
              order by f.at desc, f.chave desc, f.document_id limit ${pairMax}) p)
    select f.company_base || ' ' || f.issuer_base as pair, f.chave, ${ms(sql`f.at`)} as at, f.cents::float8 as value,
           case when f.cancelled_at = '-infinity' then ''
                else to_char(f.cancelled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end as "cancelledAt",
           -- Items are compared for equal values, and for what was cancelled.
           case when not f.standing or exists (
             select from q where q."companyBase" = f.company_base and q."issuerBase" = f.issuer_base and abs(q.value - f.cents) <= 1)
           then f.facts else f.facts - 'items' end as facts
      from w cross join lateral (select * from document_facts f where f.workspace_id = ${workspaceId} and f.document_id = w.document_id offset 0) f
     order by f.at desc, f.chave desc`.execute(db)
  const pairs = Map.groupBy(rows, ({ pair }) => pair)
  const found: PairDocument[][] = []
  for (const { pair, at, since, chave } of asked) {
    const [before, oldest] = [Date.parse(at), Date.parse(since)]
    const all = pairs.get(pair) ?? []
    const first = all.findIndex((one) => one.at < before || (one.at === before && one.chave < chave))
    const some = first === -1 ? [] : all.slice(first, first + pairMax).filter((one) => one.at >= oldest)
    found.push(some.map(pairDocumentOf))
  }
  return found
}

/** Whether a purchase with these earlier ones is of a supplier that is new. */
const isFirst = (pair: readonly PairDocument[]) => pair.every(({ cancelledAt }) => cancelledAt !== null)

// Names of other suppliers that the issuer's may be taken for: all are read, only for who is new.
async function readAlike(
  db: Database,
  workspaceId: number,
  documents: readonly AlertFacts[],
  pairs: readonly PairDocument[][],
): Promise<History['alike'][]> {
  const asked = documents.flatMap((facts, n) => {
    const name = normalName(facts.issuer.name)
    if (!isPurchase(facts) || !isFirst(pairs[n]!) || name === '') return []
    const { companyBase, issuerBase, at } = askOf(facts)
    return { n, companyBase, issuerBase, at: dateOf(at), chave: facts.chave, name }
  })
  const found = documents.map((): History['alike'] => [])
  if (asked.length === 0) return found
  const columns = {
    ...{ n: 'int', companyBase: 'text', issuerBase: 'text', at: 'timestamptz', chave: 'text', name: 'text' },
  }
  const { rows } = await sql<{ n: number; own: string; base: string; name: string; first: string }>`
    select r.n, r.name as own, p.issuer_base as base, p.name, p.first_chave as first from ${recordsOf(asked, columns)}
      join partner p on p.workspace_id = ${workspaceId} and p.company_base = r."companyBase" and p.issuer_base <> r."issuerBase"
       and left(p.name, 1) = left(r.name, 1) and abs(length(p.name) - length(r.name)) <= 2 and (p.first_at, p.first_chave) < (r.at, r.chave)
     order by p.issuer_base, p.name`.execute(db)
  for (const [place, { n, own, base, name, first }] of rows.entries()) {
    if (areAlike(own, name)) found[n]!.push({ base, name, chave: first })
    if (place % 1_000 === 999) await setImmediate()
  }
  return found
}

// Notes of other issuers with nearly the same value, shortly before.
async function readTwins(
  db: Database,
  workspaceId: number,
  documents: readonly AlertFacts[],
): Promise<History['twins'][]> {
  const asked = documents.flatMap((facts, n) => {
    const { companyBase, issuerBase, at, twins } = askOf(facts)
    if (!twins) return []
    const place = { n, companyBase, issuerBase, at: dateOf(at), since: dateOf(at - twinMs), chave: facts.chave }
    return { ...place, months: monthsAround(at - twinMs, at), ...twinRange(cents(facts.amount)) }
  })
  const found = documents.map((): History['twins'] => [])
  if (asked.length === 0) return found
  const columns = {
    ...{ n: 'int', companyBase: 'text', issuerBase: 'text', at: 'timestamptz', since: 'timestamptz', chave: 'text' },
    ...{ months: 'date[]', from: 'bigint', to: 'bigint' },
  }
  const { rows } = await sql<{ n: number; chave: string; issuerBase: string; cents: number; facts: KeptFacts }>`
    select r.n, f.chave, f.issuer_base as "issuerBase", f.cents::float8 as cents, f.facts
      from ${recordsOf(asked, columns)}
     cross join lateral (
       select distinct on (f.at, f.chave) f.* from document_facts f
        where f.workspace_id = ${workspaceId} and f.company_base = r."companyBase" and f.type = ${nfeCode} and f.month = any (r.months) and f.purchase and f.standing
          and f.cents between r."from" and r."to" and f.at >= r.since and (f.at, f.chave) < (r.at, r.chave) and f.issuer_base <> r."issuerBase"
        order by f.at desc, f.chave desc limit ${twinsMax}) f
     order by r.n, f.at desc, f.chave desc`.execute(db)
  for (const { n, chave, cents, issuerBase, facts } of rows) {
    const { issuedAt, issuer, items = [] } = facts
    found[n]!.push({ chave, issuedAt, amount: amountOf(cents), issuerBase, issuerName: issuer.name, items })
  }
  return found
}

// First days of the months, as documents write them, that may hold an instant between two: clocks differ by hours.
function monthsAround(from: number, to: number): string[] {
  const day = 86_400_000
  return [...new Set([from - day, from, to, to + day].map((at) => `${new Date(at).toISOString().slice(0, 7)}-01`))]
}
