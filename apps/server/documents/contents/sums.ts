import { cte } from '@vigia/dfe/families/cte'
import type { CteContents, NfeContents } from '@vigia/dfe/read'
import type { SumKind } from '../list/counted.ts'

/** In the order of the columns of `content_sum`. */
export const sumNames = ['value', 'icms', 'st', 'ipi', 'pis', 'cofins', 'ibs', 'cbs', 'is', 'fcp'] as const
export type Sums = Record<(typeof sumNames)[number], bigint>

export interface ProductTexts {
  code: string
  name: string
  ncm: string
  unit: string
  gtin: string | null
}

export interface DocumentSums {
  byKey: { kind: SumKind; key: string; sums: Sums }[]
  /** Each product once: value without freight and taxes, in cents, and quantity in ten thousandths. */
  byProduct: (ProductTexts & { value: bigint; quantity: bigint })[]
}

/** As what a document is counted: `document_facts.side`. */
export type Side = 0 | 1 | 2

/** Cents of a document. Each kind sums up to its total. */
export function sumsOf(contents: NfeContents | CteContents, side: Side): DocumentSums {
  const keyed = new Map<string, DocumentSums['byKey'][number]>()
  const add = (kind: SumKind, key: string, sums: Sums) => {
    const known = keyed.get(`${kind} ${key}`)
    if (!known) return void keyed.set(`${kind} ${key}`, { kind, key, sums })
    known.sums = plus(known.sums, sums)
  }
  if (contents.type === cte.id) {
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
    return { byKey: [...keyed.values()], byProduct: [] }
  }
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
  const rest = total.value - items.reduce((sum, { value }) => sum + value, 0n)
  if (rest !== 0n || items.length === 0)
    for (const kind of ['cfop', 'ncm', 'classification'] as const) add(kind, '', { ...none, value: rest })
  const byProduct = new Map<string, DocumentSums['byProduct'][number]>()
  for (const { prod } of contents.items) {
    const { cProd = '', xProd = '', NCM = '', uCom = '', cEAN } = prod
    const texts: ProductTexts = { code: cProd, name: xProd, ncm: NCM, unit: uCom, gtin: cEAN ?? null }
    const key = JSON.stringify(texts)
    const { value, quantity } = byProduct.get(key) ?? { value: 0n, quantity: 0n }
    byProduct.set(key, {
      ...texts,
      value: value + cents(prod.vProd) - cents(prod.vDesc),
      quantity: quantity + scaled(prod.qCom),
    })
  }
  return {
    byKey: [...keyed.values()],
    byProduct: [...byProduct.values()].map((product) => ({ ...product, quantity: rounded(product.quantity) })),
  }
}

/** Digits of a CNPJ or CPF, '' of a foreigner. */
export function taxIdOf({ CNPJ, CPF }: { CNPJ?: string | undefined; CPF?: string | undefined }): string {
  return (CNPJ ?? CPF ?? '').slice(0, 14)
}

const none: Sums = { value: 0n, icms: 0n, st: 0n, ipi: 0n, pis: 0n, cofins: 0n, ibs: 0n, cbs: 0n, is: 0n, fcp: 0n }

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
  if (prod.indTot === '0') return { ...sums, value: 0n }
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
export function cents(text: string | undefined): bigint {
  return (scaled(text) + decimalOne / 200n) / (decimalOne / 100n)
}

// To the four decimals that the layout gives quantities.
const rounded = (quantity: bigint) => (quantity + decimalOne / 20_000n) / (decimalOne / 10_000n)
