import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ItemContents, NfeContents } from '@vigia/dfe/read'
import pg from 'pg'
import { quantile, report } from '../../../bench/measure.ts'
import { startDatabase } from '../../../tests/support/postgres.ts'
import { fill } from '../../../tests/support/volume.ts'
import { searchDocuments } from '../documents/list.ts'
import { inWorkspace, openDatabase } from '../platform/database.ts'
import { migrate } from '../platform/schema/migrate.ts'
import { pack, productsOf } from './packing.ts'
import { putContents, type ReadDocument } from './store.ts'
import { cents, sumsOf, taxIdOf } from './sums.ts'
import { termsOf } from './terms.ts'

// What the inside of documents costs on disk, in writing and in searches of a month of a hundred thousand. The notes are made up: fifty of each
// issuer, who has sixty products and sells some of them more often.

const documents = Number(process.env.DOCUMENTS ?? 200_000)
const ofMonth = documents / 2
const perIssuer = 50
const perCatalogue = 60
const batch = 100
const rounds = 20
// The worker rests two thirds of the time and reads what it writes: as many in the minute between two rounds of autovacuum.
const vacuumedAfter = 10_000

// Seeded, so that two runs write the same.
let state = 7
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
const below = (max: number) => Math.floor(random() * max)

const kinds = [
  'PARAFUSO',
  'ARRUELA',
  'PAPEL',
  'CABO',
  'LUVA',
  'TINTA',
  'MANGUEIRA',
  'FILTRO',
  'OLEO',
  'CHAPA',
  'TUBO',
  'VALVULA',
  'DISCO',
  'BROCA',
  'CAIXA',
  'FITA',
]
const makers = Array.from(
  { length: 2_000 },
  (_, index) => `${pick(['TEC', 'BRA', 'MAX', 'SUL', 'NOR'])}${index.toString(36).toUpperCase()}`,
)
const sizes = ['10MM', '12MM', '1/2', '3/4', 'M8', 'M10', '500ML', '1L', '5L', 'A4', 'GRANDE', 'PEQUENO']
const finishes = ['INOX', 'ZINCADO', 'PRETO', 'BRANCO', 'GALVANIZADO', 'NYLON', 'REFORCADO', 'INDUSTRIAL']
const ncms = Array.from({ length: 400 }, () => String(10_000_000 + below(89_999_999)))

interface Product {
  cProd: string
  cEAN?: string
  xProd: string
  NCM: string
  uCom: string
  price: number
}
const catalogues = new Map<number, Product[]>()
function catalogueOf(issuer: number): Product[] {
  const known = catalogues.get(issuer)
  if (known) return known
  const made = Array.from(
    { length: perCatalogue },
    (): Product => ({
      cProd: `${issuer % 97}.${below(100_000)}`,
      cEAN: random() < 0.5 ? String(7_890_000_000_000 + below(999_999_999)) : undefined,
      xProd: `${pick(kinds)} ${pick(sizes)} ${pick(finishes)} ${pick(makers)}`,
      NCM: pick(ncms),
      uCom: pick(['UN', 'CX', 'KG', 'PC']),
      price: 1 + below(50_000) / 100,
    }),
  )
  catalogues.set(issuer, made)
  return made
}

const money = (value: number) => String(Math.round(value * 100) / 100)

function itemOf({ price, ...prod }: Product, nItem: number): ItemContents {
  const quantity = 1 + below(40)
  const value = price * quantity
  return {
    nItem,
    prod: {
      ...prod,
      CFOP: pick(['5102', '5102', '6102', '5405']),
      qCom: String(quantity),
      vUnCom: money(price),
      vProd: money(value),
      uTrib: prod.uCom,
      qTrib: String(quantity),
      vUnTrib: money(price),
      indTot: '1',
    },
    lots: [],
    ICMS: { orig: '0', CST: '00', vBC: money(value), pICMS: '18', vICMS: money(value * 0.18) },
    PIS: { CST: '01', vBC: money(value), pPIS: '1.65', vPIS: money(value * 0.0165) },
    COFINS: { CST: '01', vBC: money(value), pCOFINS: '7.6', vCOFINS: money(value * 0.076) },
    IBSCBS: {
      CST: '000',
      cClassTrib: '000001',
      vBC: money(value),
      vIBS: money(value * 0.001),
      vCBS: money(value * 0.009),
    },
    gIBSUF: { pIBSUF: '0.1', vIBSUF: money(value * 0.001) },
    gIBSMun: { pIBSMun: '0', vIBSMun: '0' },
    gCBS: { pCBS: '0.9', vCBS: money(value * 0.009) },
  }
}

function contentsOfNumber(number: number): NfeContents {
  const issuer = number % Math.max(1, documents / perIssuer)
  const catalogue = catalogueOf(issuer)
  // Eight on average; the first products of a catalogue are sold more often.
  const items = Array.from({ length: 1 + below(15) }, (_, index) =>
    itemOf(catalogue[below(1 + below(perCatalogue))]!, index + 1),
  )
  const total = items.reduce((sum, { prod }) => sum + Number(prod.vProd), 0)
  return {
    type: 'nfe',
    head: {
      CRT: '3',
      mod: '55',
      dhEmi: '2026-10-12T10:00:00-03:00',
      tpAmb: '1',
      finNFe: '1',
      tpNF: '1',
      modFrete: '0',
    },
    issuer: {
      CNPJ: String(10_000_000_000_000 + issuer),
      xNome: `FORNECEDOR ${issuer} LTDA`,
      UF: 'SP',
      cMun: '3550308',
      xMun: 'SAO PAULO',
    },
    recipient: {
      CNPJ: '44555666000181',
      xNome: 'EMPRESA DESTINATARIA LTDA',
      UF: 'SP',
      cMun: '3550308',
      xMun: 'SAO PAULO',
    },
    items,
    totals: { vProd: money(total), vDesc: '0', vST: '0', vFrete: '0', vIPI: '0', vNF: money(total) },
    reformTotals: { vBCIBSCBS: money(total), vIBS: money(total * 0.001), vCBS: money(total * 0.009) },
    due: [{ nDup: '001', dVenc: '2026-11-12', vDup: money(total) }],
    orders: [],
    plates: [],
    problems: [],
  }
}

