import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../platform/context.ts'
import { searchable } from '../../platform/text.ts'
import type { Range } from '../filter.ts'

// By which words documents are found from inside. apps/server/contents stores them, as keys of a term and the month of the document, so that a
// question reads no other months: docs/decisions/0050-what-is-inside.md.

/** Kinds of terms that are asked for by their name; a word of a product or cargo, and a code of one, has none. */
export const termKinds = ['ncm', 'cfop', 'placa', 'pedido', 'lote'] as const
export type TermKind = (typeof termKinds)[number]

const lengthMax = 40

/** A code as terms have it: `AB-12.3/4` is `ab1234`. */
export function bareTerm(text: string): string {
  return searchable(text)
    .replace(/[^\p{L}\p{N}]/gu, '')
    .slice(0, lengthMax)
}

/** The words of a name as terms have them; single characters are none. */
export function nameTerms(name: string): string[] {
  return searchable(name)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1)
    .map((word) => word.slice(0, lengthMax))
}

const monthsMax = 4096n

/** The key of a term or product in a month (`2026-11-01`). */
export function termKey(id: number, month: string): bigint {
  return BigInt(id) * monthsMax + (BigInt(Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7)) - 1) % monthsMax)
}

/** Terms that a word may mean: these, and all that begin so. */
export interface TermQuestion {
  exact: string[]
  beginning: string | null
}

/** What a typed word may mean inside documents; null: nothing. `ncm:`, `cfop:`, `placa:`, `pedido:` and `lote:` say which. */
export function termQuestion(word: string): TermQuestion | null {
  const kind = termKinds.find((kind) => searchable(word).startsWith(`${kind}:`))
  const bare = bareTerm(kind ? word.slice(kind.length + 1) : word)
  if (bare === '') return null
  if (kind)
    return kind === 'ncm' ? { exact: [], beginning: `ncm:${bare}` } : { exact: [`${kind}:${bare}`], beginning: null }
  // Of the beginnings of words few letters are in everything; codes are known whole.
  if (/^\p{L}+$/u.test(bare)) return bare.length < 3 ? null : { exact: [], beginning: bare }
  if (/^\d{1,2}$/.test(bare)) return null
  const named = (['ncm', 'placa', 'pedido', 'lote'] as const).map((kind) => `${kind}:${bare}`)
  return { exact: [bare, ...named], beginning: null }
}

// Of more terms than these that begin alike only the one that is the word itself is looked for.
const beginningsMax = 2_000

/** The ids of the terms of each question, in their order. */
export async function readTerms(
  db: Database,
  workspaceId: number,
  questions: readonly (TermQuestion | null)[],
): Promise<number[][]> {
  if (questions.every((question) => question === null)) return questions.map(() => [])
  const asked = questions.flatMap((question, place) => (question ? { place, ...question } : []))
  const { rows } = await sql<{ place: number; ids: number[] }>`
    select q.place, x.ids from json_to_recordset(${JSON.stringify(asked)}::json) q (place int, exact text[], beginning text),
      lateral (select coalesce(array_agg(t.id), '{}') as ids from content_term t where t.workspace_id = ${workspaceId} and t.text = any (q.exact)) e,
      lateral (select coalesce(array_agg(t.id), '{}') as ids, count(*) as n
                 from (select t.id from content_term t where t.workspace_id = ${workspaceId} and t.text >= q.beginning and t.text < q.beginning || '~~~'
                        limit ${beginningsMax + 1}) t) b,
      lateral (select coalesce(array_agg(t.id), '{}') as ids from content_term t where t.workspace_id = ${workspaceId} and t.text = q.beginning) w,
      lateral (select e.ids || case when b.n > ${beginningsMax} then w.ids else b.ids end as ids) x`.execute(db)
  const found = new Map(rows.map(({ place, ids }) => [place, ids]))
  return questions.map((_, place) => found.get(place) ?? [])
}

/** The months of documents of a type in a range. */
export async function readMonths(
  db: Database,
  workspaceId: number,
  type: number,
  { from, until }: Range,
): Promise<string[]> {
  const { rows } = await sql<{ month: string }>`
    select distinct month::text as month from count_month
     where workspace_id = ${workspaceId} and type = ${type} and month > (${from}::timestamp - interval '1 month') and month < ${until}::timestamp`.execute(
    db,
  )
  return rows.map(({ month }) => month)
}

/** The documents with any of the terms or products, as a condition on `document d`. */
export function insideCondition(ids: readonly number[], months: readonly string[]): RawBuilder<unknown> {
  const keys = ids.flatMap((id) => months.map((month) => termKey(id, month)))
  // As one text: there may be thousands.
  return sql`d.id in (select documents_with_terms(${`{${keys.join()}}`}::bigint[]))`
}
