import { type RawBuilder, sql } from 'kysely'
import { readHiding } from '../../companies/switches.ts'
import type { Database } from '../../platform/context.ts'
import { executePrepared } from '../../platform/database.ts'
import { codeTerm, likeLiteral } from '../../platform/text.ts'
import { dueCondition } from '../due.ts'
import { type CountedQuestion, countedQuestion } from '../list/counted.ts'
import {
  alertCondition,
  type Criteria,
  type FilterQuery,
  type Range,
  rangeOf,
  reformCondition,
} from '../list/filter.ts'
import { markCondition } from '../workflow/remarks.ts'
import { type AnyOf, findWithWords, type Having } from './document-words.ts'
import { termQuestion } from './terms.ts'
import { type Amounts, readWords, type Word } from './words.ts'

/** Criteria as a question to the database. Every typed word must be found, each in any field; names are looked for among suppliers. */
export async function resolveCriteria(
  db: Database,
  workspaceId: number,
  filter: Criteria,
): Promise<FilterQuery & { anyDate: boolean }> {
  const words = readWords(filter.CampoPesquisa ?? '')
  const anyDate = words.chave !== null
  // A whole chave means that document, whenever it was issued.
  const range = anyDate ? rangeOf({}) : words.ranges.reduce(common, rangeOf(filter))
  const counted = filter.ContaComo && countedQuestion(workspaceId, filter.ContaComo, filter.LinhaDoRelatorio)
  const fields = [
    ...(await insideFilter(db, workspaceId, filter, counted)),
    ...(await inFields(db, workspaceId, words.others)),
  ]
  const { conditions, isDated, since } = await withWords(db, workspaceId, filter, range, fields)
  return {
    db,
    workspaceId,
    filter,
    hiding: await readHiding({ db }, workspaceId),
    anyDate,
    range: since === null ? range : { ...range, from: since },
    since,
    isDated,
    found: [
      ...(anyDate ? [sql`d.chave = ${words.chave}`] : []),
      ...amountConditions({ from: filter.ValorDe, to: filter.ValorAte }),
      ...(filter.PrazoDe || filter.PrazoAte || filter.PrazoPara ? [dueCondition(workspaceId, filter)] : []),
      ...(filter.Marca ? [markCondition(workspaceId, filter.Marca)] : []),
      ...(filter.Alerta ? [alertCondition(filter.Alerta)] : []),
      ...(filter.Reforma ? [reformCondition(filter.Reforma)] : []),
      ...(counted?.conditions ?? []),
      ...words.amounts.flatMap(amountConditions),
      ...words.days.map(onDay),
      ...conditions,
    ],
  }
}

/** A demand that a document meets by one of the conditions, or by its words. */
interface Field {
  conditions: RawBuilder<unknown>[]
  issuers: string[]
  /** null: no words of documents mean it. */
  inside: AnyOf | null
}

// Words found only inside are asked together, so that frequent ones beside others are still found in all documents.
async function withWords(
  db: Database,
  workspaceId: number,
  filter: Criteria,
  range: Range,
  fields: readonly Field[],
): Promise<Pick<FilterQuery, 'isDated' | 'since'> & { conditions: RawBuilder<unknown>[] }> {
  const isOnly = ({ conditions, issuers, inside }: Field) =>
    inside !== null && conditions.length === 0 && issuers.length === 0
  const only = fields.filter(isOnly).map(({ inside }) => inside!)
  const others = fields.filter((field) => !isOnly(field))
  const asked = others.filter(({ inside }) => inside !== null)
  const sets = await findWithWords(db, workspaceId, filter, range, [
    ...(only.length > 0 ? [only] : []),
    ...asked.map(({ inside }) => [inside!]),
  ])
  const ofAll = only.length > 0 ? [sets.shift()!] : []
  const setOf = (field: Field) => sets[asked.indexOf(field)]
  const isIssuer = (field: Field) => field.conditions.length === 0 && (setOf(field)?.isEmpty ?? true)
  // Words found only among issuers become one set of issuers, by which documents are found fast.
  const [issuers, ...more] = others.filter(isIssuer).map(({ issuers }) => new Set(issuers))
  return {
    conditions: [
      ...ofAll.map(hasId),
      ...(issuers ? [issuedBy([...issuers].filter((id) => more.every((ids) => ids.has(id))))] : []),
      ...others
        .filter((field) => !isIssuer(field))
        .map((field) => {
          const set = setOf(field)
          return either([
            ...(field.issuers.length > 0 ? [issuedBy(field.issuers)] : []),
            ...field.conditions,
            ...(set && !set.isEmpty ? [isAmong(set)] : []),
          ])
        }),
    ],
    isDated: ofAll.length > 0 && sets.every(({ since }) => since === null),
    since: [...ofAll, ...sets].reduce<string | null>(
      (latest, { since }) => (since !== null && since > (latest ?? '') ? since : latest),
      null,
    ),
  }
}

