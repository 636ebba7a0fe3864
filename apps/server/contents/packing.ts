import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { CteContents, ItemContents, NfeContents } from '@vigia/dfe/read'

// One value for each document: its items as columns, deflated. What is said of a product stands once in the workspace, and the items name it by place.

/** What a note calls a product. */
export interface ProductTexts {
  code: string
  name: string
  ncm: string
  unit: string
  gtin: string | null
}

type Cell = string | number | object | null
/** Of each column the cells of all items, or the one that all have. */
type Columns = Record<string, { all: Cell } | Cell[]>

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

/** The products of a document, each once in the order in which its items name them first, and of each item the place of its product. */
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

/** What is inside a document as it is stored; `unpack` gives it back. */
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
  return deflate({ ...contents, items: { count: rows.length, columns } })
}

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
  const entries = Object.entries(columns)
  const items = Array.from({ length: count }, (_, index): ItemContents => {
    const item: Record<string, unknown> = { lots: [] }
    for (const [name, column] of entries) {
      const cell = Array.isArray(column) ? (column[index] ?? null) : column.all
      if (cell === null) continue
      const [group = '', field] = name.split('.')
      const fields = (groups as readonly string[]).includes(group) ? (item[group] ?? {}) : cell
      item[group] = field === undefined ? fields : { ...(fields as object), [field]: cell }
    }
    const { product, ...rest } = item as unknown as ItemContents & { product: number }
    return { ...rest, prod: { ...rest.prod, ...fieldsOf(products[product]) } }
  })
  return { ...stored, items }
}

function fieldsOf(texts: ProductTexts | undefined): Partial<ItemContents['prod']> {
  if (!texts) return {}
  const entries = Object.entries(productFields).flatMap(([name, key]) => (texts[key] ? [[name, texts[key]]] : []))
  return Object.fromEntries(entries)
}

// What most values have in common: kept for ever, under the number that each value begins with. Another one gets another number.
const dictionaryNumber = 1
const dictionary = Buffer.from(
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
)

function deflate(stored: object): Uint8Array {
  const packed = deflateRawSync(JSON.stringify(stored), { dictionary, level: 9, memLevel: 9 })
  return Buffer.concat([Buffer.of(dictionaryNumber), packed])
}

// Nothing of the layout's size comes near it.
const unpackedBytesMax = 32 * 1024 * 1024

function inflate(value: Uint8Array): unknown {
  if (value[0] !== dictionaryNumber) throw new Error(`contents packed with dictionary ${value[0]}, which is not known`)
  return JSON.parse(inflateRawSync(value.subarray(1), { dictionary, maxOutputLength: unpackedBytesMax }).toString())
}
