import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { CteContents, ItemContents, NfeContents } from '@vigia/dfe/read'
import { decimalOne, scaled } from './sums.ts'

// One value for each document: its items as columns, deflated. What is said of a product stands once in the workspace, and the items name it by place.

export interface ProductTexts {
  code: string
  name: string
  ncm: string
  unit: string
  gtin: string | null
}

type Cell = string | number | object | null
/** Of each column the cells of all items, the one that all have, 0: they follow from others, or the name of a column with the same cells. */
type Columns = Record<string, { all: Cell } | Cell[] | 0 | string>

// Amounts that are a base times a rate, both of which the file says, are not kept beside them where they are exact to the cent.
const rated: readonly (readonly [amount: string, base: string, rate: string, of: bigint])[] = [
  ['prod.vProd', 'prod.qCom', 'prod.vUnCom', 1n],
  ['ICMS.vICMS', 'ICMS.vBC', 'ICMS.pICMS', 100n],
  ['IPI.vIPI', 'IPI.vBC', 'IPI.pIPI', 100n],
  ['PIS.vPIS', 'PIS.vBC', 'PIS.pPIS', 100n],
  ['COFINS.vCOFINS', 'COFINS.vBC', 'COFINS.pCOFINS', 100n],
  ['gIBSUF.vIBSUF', 'IBSCBS.vBC', 'gIBSUF.pIBSUF', 100n],
  ['gIBSMun.vIBSMun', 'IBSCBS.vBC', 'gIBSMun.pIBSMun', 100n],
  ['gCBS.vCBS', 'IBSCBS.vBC', 'gCBS.pCBS', 100n],
]

// In cents too: the column that is the sum of two.
const added: readonly (readonly [amount: string, one: string, other: string])[] = [
  ['IBSCBS.vIBS', 'gIBSUF.vIBSUF', 'gIBSMun.vIBSMun'],
]
const taxedUnit = 'prod.uTrib'

const productFields = { cProd: 'code', xProd: 'name', NCM: 'ncm', uCom: 'unit', cEAN: 'gtin' } as const
const groups = [
  'prod',
  'ICMS',
  'ICMSUFDest',
  'IPI',
  'II',
  'PIS',
  'COFINS',
  'ISSQN',
  'IS',
  'IBSCBS',
  'gIBSUF',
  'gIBSMun',
  'gCBS',
  'gIBSCBSMono',
  'gTransfCred',
  'gAjusteCompet',
  'gEstornoCred',
  'gTribRegular',
  'gTribCompraGov',
] as const