const isAmong = ({ ids }: Having) => sql`d.id = any (${ids}::bigint[])`
// As a text their number is not known to the planner, which then looks up each by its key.
const hasId = ({ ids }: Having) => sql`d.id = any (${ids}::text::bigint[])`
const issuedBy = (ids: readonly string[]) => sql`d.supplier_id = any (${`{${ids.join()}}`}::int[])`

// Conditions of the filter on the contents of documents.
async function insideFilter(
  db: Database,
  workspaceId: number,
  { Produto, NCM, CFOP }: Criteria,
  counted: CountedQuestion | undefined,
): Promise<Field[]> {
  const inside = [
    ...(NCM === undefined ? [] : [termQuestion(`ncm:${NCM}`)]),
    ...(CFOP === undefined ? [] : [termQuestion(`cfop:${CFOP}`)]),
    ...(counted?.term ? [[counted.term]] : []),
  ].map((inside): Field => ({ conditions: [], issuers: [], inside }))
  const products = [Produto, counted?.product].filter((id) => typeof id === 'number')
  const ofProducts = await Promise.all(products.map((id) => productFields(db, workspaceId, id)))
  return [...inside, ...ofProducts.flat()]
}

// Several products may have a code: of the documents with it (`offset 0`: of these only) it is looked up which products they have.
async function productFields(db: Database, workspaceId: number, product: number): Promise<Field[]> {
  const { rows } = await sql<{ code: string }>`
    select code from product where workspace_id = ${workspaceId} and id = ${product}`.execute(db)
  if (!rows[0]) return [{ conditions: [sql`false`], issuers: [], inside: null }]
  const term = codeTerm(rows[0].code)
  const has = sql`exists (select from document_facts c where c.workspace_id = d.workspace_id and c.document_id = d.id
                                                   and c.products @> array[${product}::int] offset 0)`
  return [
    { conditions: [has], issuers: [], inside: null },
    ...(term ? [{ conditions: [], issuers: [], inside: [term] }] : []),
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

async function inFields(db: Database, workspaceId: number, words: Word[]): Promise<Field[]> {
  if (words.length === 0) return []
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
  const asked = words.flatMap((word, index) => (rows[index]!.everywhere ? [] : [{ word, found: rows[index]! }]))
  const issuers = await findIssuers(
    db,
    workspaceId,
    asked.map(({ word }) => issuerHas(word)),
  )
  return asked.map(({ word, found }, index) => ({
    conditions: otherFields(word, found),
    issuers: issuers[index]!,
    inside: word.inside,
  }))
}

const like = (text: string | null) => (text === null ? null : `%${likeLiteral(text)}%`)

function issuerHas({ name, taxId }: Word): RawBuilder<unknown> | null {
  const has = [
    ...(name === null ? [] : [sql`s.search like ${like(name)}`]),
    ...(taxId === null ? [] : [sql`s.tax_id like ${like(taxId)}`]),
  ]
  return has.length > 0 ? either(has) : null
}

// The ids of those that meet each of the conditions, from one text: there may be thousands. Each issuer is looked at once (`offset 0`).
async function findIssuers(
  db: Database,
  workspaceId: number,
  conditions: (RawBuilder<unknown> | null)[],
): Promise<string[][]> {
  if (conditions.every((condition) => condition === null)) return conditions.map(() => [])
  const places = [...conditions.keys()].map((place) => sql.ref(`c${place}`))
  const met = conditions.map((condition, place) => sql`${condition ?? sql`false`} as ${places[place]!}`)
  const sets = places.map((place) => sql`(array_agg(c.id) filter (where ${place}))::text as ${place}`)
  const { rows } = await sql<Record<string, string | null>>`
    select ${sql.join(sets)} from (
      select s.id, ${sql.join(met)} from supplier s where s.workspace_id = ${workspaceId} offset 0) c
     where ${either(places)}`.execute(db)
  return conditions.map((_, place) => rows[0]![`c${place}`]?.slice(1, -1).split(',') ?? [])
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
