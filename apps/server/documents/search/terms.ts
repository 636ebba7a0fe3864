import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../platform/context.ts'
import { bareTerm, searchable } from '../../platform/text.ts'
import type { Range } from '../filter.ts'

// By which words documents are found from inside. apps/server/contents stores them, with the month of the document among them, so that a question
// reads no documents of other months: docs/decisions/0050-what-is-inside.md.

/** Kinds of terms that are asked for by their name; a word of a product or cargo, and a code of one, has none. */
export const termKinds = ['ncm', 'cfop', 'placa', 'pedido', 'lote'] as const
export type TermKind = (typeof termKinds)[number]

/** The term of a month (`2026-11-01`). */
export const monthTerm = (month: string): string => `mes:${month.slice(0, 7)}`

/** What a word may mean: these terms, all that begin so, and products with this code or GTIN. */
export interface TermQuestion {
  exact: string[]
  beginning: string | null
  code: string | null
}

/** What a typed word may mean inside documents; null: nothing. `ncm:`, `cfop:`, `placa:`, `pedido:` and `lote:` say which. */
export function termQuestion(word: string): TermQuestion | null {
  const kind = termKinds.find((kind) => searchable(word).startsWith(`${kind}:`))
  const bare = bareTerm(kind ? word.slice(kind.length + 1) : word)
  if (bare === '') return null
  const question = { exact: [], beginning: null, code: null }
  if (kind === 'ncm') return { ...question, beginning: `ncm:${bare}` }
  if (kind) return { ...question, exact: [`${kind}:${bare}`] }
  // Of the beginnings of words few letters are in everything; codes are known whole.
  if (bare.length < 3) return bare.length < 2 ? null : { ...question, exact: [bare] }
  if (/^\p{L}+$/u.test(bare)) return { ...question, beginning: bare, code: bare }
  const named = (['ncm', 'placa', 'pedido', 'lote'] as const).map((kind) => `${kind}:${bare}`)
  return { ...question, exact: [bare, ...named], code: bare }
}

// Of more terms than these that begin alike only the one that is the word itself is looked for, and of a code that more products have none.
const alikeMax = 2_000

/** The ids of the terms and products of each question, in their order. */
export async function readTerms(
  db: Database,
  workspaceId: number,
  questions: readonly (TermQuestion | null)[],
): Promise<number[][]> {
  const asked = questions.flatMap((question, place) => (question ? { place, ...question } : []))
  if (asked.length === 0) return questions.map(() => [])
  const { rows } = await sql<{ place: number; ids: number[] }>`
    select q.place, e.ids || case when b.n > ${alikeMax} then w.ids else b.ids end || case when p.n > ${alikeMax} then '{}' else p.ids end as ids
      from json_to_recordset(${JSON.stringify(asked)}::json) q (place int, exact json, beginning text, code text),
      lateral (select coalesce(array_agg(t.id), '{}') as ids from content_term t
                where t.workspace_id = ${workspaceId} and t.text = any (array(select json_array_elements_text(q.exact)))) e,
      lateral (select coalesce(array_agg(t.id), '{}') as ids, count(*) as n
                 from (select t.id from content_term t where t.workspace_id = ${workspaceId} and t.text >= q.beginning and t.text < q.beginning || '~~~'
                        limit ${alikeMax + 1}) t) b,
      lateral (select coalesce(array_agg(t.id), '{}') as ids from content_term t where t.workspace_id = ${workspaceId} and t.text = q.beginning) w,
      lateral (select coalesce(array_agg(p.id), '{}') as ids, count(*) as n
                 from ((select p.id from product p where p.workspace_id = ${workspaceId} and p.bare = q.code limit ${alikeMax + 1})
                       union (select p.id from product p where p.workspace_id = ${workspaceId} and p.gtin = q.code limit ${alikeMax + 1})) p) p`.execute(
    db,
  )
  const found = new Map(rows.map(({ place, ids }) => [place, ids]))
  return questions.map((_, place) => found.get(place) ?? [])
}

// Of more months the documents are read, and their dates compared.
const monthsMax = 12

/** The terms of the months in a range; null: too many to tell documents apart by them. */
export async function readMonths(db: Database, workspaceId: number, { from, until }: Range): Promise<number[] | null> {
  const { rows } = await sql<{ id: number }>`
    select t.id from content_term t
     where t.workspace_id = ${workspaceId} and t.text >= ${monthTerm(from)} and t.text <= ${monthTerm(until)} and t.text < 'mes:~'
     limit ${monthsMax + 1}`.execute(db)
  return rows.length > monthsMax ? null : rows.map(({ id }) => id)
}

/** The documents of the months with any of the terms or products, as a condition on `document d`. */
export function insideCondition(ids: readonly number[], months: readonly number[] | null): RawBuilder<unknown> {
  // As one text: there may be thousands.
  return sql`d.id in (select documents_with_terms(${`{${ids.join()}}`}::int[], ${months && `{${months.join()}}`}::int[]))`
}