export function productsOf(contents: NfeContents | CteContents): { products: ProductTexts[]; places: number[] } {
  if (contents.type === 'cte') return { products: [], places: [] }
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

export function pack(contents: NfeContents | CteContents): Uint8Array {
  if (contents.type === 'cte') return deflate(contents)
  const { places } = productsOf(contents)
  const rows = contents.items.map((item, index) => cellsOf(item, places[index]!))
  const columns: Columns = {}
  for (const name of new Set(rows.flatMap((row) => Object.keys(row)))) {
    const cells = rows.map((row) => row[name] ?? null)
    const [first = null] = cells
    const isSame = cells.every((cell) => cell === first || JSON.stringify(cell) === JSON.stringify(first))
    columns[name] = isSame ? { all: first } : cells
  }
  const follow = (name: string, follows: (row: Record<string, Cell>, index: number) => boolean) => {
    if (rows.length > 0 && rows.every((row, index) => row[name] !== undefined && follows(row, index))) columns[name] = 0
  }
  for (const [amount, base, rate, of] of rated)
    follow(amount, (row) => row[amount] === amountOf(row[base], row[rate], of))
  for (const [amount, one, other] of added) follow(amount, (row) => row[amount] === sumOf(row[one], row[other]))
  follow(taxedUnit, (row, index) => row[taxedUnit] !== '' && row[taxedUnit] === contents.items[index]!.prod.uCom)
  nameAlike(columns, rows)
  return deflate({ ...contents, items: { count: rows.length, columns } })
}

// A column that another one has too, cell for cell, is its name, unless that one follows from it.
function nameAlike(columns: Columns, rows: readonly Record<string, Cell>[]): void {
  const known = new Map<string, string>()
  const follows = (name: string) => columns[name] === 0
  const names = Object.keys(columns).filter(
    (name) => name !== taxedUnit && (follows(name) || Array.isArray(columns[name])),
  )
  for (const name of [...names.filter(follows), ...names.filter((name) => !follows(name))]) {
    const cells = JSON.stringify(rows.map((row) => row[name] ?? null))
    const alike = known.get(cells)
    if (alike === undefined) known.set(cells, name)
    else if (!follows(name) && !leadsTo(columns, alike, name)) columns[name] = alike
  }
}

function leadsTo(columns: Columns, from: string, name: string): boolean {
  if (from === name) return true
  const column = columns[from]
  if (typeof column === 'string') return leadsTo(columns, column, name)
  return column === 0 && sourcesOf(from).some((source) => leadsTo(columns, source, name))
}

const sourcesOf = (name: string) =>
  [...rated, ...added].flatMap(([amount, one, other]) => (amount === name ? [one, other] : []))

function cellsOf(item: ItemContents, product: number): Record<string, Cell> {
  const { nItem, lots, chassi, infAdProd, vItem, refers } = item
  const cells: Record<string, Cell | undefined> = { product, nItem, chassi, infAdProd, vItem, refers }
  if (lots.length > 0) cells.lots = lots
  for (const group of groups) {
    const fields = item[group]
    if (fields === undefined) continue
    // A group that says nothing is there all the same.
    cells[group] = 1
    for (const [name, text] of Object.entries(fields))
      if (text !== undefined && !(group === 'prod' && isOfProduct(name, text))) cells[`${group}.${name}`] = text
  }
  return Object.fromEntries(Object.entries(cells).filter((cell): cell is [string, Cell] => cell[1] !== undefined))
}

// A field that is there and empty is not the same as none.
const isOfProduct = (name: string, text: string) => name in productFields && text !== ''

/** What was packed; `products` are those of `productsOf`, in their order. */
export function unpack(value: Uint8Array, products: readonly ProductTexts[]): NfeContents | CteContents {
  const stored = inflate(value) as
    | CteContents
    | (Omit<NfeContents, 'items'> & { items: { count: number; columns: Columns } })
  if (stored.type === 'cte') return stored
  const { count, columns } = stored.items
  const names = Object.keys(columns)
  const items = Array.from({ length: count }, (_, index): ItemContents => {
    const item: Record<string, unknown> = { lots: [] }
    for (const name of names) {
      const cell = cellOf(columns, name, index)
      if (cell === null) continue
      const [group = '', field] = name.split('.')
      const fields = (groups as readonly string[]).includes(group) ? (item[group] ?? {}) : cell
      item[group] = field === undefined ? fields : { ...(fields as object), [field]: cell }
    }
    const { product, ...rest } = item as unknown as ItemContents & { product: number }
    const fields = fieldsOf(products[product])
    if (columns[taxedUnit] === 0) fields.uTrib = fields.uCom
    return { ...rest, prod: { ...rest.prod, ...fields } }
  })
  return { ...stored, items }
}

function cellOf(columns: Columns, name: string, index: number): Cell {
  const column = columns[name]
  if (Array.isArray(column)) return column[index] ?? null
  if (typeof column === 'string') return cellOf(columns, column, index)
  if (column !== 0) return column?.all ?? null
  if (name === taxedUnit) return null
  const sum = added.find(([amount]) => amount === name)
  if (sum) return sumOf(cellOf(columns, sum[1], index), cellOf(columns, sum[2], index))
  const [, base = '', rate = '', of = 1n] = rated.find(([amount]) => amount === name) ?? []
  return amountOf(cellOf(columns, base, index), cellOf(columns, rate, index), of)
}

// Half up, in the shortest text of a decimal.
function amountOf(base: Cell | undefined, rate: Cell | undefined, of: bigint): string | null {
  if (typeof base !== 'string' || typeof rate !== 'string') return null
  const unit = decimalOne * decimalOne * of
  return textOf((scaled(base) * scaled(rate) * 200n + unit) / (2n * unit))
}

function sumOf(one: Cell | undefined, other: Cell | undefined): string | null {
  if (typeof one !== 'string' || typeof other !== 'string') return null
  return textOf(((scaled(one) + scaled(other)) * 100n) / decimalOne)
}

function textOf(cents: bigint): string {
  const digits = cents.toString().padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`.replace(/\.?0{1,2}$/, '')
}

function fieldsOf(texts: ProductTexts | undefined): Partial<ItemContents['prod']> {
  if (!texts) return {}
  const entries = Object.entries(productFields).flatMap(([name, key]) => (texts[key] ? [[name, texts[key]]] : []))
  return Object.fromEntries(entries)
}

// What most values have in common: kept for ever, each under the number that values begin with.
const dictionaries: Record<number, Buffer> = {
  1: Buffer.from(
    [
      '"gIBSCBSMono":{"all":1},"IS":{"all":1},"II":{"all":1},"ISSQN":{"all":1},"ICMSUFDest":{"all":1},"ICMSUFDest.vBCUFDest":["',
      '"chassi":,"refers":,"lots":[[{"nLote":"","qLote":"","dFab":"2026-","dVal":"2027-',
      '"ICMS.CSOSN":{"all":"102"},"ICMS.pCredSN":{"all":"","ICMS.vCredICMSSN":["","ICMS.vBCST":["","ICMS.pICMSST":{"all":"18"},"ICMS.vICMSST":["',
      '"ICMS.vBCSTRet":["","ICMS.vICMSSTRet":["","ICMS.vFCP":["","ICMS.vFCPST":["","ICMS.pRedBC":{"all":"","ICMS.vICMSDeson":["',
      '"prod.cBenef":{"all":"SP","prod.CEST":["","prod.xPed":{"all":"","prod.nItemPed":["","prod.vFrete":["","prod.vSeg":["","prod.vOutro":["","infAdProd":["',
      '{"type":"cte","head":{"mod":"57","tpAmb":"1","dhEmi":"2026-","tpCTe":"0","tpServ":"0","modal":"01","UFIni":"SP","cMunIni":"35","xMunIni":"","UFFim":"","cMunFim":"","xMunFim":""}',
      '"payer":{"taxId":"","xNome":""},"vTPrest":"","components":[{"xNome":"FRETE PESO","vComp":""},{"xNome":"PEDAGIO","vComp":""}],"cargo":{"vCarga":"","proPred":"","xOutCat":""}',
      '"measures":[{"cUnid":"01","tpMed":"PESO BRUTO","qCarga":""}],"cited":[{"by":"infNFe/chave","chave":"35"}],"plates":[],"problems":[]}',
      '"reformTotals":{"vBCIBSCBS":"","vIBSUF":"","vIBSMun":"0","vIBS":"","vCBS":"","vIS":"","vNFTot":""}',
      '"IBSCBS":{"all":1},"IBSCBS.CST":{"all":"000"},"IBSCBS.cClassTrib":{"all":"000001"},"IBSCBS.vBC":["","IBSCBS.vIBS":["","IBSCBS.vCBS":["',
      '"gIBSUF":{"all":1},"gIBSUF.pIBSUF":{"all":"0.1"},"gIBSUF.vIBSUF":["","gIBSMun":{"all":1},"gIBSMun.pIBSMun":{"all":"0"},"gIBSMun.vIBSMun":{"all":"0"}',
      '"gCBS":{"all":1},"gCBS.pCBS":{"all":"0.9"},"gCBS.vCBS":["","IPI":{"all":1},"IPI.CST":{"all":"50"},"IPI.vBC":["","IPI.pIPI":["","IPI.vIPI":["',
      '"PIS":{"all":1},"PIS.CST":{"all":"01"},"PIS.vBC":["","PIS.pPIS":{"all":"1.65"},"PIS.vPIS":["',
      '"COFINS":{"all":1},"COFINS.CST":{"all":"01"},"COFINS.vBC":["","COFINS.pCOFINS":{"all":"7.6"},"COFINS.vCOFINS":["',
      '"ICMS":{"all":1},"ICMS.orig":{"all":"0"},"ICMS.CST":{"all":"00"},"ICMS.vBC":["","ICMS.pICMS":{"all":"18"},"ICMS.pICMS":["12","ICMS.vICMS":["',
      '"prod.uTrib":{"all":"UN"},"prod.qTrib":["1","2","10","100","prod.vUnTrib":["","prod.vDesc":["","prod.indTot":{"all":"1"},"prod.cEANTrib":["789',
      '{"type":"nfe","head":{"CRT":"3","mod":"55","dhEmi":"2026-01-02T10:00:00-03:00","tpAmb":"1","finNFe":"1","tpNF":"1","modFrete":"0"},"issuer":{"CNPJ":"","xNome":" LTDA","UF":"SP","cMun":"35","xMun":"SAO PAULO"}',
      '"recipient":{"CNPJ":"","xNome":"","UF":"SP","cMun":"3550308","xMun":"SAO PAULO"},"totals":{"vProd":"","vDesc":"0","vICMSDeson":"0","vST":"0","vFCPST":"0","vFrete":"0","vSeg":"0","vOutro":"0","vII":"0","vIPI":"0","vIPIDevol":"0","vNF":""}',
      '"due":[{"nDup":"001","dVenc":"2026-","vDup":""},{"nDup":"002","dVenc":"2026-","vDup":""}],"orders":[],"plates":[],"problems":[],"items":{"count":',
      '"columns":{"product":[0,1,2,3,4,5,6,7],"nItem":[1,2,3,4,5,6,7,8],"prod":{"all":1},"prod.CFOP":{"all":"5102"},"prod.CFOP":{"all":"6102"},"prod.qCom":["1","2","prod.vUnCom":["","prod.vProd":["',
    ].join(','),
  ),
  // As most values have it, in the order in which they have it.
  2: Buffer.from(
    [
      '"gIBSCBSMono":{"all":1},"IS":{"all":1},"II":{"all":1},"ISSQN":{"all":1},"ICMSUFDest":{"all":1},"ICMSUFDest.vBCUFDest":["","gTribRegular":{"all":1}',
      '"chassi":["","refers":["","lots":[[{"nLote":"","qLote":"","dFab":"2026-","dVal":"2027-',
      '"ICMS.CSOSN":{"all":"102"},"ICMS.CSOSN":{"all":"500"},"ICMS.pCredSN":{"all":"","ICMS.vCredICMSSN":["","ICMS.modBC":{"all":"3"},"ICMS.modBCST":{"all":"4"},"ICMS.pMVAST":["","ICMS.vBCST":["","ICMS.pICMSST":{"all":"18"},"ICMS.vICMSST":["',
      '"ICMS.vBCSTRet":["","ICMS.pST":["","ICMS.vICMSSubstituto":["","ICMS.vICMSSTRet":["","ICMS.pFCP":["","ICMS.vFCP":["","ICMS.vFCPST":["","ICMS.pRedBC":{"all":"","ICMS.vICMSDeson":["","ICMS.motDesICMS":{"all":"',
      '"prod.cBenef":{"all":"SP","prod.CEST":["","prod.xPed":{"all":"","prod.nItemPed":["","prod.vFrete":["","prod.vSeg":["","prod.vOutro":["","prod.vDesc":["","prod.cEANTrib":["789","infAdProd":["","ICMS.CST":["00","60","20","40","41","51",null',
      '{"type":"cte","head":{"mod":"57","tpAmb":"1","dhEmi":"2026-","tpCTe":"0","tpServ":"0","modal":"01","UFIni":"SP","cMunIni":"35","xMunIni":"","UFFim":"","cMunFim":"","xMunFim":""}',
      '"payer":{"taxId":"","xNome":""},"vTPrest":"","components":[{"xNome":"FRETE PESO","vComp":""},{"xNome":"PEDAGIO","vComp":""}],"cargo":{"vCarga":"","proPred":"","xOutCat":""}',
      '"measures":[{"cUnid":"01","tpMed":"PESO BRUTO","qCarga":""}],"cited":[{"by":"infNFe/chave","chave":"35"}],"plates":[],"problems":[]}',
      '"IPI":{"all":1},"IPI.CST":{"all":"50"},"IPI.CST":{"all":"99"},"IPI.vBC":"prod.vProd","IPI.vBC":["","IPI.pIPI":{"all":"","IPI.pIPI":["","IPI.vIPI":0,"PIS.vBC":["","PIS.vPIS":["","COFINS.vBC":"PIS.vBC","COFINS.vCOFINS":["","ICMS.vBC":["","ICMS.vICMS":["","ICMS.pICMS":["12","18","prod.vProd":["","prod.qTrib":["","prod.vUnTrib":["","prod.uTrib":["',
      '{"type":"nfe","head":{"CRT":"1","mod":"55","dhEmi":"2027-01-02T10:00:00-03:00","tpAmb":"1","finNFe":"1","tpNF":"1","modFrete":"0"},"issuer":{"CNPJ":"","xNome":" COMERCIO E INDUSTRIA LTDA","UF":"SP","cMun":"35","xMun":"SAO PAULO"},"recipient":{"CNPJ":"","xNome":"',
      '{"type":"nfe","head":{"CRT":"3","mod":"55","dhEmi":"2026-10-12T10:00:00-03:00","tpAmb":"1","finNFe":"1","tpNF":"1","modFrete":"0"},"issuer":{"CNPJ":"","xNome":" LTDA","UF":"SP","cMun":"3550308","xMun":"SAO PAULO"},"recipient":{"CNPJ":"","xNome":" LTDA","UF":"SP","cMun":"3550308","xMun":"SAO PAULO"},"items":{"count":',
      '"columns":{"product":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15],"nItem":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15],"prod":{"all":1},"prod.CFOP":{"all":"5102"},"prod.CFOP":{"all":"6102"},"prod.CFOP":["5102","5405","6102","prod.qCom":["1","2","10","100","prod.vUnCom":["',
      '"prod.vProd":0,"prod.uTrib":0,"prod.qTrib":"prod.qCom","prod.vUnTrib":"prod.vUnCom","prod.indTot":{"all":"1"},"ICMS":{"all":1},"ICMS.orig":{"all":"0"},"ICMS.CST":{"all":"00"},"ICMS.vBC":"prod.vProd","ICMS.pICMS":{"all":"18"},"ICMS.vICMS":0,"PIS":{"all":1},"PIS.CST":{"all":"01"},"PIS.vBC":"prod.vProd","PIS.pPIS":{"all":"1.65"},"PIS.vPIS":0,"COFINS":{"all":1},"COFINS.CST":{"all":"01"},"COFINS.vBC":"prod.vProd","COFINS.pCOFINS":{"all":"7.6"},"COFINS.vCOFINS":0,"IBSCBS":{"all":1},"IBSCBS.CST":{"all":"000"},"IBSCBS.cClassTrib":{"all":"000001"},"IBSCBS.vBC":"prod.vProd","IBSCBS.vIBS":0,"IBSCBS.vCBS":"gCBS.vCBS","gIBSUF":{"all":1},"gIBSUF.pIBSUF":{"all":"0.1"},"gIBSUF.vIBSUF":0,"gIBSMun":{"all":1},"gIBSMun.pIBSMun":{"all":"0"},"gIBSMun.vIBSMun":0,"gCBS":{"all":1},"gCBS.pCBS":{"all":"0.9"},"gCBS.vCBS":0}},"totals":{"vProd":"","vDesc":"0","vICMSDeson":"0","vST":"0","vFCPST":"0","vFrete":"0","vSeg":"0","vOutro":"0","vII":"0","vIPI":"0","vIPIDevol":"0","vNF":""},"reformTotals":{"vBCIBSCBS":"","vIBSUF":"","vIBSMun":"0","vIBS":"","vCBS":"","vIS":"","vNFTot":""},"due":[{"nDup":"001","dVenc":"2026-11-12","vDup":""},{"nDup":"002","dVenc":"2026-","vDup":""}],"orders":[],"plates":[],"problems":[]}',
    ].join(','),
  ),
}
const dictionaryNumber = 2
const dictionary = dictionaries[dictionaryNumber]!

function deflate(stored: object): Uint8Array {
  const packed = deflateRawSync(JSON.stringify(stored), { dictionary, level: 9, memLevel: 9 })
  return Buffer.concat([Buffer.of(dictionaryNumber), packed])
}

// Nothing of the layout's size comes near it.
const unpackedBytesMax = 32 * 1024 * 1024

function inflate(value: Uint8Array): unknown {
  const dictionary = dictionaries[value[0] ?? 0]
  if (!dictionary) throw new Error(`contents packed with dictionary ${value[0]}, which is not known`)
  return JSON.parse(inflateRawSync(value.subarray(1), { dictionary, maxOutputLength: unpackedBytesMax }).toString())
}
