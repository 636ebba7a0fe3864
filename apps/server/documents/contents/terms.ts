import { cte } from '@vigia/dfe/families/cte'
import type { CteContents, NfeContents } from '@vigia/dfe/read'
import { bareTerm, codeTerm, nameTerms } from '../../platform/text.ts'
import type { TermKind } from '../search/terms.ts'

// 990 items of 20 words each are more than anybody looks for.
const termsMax = 5_000

/** The terms of a document, each once: its plates and orders, the NCM, CFOP and codes of all items, and of lots and words so many that they are 5,000. */
export function termsOf(contents: NfeContents | CteContents): string[] {
  const terms = new Set<string>()
  const add = (kind: TermKind, text: string | undefined) => {
    const bare = bareTerm(text ?? '')
    if (bare !== '') terms.add(`${kind}:${bare}`)
  }
  for (const plate of contents.plates) add('placa', plate)
  if (contents.type === cte.id) {
    for (const word of nameTerms(`${contents.cargo.proPred ?? ''} ${contents.cargo.xOutCat ?? ''}`)) terms.add(word)
  } else {
    for (const order of contents.orders) add('pedido', order)
    // Lists behind numbers are found by these: none may be missing.
    for (const { prod } of contents.items) {
      add('ncm', prod.NCM)
      add('cfop', prod.CFOP)
      for (const code of [prod.cProd, prod.cEAN]) {
        const term = codeTerm(code ?? '')
        if (term) terms.add(term)
      }
    }
    for (const { prod, lots } of contents.items) {
      if (terms.size >= termsMax) break
      for (const lot of lots) add('lote', lot)
      for (const word of nameTerms(prod.xProd ?? '')) terms.add(word)
      // GUARDA-CHUVA and AB-12 are typed as they are written, too.
      for (const written of (prod.xProd ?? '').split(/\s+/))
        if (bareTerm(written).length > 1) terms.add(bareTerm(written))
    }
  }
  return [...terms]
}