const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
const postgres = await startDatabase(directory, { durable: true })
await migrate(postgres.url)
const owner = new pg.Client({ connectionString: postgres.url })
await owner.connect()
await owner.query(`insert into workspace (id, name, plan) values (1, 'bench', 3)`)
await fill(owner, [
  {
    workspaceId: 1,
    documents,
    companies: 5,
    suppliers: documents / perIssuer,
    currentMonth: documents / 4,
    lastMonth: ofMonth,
  },
])
const db = openDatabase(postgres.url, { connections: 1 })
try {
  const { rows } = await owner.query<{ id: string; company_id: number; month: string }>(
    `select id, company_id, to_char(issued_at, 'YYYY-MM-01') as month from document where type = 0 order by created_at, id`,
  )
  let items = 0
  const begun = performance.now()
  let packing = 0
  let vacuuming = 0
  const vacuum = async () => {
    const from = performance.now()
    await owner.query('vacuum content_posting, content_segment, content_sum, product_sum')
    vacuuming += performance.now() - from
  }
  for (let at = 0; at < rows.length; at += batch) {
    const from = performance.now()
    const read = rows.slice(at, at + batch).map(({ id, company_id: companyId, month }, index): ReadDocument => {
      const contents = contentsOfNumber(at + index)
      items += contents.items.length
      const { products, places } = productsOf(contents)
      const documentId = BigInt(id)
      return {
        documentId,
        document: { documentId, companyId, chave: '', month, side: 0, standing: true, received: true, bill: null },
        before: null,
        indexed: null,
        answer: {
          taken: { byKey: [], byProduct: [] },
          added: sumsOf(contents, 0, places),
          read: {
            side: 0,
            value: pack(contents),
            products,
            terms: termsOf(contents),
            sameTerms: false,
            issuer: taxIdOf(contents.issuer),
            reform: 3,
            findings: 0,
            ibs: cents(contents.reformTotals?.vIBS),
            cbs: cents(contents.reformTotals?.vCBS),
            dues: contents.due.map(({ dVenc, vDup }) => ({ number: '001', dueOn: dVenc!, amount: cents(vDup) })),
            trip: null,
            note: null,
          },
        },
      }
    })
    packing += performance.now() - from
    await inWorkspace({ db }, 1, ({ db }) => putContents(db, 1, read))
    if (at % vacuumedAfter === 0) await vacuum()
  }
  const writingMs = performance.now() - begun - packing - vacuuming
  await owner.query('vacuum analyze')
  const { rows: sizes } = await owner.query<{ name: string; table: string; indexes: string }>(
    `select c.relname as name, pg_table_size(c.oid) as table, pg_indexes_size(c.oid) as indexes from pg_class c
      where c.relname in ('content', 'content_segment', 'content_posting', 'product', 'content_sum', 'product_sum', 'installment') order by 1`,
  )
  const perDocument = Object.fromEntries(
    sizes.map(({ name, table, indexes }) => [
      name,
      { table: Math.round(Number(table) / rows.length), indexes: Math.round(Number(indexes) / rows.length) },
    ]),
  )
  const total = (names: string[]) =>
    names.reduce((sum, name) => sum + perDocument[name]!.table + perDocument[name]!.indexes, 0)
  report('items', {
    documents: rows.length,
    itemsPerDocument: items / rows.length,
    goals: { bytesPerDocument: 1_000, searchP95Ms: 50 },
    bytesPerDocument: {
      items: total(['content', 'content_segment', 'content_posting', 'product']),
      sums: total(['content_sum', 'product_sum']),
      parcels: total(['installment']),
      ...perDocument,
    },
    writtenPerSecond: Math.round((rows.length / writingMs) * 1_000),
    packedPerSecond: Math.round((rows.length / packing) * 1_000),
  })
  const { rows: range } = await owner.query<{ month: string; n: number }>(
    `select to_char(issued_at, 'YYYY-MM') as month, count(*)::int as n from document where type = 0 group by 1 order by n desc limit 1`,
  )
  const { month, n } = range[0]!
  const [year, number] = month.split('-').map(Number)
  const last = new Date(Date.UTC(year!, number!, 0)).getUTCDate()
  const inMonth = { from: `${month}-01T00:00:00`, to: `${month}-${last}T23:59:59` }
  const maker = makers[17]!
  const measured: Record<string, object> = {}
  for (const text of [
    'inexistente',
    maker,
    `${maker} inox`,
    `ncm:${ncms[3]}`,
    ncms[3]!.slice(0, 4),
    'mangueira',
    'parafuso inox',
    'cfop:6102',
  ]) {
    for (const [where, dates] of [
      ['month', inMonth],
      ['anyDate', {}],
    ] as const) {
      const times: number[] = []
      let found = 0
      for (let round = 0; round < rounds; round++) {
        const from = performance.now()
        found = (await searchDocuments({ db }, 1, { type: 0, page: 1, text, ...dates })).total
        times.push(performance.now() - from)
      }
      measured[`${text} ${where}`] = { found, p50: quantile(times, 0.5), p95: quantile(times, 0.95) }
    }
  }
  report('items', { month: inMonth, documentsInMonth: n, searches: measured })
} finally {
  await db.destroy()
  await owner.end()
  await postgres[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
}
