import type { CteContents, NfeContents } from '@vigia/dfe/read'
import { searchable } from '../platform/text.ts'

// By which words a document is found: those of its products, and what it names.

/** Kinds of terms that are asked for by their name; a word of a product or cargo has none. */
export type TermKind = 'ncm' | 'cfop' | 'placa' | 'pedido' | 'lote'

// 990 items of 20 words each are more than anybody looks for.
const termsMax = 5_000
const wordLengthMax = 40

/** The terms of a document, each once, 5,000 at most. */
export function termsOf(contents: NfeContents | CteContents): string[] {
  const terms = new Set<string>()
  const add = (kind: TermKind, text: string | undefined) => {
    const bare = bareTerm(text ?? '')
    if (bare !== '') terms.add(`${kind}:${bare}`)
  }
  for (const plate of contents.plates) add('placa', plate)
  if (contents.type === 'cte') {
    for (const word of wordsOf(`${contents.cargo.proPred ?? ''} ${contents.cargo.xOutCat ?? ''}`)) terms.add(word)
  } else {
    for (const order of contents.orders) add('pedido', order)
    for (const { prod, lots } of contents.items) {
      add('ncm', prod.NCM)
      add('cfop', prod.CFOP)
      for (const lot of lots) add('lote', lot.nLote)
      for (const code of [prod.cProd, prod.cEAN, prod.cEANTrib]) {
        const bare = bareTerm(code ?? '')
        if (bare !== '') terms.add(bare)
      }
      for (const word of wordsOf(prod.xProd ?? '')) terms.add(word)
    }
  }
  return [...terms].slice(0, termsMax)
}

/** A code as terms have it: `AB-12.3/4` is `ab1234`. */
export function bareTerm(text: string): string {
  return searchable(text)
    .replace(/[^\p{L}\p{N}]/gu, '')
    .slice(0, wordLengthMax)
}

/** The words of a name as terms have them; single characters are none. */
export function wordsOf(name: string): string[] {
  return searchable(name)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1)
    .map((word) => word.slice(0, wordLengthMax))
}
