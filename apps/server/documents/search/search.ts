import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../platform/context.ts'
import { likeLiteral } from '../../platform/text.ts'
import { markCondition } from '../desk/remarks.ts'
import { alertCondition, type Criteria, type FilterQuery, type Range, rangeOf } from '../filter.ts'
import { insideCondition, readMonths, readTerms, termQuestion } from './terms.ts'
import { type Amounts, readWords, type Word } from './words.ts'

/**
 * Criteria as a question to the database, with what was typed as conditions on `document d`. Every word must be found, each in any field of
 * the document: the name, CNPJ or CPF of the issuer or of the company, the number, the amount, the date, the chave. Names are looked for in
 * the dictionary of suppliers, never in the documents.
 */
export async function readQuery(
  db: Database,
  workspaceId: number,
  filter: Criteria,
): Promise<FilterQuery & { anyDate: boolean }> {
  const words = readWords(filter.text ?? '')
  const given = [
    ...amountConditions({ from: filter.amountFrom, to: filter.amountTo }),
    ...(filter.mark ? [markCondition(workspaceId, filter.mark)] : []),
    ...(filter.alert === undefined ? [] : [alertCondition(workspaceId, filter.alert)]),
  ]
  const range = words.ranges.reduce(common, rangeOf(filter))
  const query = { db, workspaceId, filter, hiding: [], anyDate: words.chave !== null }
  // Who has the whole chave means that document, whenever it was issued.
  if (words.chave) {
    const found = [sql`d.chave = ${words.chave}`, ...given]
    return {
      ...query,
      range: rangeOf({}),
      found: [...found, ...(await insideFilter(db, workspaceId, filter, rangeOf({})))],
    }
  }
  const found = [
    ...given,
    ...words.amounts.flatMap(amountConditions),
    ...words.days.map(
      ({ month, day }) =>
        sql`extract(month from d.issued_at) = ${month}::int and extract(day from d.issued_at) = ${day}::int`,
    ),
    ...(await insideFilter(db, workspaceId, filter, range)),
    ...(await inFields(db, workspaceId, words.others, { type: filter.type, range })),
  ]
  return { ...query, range, found }
}

// What the filter names of the inside of documents: each is asked for by itself.
async function insideFilter(
  db: Database,
  workspaceId: number,
  { type, product, ncm, cfop }: Criteria,
  range: Range,
): Promise<RawBuilder<unknown>[]> {
  if (product === undefined && ncm === undefined && cfop === undefined) return []
  const named = [...(ncm === undefined ? [] : [`ncm:${ncm}`]), ...(cfop === undefined ? [] : [`cfop:${cfop}`])]
  const terms = [
    ...(product === undefined ? [] : [[product]]),
    ...(await readTerms(db, workspaceId, named.map(termQuestion))),
  ]
  const months = await readMonths(db, workspaceId, type, range)
  return terms.map((ids) => insideCondition(ids, months))
}

function common(one: Range, other: Range): Range {
  return {
    from: one.from > other.from ? one.from : other.from,
    until: one.until < other.until ? one.until : other.until,
  }
}

function amountConditions({ from, above, to, below }: Amounts): RawBuilder<unknown>[] {
  // An index leads to one amount. A range is compared in the index of dates, which has the decimals.
  if (from !== undefined && from === to && isWithinCents(from)) return [sql`d.cents = (${from}::numeric * 100)::bigint`]
  const compare = (sign: string, amount: string | undefined) =>
    amount === undefined ? [] : [sql`d.amount ${sql.raw(sign)} ${amount}::numeric`]
  return [...compare('>=', from), ...compare('>', above), ...compare('<=', to), ...compare('<', below)]
}

const isWithinCents = (amount: string) => /^\d{1,13}(\.\d{1,2})?$/.test(amount)

// Beyond this many documents of a number the condition is cheaper than their names.
const numberedMax = 1_000

interface Found {
  suppliers: number[]
  companies: number[]
  /** The word says nothing: all companies have it. */
  everywhere: boolean
  /** Ids of documents as one text. */
  numbered: string | null
  many: boolean
  begins: boolean
}

