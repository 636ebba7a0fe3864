import { bareTerm, searchable } from '../../platform/text.ts'
import type { AnyOf } from './document-words.ts'

// By which words documents are found from inside: docs/decisions/0050-what-is-inside.md.

/** Kinds of terms that are asked for by their name; a word of a product or cargo, and a code of one, has none. */
export const termKinds = ['ncm', 'cfop', 'placa', 'pedido', 'lote'] as const
export type TermKind = (typeof termKinds)[number]

/** Meaning of a typed word inside documents; null: none. A prefix such as `ncm:` chooses the kind. */
export function termQuestion(word: string): AnyOf | null {
  const kind = termKinds.find((kind) => searchable(word).startsWith(`${kind}:`))
  const bare = bareTerm(kind ? word.slice(kind.length + 1) : word)
  if (bare === '') return null
  if (kind) return [`${kind}:${bare}${kind === 'ncm' ? '*' : ''}`]
  // Short beginnings of words match almost everything; codes are searched whole.
  if (bare.length < 3) return bare.length < 2 ? null : [bare]
  if (/^\p{L}+$/u.test(bare)) return [`cod:${bare}`, `${bare}*`]
  return [bare, ...['cod', 'ncm', 'placa', 'pedido', 'lote'].map((kind) => `${kind}:${bare}`)]
}
