import { type RawBuilder, sql } from 'kysely'
import { readHiding } from '../../companies/switches.ts'
import type { Database } from '../../platform/context.ts'
import { executePrepared } from '../../platform/database.ts'
import { codeTerm, likeLiteral } from '../../platform/text.ts'
import { dueCondition } from '../due.ts'
import { countedQuestion } from '../list/counted.ts'
import {
  alertCondition,
  all,
  type Criteria,
  type FilterQuery,
  type Range,
  rangeOf,
  reformCondition,
} from '../list/filter.ts'
import { markCondition } from '../workflow/remarks.ts'
import { common as commonPlaces, findInside, insideCondition, type Places } from './postings.ts'
import { type TermQuestion, termQuestion } from './terms.ts'
import { type Amounts, readWords, type Word } from './words.ts'

/** Criteria as a question to the database. Every typed word must be found, each in any field; names are looked for among suppliers. */
export async function readQuery(
  db: Database,
  workspaceId: number,
  filter: Criteria,
): Promise<FilterQuery & { anyDate: boolean }> {
  const words = readWords(filter.text ?? '')
  const given = [
    ...amountConditions({ from: filter.amountFrom, to: filter.amountTo }),
    ...(filter.due ? [dueCondition(workspaceId, filter.type, filter.due)] : []),
    ...(filter.mark ? [markCondition(workspaceId, filter.mark)] : []),
    ...(filter.alert === undefined ? [] : [alertCondition(filter.alert)]),
    ...(filter.reform === undefined ? [] : [reformCondition(filter.reform)]),
  ]
  const hiding = await readHiding({ db }, workspaceId)
  const query = { db, workspaceId, filter, hiding, anyDate: words.chave !== null }
  // A whole chave means that document, whenever it was issued.
  if (words.chave) {
    const found = [sql`d.chave = ${words.chave}`, ...given]
    return {
      ...query,
      range: rangeOf({}),
      found: [...found, ...(await insideFilter(db, workspaceId, filter, rangeOf({})))],
    }
  }
  const range = words.ranges.reduce(common, rangeOf(filter))
  const found = [
    ...given,
    ...words.amounts.flatMap(amountConditions),
    ...words.days.map(onDay),
    ...(await insideFilter(db, workspaceId, filter, range)),
    ...(await inFields(db, workspaceId, words.others, range)),
  ]
  return { ...query, range, found }
}

// Conditions of the filter on the contents of documents, each looked up by itself.
async function insideFilter(
  db: Database,
  workspaceId: number,
  { type, product, ncm, cfop, counted }: Criteria,
  range: Range,
): Promise<RawBuilder<unknown>[]> {
  if (counted) {
    const line = countedQuestion(workspaceId, counted)
    return [
      ...line.conditions,
      ...(line.term === null ? [] : await allInside(db, workspaceId, [{ exact: [line.term], beginning: null }], range)),
      ...(line.product === null ? [] : await productCondition(db, workspaceId, line.product, range)),
      ...(await insideFilter(db, workspaceId, { type, product, ncm, cfop }, range)),
    ]
  }
  const named = [...(ncm === undefined ? [] : [`ncm:${ncm}`]), ...(cfop === undefined ? [] : [`cfop:${cfop}`])]
  const conditions = await allInside(db, workspaceId, named.map(termQuestion), range)
  return product === undefined
    ? conditions
    : [...conditions, ...(await productCondition(db, workspaceId, product, range))]
}

async function allInside(
  db: Database,
  workspaceId: number,
  questions: (TermQuestion | null)[],
  range: Range,
): Promise<RawBuilder<unknown>[]> {
  if (questions.length === 0) return []
  const inside = await findInside(db, workspaceId, questions, range)
  return [insideCondition(inside, commonPlaces(inside.found)) ?? sql`false`]
}

// Several products may have a code: of these documents it is looked up which products they have.
async function productCondition(
  db: Database,
  workspaceId: number,
  product: number,
  range: Range,
): Promise<RawBuilder<unknown>[]> {
  const { rows } = await sql<{ code: string }>`
    select code from product where workspace_id = ${workspaceId} and id = ${product}`.execute(db)
  if (!rows[0]) return [sql`false`]
  const term = codeTerm(rows[0].code)
  const [having = sql`true`] = term ? await allInside(db, workspaceId, [{ exact: [term], beginning: null }], range) : []
  return [
    sql`case when ${having} then exists (select from document_facts c where c.workspace_id = d.workspace_id and c.document_id = d.id
                                                                 and c.products @> array[${product}::int]) else false end`,
  ]
}

function common(one: Range, other: Range): Range {
  return {
    from: one.from > other.from ? one.from : other.from,
    until: one.until < other.until ? one.until : other.until,
  }
}

// The day in any year.
const onDay = ({ month, day }: { month: number; day: number }) =>
  sql`(extract(month from d.issued_at) = ${month} and extract(day from d.issued_at) = ${day})`

function amountConditions({ from, above, to, below }: Amounts): RawBuilder<unknown>[] {
  // An index leads to one amount. A range is compared in the index of dates, which has the decimals.
  if (from !== undefined && from === to && isWithinCents(from)) return [sql`d.cents = (${from}::numeric * 100)::bigint`]
  const compare = (sign: string, amount: string | undefined) =>
    amount === undefined ? [] : [sql`d.amount ${sql.raw(sign)} ${amount}::numeric`]
  // PostgreSQL may not look into amounts under row-level security, and takes two bounds beside each other for next to nothing: `is true` parts them.
  return [...compare('>=', from), ...compare('>', above), ...compare('<=', to), ...compare('<', below)].map(
    (condition) => sql`(${condition}) is true`,
  )
}

