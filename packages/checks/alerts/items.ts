import type { Fields, NfeDetails } from '@vigia/dfe/read'
import { cents } from './values.ts'

// Items of a note, for comparison with later notes of the supplier: S26 to S31.

/** The heaviest products of a note that are compared. */
export const linesMax = 20

/** Items of one product and unit, summed up. Prices and quantities are not in cents. */
export interface ItemLine {
  /** GTIN, else cProd with its NCM. */
  product: string
  ncm: string
  unit: string
  quantity: number
  /** `vUnCom`, of several items their mean. */
  price: number
  /** `uTrib` and `vUnTrib`, where they are other ones. */
  base?: { unit: string; price: number }
  /** CST or CSOSN, and pICMS where there is one. */
  tax: string
}

/** An `ItemLine` with what only its own note is asked for. */
export interface NamedLine extends ItemLine {
  name: string
  /** Cents of `vProd`. */
  value: number
  /** Cents. */
  vICMS: number
}

/** Items of a complete NF-e, summed. Amounts in cents. */
export interface NfeItems {
  /** At most `linesMax`, by value. */
  lines: NamedLine[]
  /** By CFOP, and by the first two digits of the NCM. */
  cfops: Record<string, number>
  chapters: Record<string, number>
}

/** The items of a note. */
export function itemsOf({ det }: Pick<NfeDetails, 'det'>): NfeItems {
  const found: NfeItems = { lines: [], cfops: {}, chapters: {} }
  const lines = new Map<string, NamedLine>()
  for (const { prod, ICMS } of det) {
    const value = cents(prod.vProd)
    const chapter = chapterOf(prod.NCM)
    if (prod.CFOP) found.cfops[prod.CFOP] = (found.cfops[prod.CFOP] ?? 0) + value
    if (chapter !== null) found.chapters[chapter] = (found.chapters[chapter] ?? 0) + value
    const line = lineOf(prod, ICMS, value)
    const key = `${line.product} ${line.unit}`
    const other = lines.get(key)
    lines.set(key, other ? joined(other, line) : line)
  }
  const all = [...lines].sort(([a, one], [b, other]) => other.value - one.value || (a < b ? -1 : 1))
  return { ...found, lines: all.slice(0, linesMax).map(([, line]) => line) }
}

// Services have the NCM 00.
function chapterOf(ncm: string | undefined): string | null {
  const chapter = ncm?.slice(0, 2) ?? ''
  return /^\d\d$/.test(chapter) && chapter !== '00' ? chapter : null
}

function lineOf(prod: Fields, ICMS: Fields, value: number): NamedLine {
  const gtin = prod.cEAN ?? ''
  const [unit, baseUnit] = [prod.uCom, prod.uTrib].map((text) => (text ?? '').trim().toUpperCase())
  const [quantity, price, basePrice] = [prod.qCom, prod.vUnCom, prod.vUnTrib].map((text) => Number(text) || 0)
  return {
    product: /^\d{8,14}$/.test(gtin) && !/^0+$/.test(gtin) ? gtin : `${prod.cProd} ${prod.NCM ?? ''}`,
    ncm: prod.NCM ?? '',
    unit: unit!,
    quantity: quantity!,
    price: price!,
    ...(baseUnit !== '' && baseUnit !== unit && basePrice! > 0 && { base: { unit: baseUnit!, price: basePrice! } }),
    tax: [ICMS.CST ?? ICMS.CSOSN ?? '', Number(ICMS.pICMS) || ''].join(' ').trim(),
    name: (prod.xProd ?? '').slice(0, 60),
    value,
    vICMS: cents(ICMS.vICMS),
  }
}

function joined(one: NamedLine, other: NamedLine): NamedLine {
  const quantity = one.quantity + other.quantity
  const mean = (a: number, b: number) =>
    quantity > 0 ? (a * one.quantity + b * other.quantity) / quantity : Math.max(a, b)
  return {
    ...one,
    quantity,
    price: mean(one.price, other.price),
    ...(one.base && other.base && { base: { ...one.base, price: mean(one.base.price, other.base.price) } }),
    // Keeps the tax of the larger part.
    ...(other.value > one.value && { tax: other.tax }),
    value: one.value + other.value,
    vICMS: one.vICMS + other.vICMS,
  }
}

/** The two prices of a product that can be compared: of the same unit, else of the same unit of taxation; null: none. */
export function comparable(one: ItemLine, other: ItemLine): [number, number] | null {
  const pair: [number, number] | null =
    one.unit === other.unit
      ? [one.price, other.price]
      : (one.base?.unit ?? one.unit) === (other.base?.unit ?? other.unit)
        ? [one.base?.price ?? one.price, other.base?.price ?? other.price]
        : null
  return pair?.every((price) => price > 0) ? pair : null
}
