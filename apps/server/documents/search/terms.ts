import { bareTerm, searchable } from '../../platform/text.ts'
import { keyOf } from './packed-postings.ts'

// By which words documents are found from inside. apps/server/documents/contents stores them: docs/decisions/0050-what-is-inside.md.

/** Kinds of terms that are asked for by their name; a word of a product or cargo, and a code of one, has none. */
export const termKinds = ['ncm', 'cfop', 'placa', 'pedido', 'lote'] as const
export type TermKind = (typeof termKinds)[number]

/** Meanings of a word: one of these terms, or all with this beginning. */
export interface TermQuestion {
  exact: string[]
  beginning: string | null
}

/** Meanings of a typed word inside documents; null: none. A prefix such as `ncm:` chooses the kind. */
export function termQuestion(word: string): TermQuestion | null {
  const kind = termKinds.find((kind) => searchable(word).startsWith(`${kind}:`))
  const bare = bareTerm(kind ? word.slice(kind.length + 1) : word)
  if (bare === '') return null
  if (kind === 'ncm') return { exact: [], beginning: `ncm:${bare}` }
  if (kind) return { exact: [`${kind}:${bare}`], beginning: null }
  // Short beginnings of words match almost everything; codes are searched whole.
  if (bare.length < 3) return bare.length < 2 ? null : { exact: [bare], beginning: null }
  if (/^\p{L}+$/u.test(bare)) return { exact: [`cod:${bare}`], beginning: bare }
  const named = (['cod', 'ncm', 'placa', 'pedido', 'lote'] as const).map((kind) => `${kind}:${bare}`)
  return { exact: [bare, ...named], beginning: null }
}

export const isMeant = ({ exact, beginning }: TermQuestion, term: string): boolean =>
  (beginning !== null && term.startsWith(beginning)) || exact.includes(term)

/** The keys of all terms that a question may mean. */
export function keysOf({ exact, beginning }: TermQuestion): string[] {
  const keys = exact.map(keyOf)
  if (beginning === null) return keys
  // A chapter has two digits.
  const isShort = /^ncm:(.*)$/.exec(beginning)?.[1]?.length === 1
  return [...keys, keyOf(beginning), ...(isShort ? [...'0123456789'].map((digit) => beginning + digit) : [])]
}