async function inFields(
  db: Database,
  workspaceId: number,
  words: Word[],
  { type, range }: { type: Criteria['type']; range: Range },
): Promise<RawBuilder<unknown>[]> {
  if (words.length === 0) return []
  const terms = await readTerms(
    db,
    workspaceId,
    words.map(({ inside }) => inside),
  )
  const months = terms.some((ids) => ids.length > 0) ? await readMonths(db, workspaceId, type, range) : []
  const of = <T>(pick: (word: Word) => T) => words.map(pick)
  const like = (text: string | null) => (text === null ? null : `%${likeLiteral(text)}%`)
  const { rows } = await sql<Found>`
    select s.ids as suppliers, c.ids as companies, c.everywhere, n.ids as numbered, n.many, b.begins
      from unnest(${of(({ name }) => like(name))}::text[], ${of(({ taxId }) => like(taxId))}::text[],
                  ${of(({ number }) => number)}::int[], ${of(({ chave }) => chave)}::text[]) with ordinality w (name, tax_id, number, chave, place),
      lateral (select coalesce(array_agg(s.id), '{}') as ids from supplier s
                where s.workspace_id = ${workspaceId} and (s.search like w.name or s.tax_id like w.tax_id)) s,
      lateral (select coalesce(array_agg(c.id) filter (where c.search like w.name or c.cnpj like w.tax_id), '{}') as ids,
                      bool_and(coalesce(c.search like w.name, false) or coalesce(c.cnpj like w.tax_id, false)) as everywhere
                 from company c where c.workspace_id = ${workspaceId}) c,
      lateral (select array_agg(k.id)::text as ids, count(*) > ${numberedMax} as many
                 from (select d.id from document d where d.workspace_id = ${workspaceId} and d.number = w.number limit ${numberedMax + 1}) k) n,
      lateral (select exists (select 1 from document d where d.workspace_id = ${workspaceId} and d.chave >= w.chave and d.chave < w.chave || '~') as begins) b
     order by w.place`.execute(db)
  const conditions: RawBuilder<unknown>[] = []
  // What only names have is one set of issuers, by which documents are found fast.
  const named: number[][] = []
  for (const [index, word] of words.entries()) {
    const found = rows[index]!
    if (found.everywhere) continue
    const others = otherFields(word, found)
    if (terms[index]!.length > 0) others.push(insideCondition(terms[index]!, months))
    if (word.onlyInside) {
      conditions.push(others.length > 0 ? either(others) : sql`false`)
      continue
    }
    if (others.length === 0) named.push(found.suppliers)
    else conditions.push(either([...anyOf('supplier_id', found.suppliers), ...others]))
  }
  return named.length > 0 ? [sql`d.supplier_id = any (${asArray(inAll(named))}::int[])`, ...conditions] : conditions
}

function inAll([first = [], ...others]: number[][]): number[] {
  return others.reduce((common, ids) => {
    const these = new Set(ids)
    return common.filter((id) => these.has(id))
  }, first)
}

function otherFields({ number, chave }: Word, found: Found): RawBuilder<unknown>[] {
  return [
    ...anyOf('company_id', found.companies),
    ...(found.many
      ? [sql`d.number = ${number}`]
      : found.numbered
        ? [sql`d.id = any (${found.numbered}::bigint[])`]
        : []),
    ...(chave ? [found.begins ? beginsWith(chave) : sql`d.chave like ${`%${likeLiteral(chave)}%`}`] : []),
  ]
}

const beginsWith = (chave: string) => sql`(d.chave >= ${chave} and d.chave < ${`${chave}~`})`

function anyOf(column: 'supplier_id' | 'company_id', ids: number[]): RawBuilder<unknown>[] {
  return ids.length === 0 ? [] : [sql`${sql.ref(`d.${column}`)} = any (${asArray(ids)}::int[])`]
}

function either(conditions: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 1 ? conditions[0]! : sql`(${sql.join(conditions, sql` or `)})`
}

// As one text: there may be thousands of ids.
const asArray = (ids: number[]) => `{${ids.join()}}`
