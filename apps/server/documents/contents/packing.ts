import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { cte } from '@vigia/dfe/families/cte'
import type { CteContents, NfeContents } from '@vigia/dfe/read'

export interface ProductTexts {
  code: string
  name: string
  ncm: string
  unit: string
  gtin: string | null
}

/** The products of a document, each once, and of each item the place of its own among them. */
export function productsOf(contents: NfeContents | CteContents): { products: ProductTexts[]; places: number[] } {
  if (contents.type === cte.id) return { products: [], places: [] }
  const known = new Map<string, number>()
  const products: ProductTexts[] = []
  const places = contents.items.map(({ prod }) => {
    const { cProd = '', xProd = '', NCM = '', uCom = '', cEAN } = prod
    const texts = { code: cProd, name: xProd, ncm: NCM, unit: uCom, gtin: cEAN ?? null }
    const key = JSON.stringify(texts)
    const place = known.get(key) ?? products.push(texts) - 1
    known.set(key, place)
    return place
  })
  return { products, places }
}

// Nothing of the layout's size comes near it.
const unpackedBytesMax = 32 * 1024 * 1024

export function pack(contents: NfeContents | CteContents): Uint8Array {
  return deflateRawSync(JSON.stringify(contents))
}

export function unpack(value: Uint8Array): NfeContents | CteContents {
  return JSON.parse(inflateRawSync(value, { maxOutputLength: unpackedBytesMax }).toString())
}