const isWithinCents = (amount: string) => /^\d{1,13}(\.\d{1,2})?$/.test(amount)

// Beyond this many documents of a number the condition is cheaper than their names.
const numberedMax = 1_000

interface Found {
  /** Ids as one text. */
  companies: string | null
  /** The word says nothing: all companies have it. */
  everywhere: boolean
  /** Ids of documents as one text. */
  numbered: string | null
  many: boolean
  /** A chave begins with the word. */
  begins: boolean
}

async function inFields(
  db: Database,
  workspaceId: number,
  words: Word[],
  range: Range,
): Promise<RawBuilder<unknown>[]> {
  if (words.length === 0) return []
  const inside = await findInside(
    db,
    workspaceId,
    words.map(({ inside }) => inside),
    range,
  )
  const of = <T>(pick: (word: Word) => T) => words.map(pick)
  const rows = await executePrepared(
    db,
    sql<Found>`
    select c.ids as companies, c.everywhere, n.ids as numbered, n.many, b.begins
      from unnest(${of(({ name }) => like(name))}::text[], ${of(({ taxId }) => like(taxId))}::text[],
                  ${of(({ number }) => number)}::bigint[], ${of(({ chave }) => chave)}::text[]) with ordinality w (name, tax_id, number, chave, place),
      lateral (select (array_agg(c.id) filter (where c.search like w.name or c.cnpj like w.tax_id))::text as ids,
                      bool_and(coalesce(c.search like w.name, false) or coalesce(c.cnpj like w.tax_id, false)) as everywhere
                 from company c where c.workspace_id = ${workspaceId}) c,
      lateral (select array_agg(k.id)::text as ids, count(*) > ${numberedMax} as many
                 from (select d.id from document d where d.workspace_id = ${workspaceId} and d.number = w.number limit ${numberedMax + 1}) k) n,
      lateral (select exists (select 1 from document d where d.workspace_id = ${workspaceId} and d.chave >= w.chave and d.chave < w.chave || '~') as begins) b
     order by w.place`,
  )
  // Words found only among issuers become one set of issuers, by which documents are found fast.
  const alone: Word[] = []
  const among: { issuers: RawBuilder<unknown> | null; others: RawBuilder<unknown>[]; places: Places }[] = []
  for (const [index, word] of words.entries()) {
    const found = rows[index]!
    if (found.everywhere) continue
    const others = otherFields(word, found)
    const places = inside.found[index]!
    if (others.length === 0 && places.size === 0) alone.push(word)
    else among.push({ issuers: issuerHas(word), others, places })
  }
  if (alone.length > 0) {
    const having = alone.map(issuerHas)
    const issuers = having.every((one) => one !== null) ? all(having) : null
    among.unshift({ issuers, others: [], places: new Map() })
  }
  const sets = await findIssuers(
    db,
    workspaceId,
    among.map(({ issuers }) => issuers),
  )
  // Words found only in contents become one set of documents.
  const only: Places[] = []
  const conditions = among.flatMap(({ others, places }, index) => {
    const issuers = sets[index] ?? null
    if (issuers === null && others.length === 0 && places.size > 0) {
      only.push(places)
      return []
    }
    const having = [
      ...(issuers ? [sql`d.supplier_id = any (${issuers}::int[])`] : []),
      ...others,
      insideCondition(inside, places),
    ].filter((one) => one !== null)
    return having.length > 0 ? either(having) : sql`false`
  })
  return only.length > 0 ? [...conditions, insideCondition(inside, commonPlaces(only)) ?? sql`false`] : conditions
}

const like = (text: string | null) => (text === null ? null : `%${likeLiteral(text)}%`)

function issuerHas({ name, taxId }: Word): RawBuilder<unknown> | null {
  const has = [
    ...(name === null ? [] : [sql`s.search like ${like(name)}`]),
    ...(taxId === null ? [] : [sql`s.tax_id like ${like(taxId)}`]),
  ]
  return has.length > 0 ? either(has) : null
}

// The ids of those that meet each of the conditions, as one text: there may be thousands. All are looked at once; null: no issuer can.
async function findIssuers(
  db: Database,
  workspaceId: number,
  conditions: (RawBuilder<unknown> | null)[],
): Promise<(string | null)[]> {
  const possible = conditions.filter((condition) => condition !== null)
  if (possible.length === 0) return conditions.map(() => null)
  const sets = conditions.flatMap((condition, index) => {
    if (!condition) return []
    const those = possible.length === 1 ? sql`` : sql`filter (where ${condition})`
    return sql`(array_agg(s.id) ${those})::text as ${sql.ref(String(index))}`
  })
  const { rows } = await sql<Record<string, string | null>>`
    select ${sql.join(sets)} from supplier s where s.workspace_id = ${workspaceId} and ${either(possible)}`.execute(db)
  return conditions.map((_, index) => rows[0]![index] ?? null)
}

function otherFields({ number, chave }: Word, found: Found): RawBuilder<unknown>[] {
  return [
    ...(found.companies ? [sql`d.company_id = any (${found.companies}::int[])`] : []),
    ...(found.many
      ? [sql`d.number = ${number}`]
      : found.numbered
        ? [sql`d.id = any (${found.numbered}::bigint[])`]
        : []),
    ...(chave ? [partOfChave(chave, found)] : []),
  ]
}

// An index leads to the beginning of a chave.
const partOfChave = (chave: string, { begins }: Found) =>
  begins ? beginsWith(chave) : sql`d.chave like ${like(chave)}`

const beginsWith = (chave: string) => sql`(d.chave >= ${chave} and d.chave < ${`${chave}~`})`

function either(conditions: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 1 ? conditions[0]! : sql`(${sql.join(conditions, sql` or `)})`
}
