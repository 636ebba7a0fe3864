import { cte } from '@vigia/dfe/families/cte'
import type { CteContents, NfeContents } from '@vigia/dfe/read'

/** Values of `content_sum.kind`. */
export const sumKinds = { issuer: 0, cfop: 1, ncm: 2, uf: 3, lane: 4, classification: 5 } as const

/** In the order of the columns of `content_sum`. */
export const sumNames = ['value', 'icms', 'st', 'ipi', 'pis', 'cofins', 'ibs', 'cbs', 'is', 'fcp'] as const
type Sums = Record<(typeof sumNames)[number], number>

type ProductTexts = [code: string, name: string, ncm: string, unit: string, gtin: string | null]

/** Amounts that a document adds to sums while it is counted, in cents: `document_facts.sums`. */
export interface DocumentSums {
  /** Digits of the issuer. */
  issuer: string
  /** Kind and key of a row of `content_sum`, and amounts in the order of `sumNames`. Each kind sums up to the total. */
  keys: [kind: number, key: string, ...amounts: number[]][]
  /** Each product once: value without freight and taxes, and quantity in ten thousandths. */
  products: [...ProductTexts, value: number, quantity: number][]
}

/** As what a document is counted: `document_facts.side`. */
export type Side = 0 | 1 | 2

/** The sums of a document; without a side it adds nothing. */
export function sumsOf(contents: NfeContents | CteContents, side: Side | null): DocumentSums {
  const keyed = new Map<string, { kind: number; key: string; sums: Sums }>()
  const add = (name: keyof typeof sumKinds, key: string, sums: Sums) => {
    const kind = sumKinds[name]
    const known = keyed.get(`${kind} ${key}`)?.sums ?? none
    keyed.set(`${kind} ${key}`, { kind, key, sums: plus(known, sums) })
  }
  if (contents.type === cte.id && side !== null) {
    const sums: Sums = {
      ...none,
      value: cents(contents.vTPrest),
      icms: cents(contents.ICMS?.vICMS),
      ibs: cents(contents.IBSCBS?.vIBS),
      cbs: cents(contents.IBSCBS?.vCBS),
    }
    add('issuer', taxIdOf(contents.issuer), sums)
    add('classification', contents.IBSCBS?.cClassTrib ?? '', sums)
    add('lane', `${contents.head.UFIni ?? ''}-${contents.head.UFFim ?? ''}`, sums)
  }
  if (contents.type !== cte.id && side !== null) {
    const items = contents.items.map(itemSums)
    const total = { ...items.reduce(plus, none), value: cents(contents.totals.vNF) }
    const other = side === 0 ? contents.issuer : contents.recipient
    add('issuer', taxIdOf(other), total)
    add('uf', other.UF ?? '', total)
    for (const [index, { prod, IBSCBS }] of contents.items.entries()) {
      add('classification', IBSCBS?.cClassTrib ?? '', items[index]!)
      add('cfop', prod.CFOP ?? '', items[index]!)
      add('ncm', prod.NCM ?? '', items[index]!)
    }
    const rest = total.value - items.reduce((sum, { value }) => sum + value, 0)
    if (rest !== 0 || items.length === 0)
      for (const kind of ['cfop', 'ncm', 'classification'] as const) add(kind, '', { ...none, value: rest })
  }
  return {
    issuer: taxIdOf(contents.issuer),
    keys: [...keyed.values()].map(({ kind, key, sums }) => [kind, key, ...sumNames.map((name) => sums[name])]),
    products: contents.type === cte.id || side === null ? [] : productsOf(contents),
  }
}

function productsOf({ items }: NfeContents): DocumentSums['products'] {
  const products = new Map<string, { texts: ProductTexts; value: number; quantity: bigint }>()
  for (const { prod } of items) {
    const { cProd = '', xProd = '', NCM = '', uCom = '', cEAN = null } = prod
    const texts: ProductTexts = [cProd, xProd, NCM, uCom, cEAN]
    const { value, quantity } = products.get(JSON.stringify(texts)) ?? { value: 0, quantity: 0n }
    const [moreValue, moreQuantity] = [cents(prod.vProd) - cents(prod.vDesc), scaled(prod.qCom)]
    products.set(JSON.stringify(texts), { texts, value: value + moreValue, quantity: quantity + moreQuantity })
  }
  return [...products.values()].map(({ texts, value, quantity }) => [...texts, value, rounded(quantity)])
}

/** Digits of a CNPJ or CPF, '' of a foreigner. */
export function taxIdOf({ CNPJ, CPF }: { CNPJ?: string | undefined; CPF?: string | undefined }): string {
  return (CNPJ ?? CPF ?? '').slice(0, 14)
}

const none: Sums = { value: 0, icms: 0, st: 0, ipi: 0, pis: 0, cofins: 0, ibs: 0, cbs: 0, is: 0, fcp: 0 }

const plus = (one: Sums, other: Sums): Sums =>
  Object.fromEntries(sumNames.map((name) => [name, one[name] + other[name]])) as Sums

// Book value of an item: its price with freight, insurance, other costs and added taxes.
function itemSums(item: NfeContents['items'][number]): Sums {
  const { prod, ICMS = {}, IPI = {}, PIS = {}, COFINS = {}, IS = {}, IBSCBS = {}, gIBSCBSMono = {} } = item
  const sums = {
    icms: cents(ICMS.vICMS) + cents(ICMS.vICMSMono),
    st: cents(ICMS.vICMSST),
    ipi: cents(IPI.vIPI),
    pis: cents(PIS.vPIS),
    cofins: cents(COFINS.vCOFINS),
    ibs: cents(IBSCBS.vIBS) + cents(gIBSCBSMono.vTotIBSMonoItem),
    cbs: cents(IBSCBS.vCBS) + cents(gIBSCBSMono.vTotCBSMonoItem),
    is: cents(IS.vIS),
    fcp: cents(ICMS.vFCP) + cents(ICMS.vFCPST),
  }
  if (prod.indTot === '0') return { ...sums, value: 0 }
  const added = cents(prod.vFrete) + cents(prod.vSeg) + cents(prod.vOutro) + cents(ICMS.vFCPST) + sums.st + sums.ipi
  return { ...sums, value: cents(prod.vProd) - cents(prod.vDesc) + added }
}

const decimals = 10
const decimalOne = 10n ** BigInt(decimals)

/** Decimal text, of ten decimals at most, times `decimalOne`. */
function scaled(text: string | undefined): bigint {
  const [whole = '', fraction = ''] = (text ?? '0').split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

/** Decimal text as whole cents, half up. */
export function cents(text: string | undefined): number {
  return Number((scaled(text) + decimalOne / 200n) / (decimalOne / 100n))
}

// To the four decimals that the layout gives quantities.
const rounded = (quantity: bigint) => Number((quantity + decimalOne / 20_000n) / (decimalOne / 10_000n))
