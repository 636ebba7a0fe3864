import { sql } from 'kysely'
import type { Context, Database } from '../../platform/context.ts'
import { asOperator, inWorkspace } from '../../platform/database.ts'
import type { NoteOptions } from '../testing.ts'
import { cteProc, nfeProc, type TransportOptions } from '../testing.ts'
import { auditBills } from './freight.ts'
import { countProducts, moveProducts, type ProductMove } from './products.ts'

/** An item of a note for tests; amounts and rates as the file writes them. */
export interface TestItem {
  code?: string
  name?: string
  ncm?: string
  cfop?: string
  gtin?: string
  quantity?: string
  unit?: string
  price?: string
  value?: string
  discount?: string
  freight?: string
  icms?: string
  ipi?: string
  st?: string
  lot?: string
  order?: string
  /** Groups inside `imposto`, after the others. */
  taxes?: string
}

export interface TestNote extends NoteOptions {
  items?: TestItem[]
  /** Days and amounts of its parcels. */
  dues?: [string, string][]
  issuerUf?: string
  crt?: string
  finNFe?: string
  plate?: string
}

/** An NF-e with its inside, for tests of what is read from it. */
export function noteWith({
  items = [{}],
  dues = [],
  issuerUf = 'SP',
  crt = '3',
  finNFe = '1',
  plate,
  ...options
}: TestNote = {}): string {
  const parcels = dues.map(
    ([day, amount], index) =>
      `<dup><nDup>${String(index + 1).padStart(3, '0')}</nDup><dVenc>${day}</dVenc><vDup>${amount}</vDup></dup>`,
  )
  return nfeProc(options)
    .replace('<tpNF>', `<finNFe>${finNFe}</finNFe><tpNF>`)
    .replace('</emit>', `<enderEmit><UF>${issuerUf}</UF></enderEmit><CRT>${crt}</CRT></emit>`)
    .replace('</dest>', `<enderDest><UF>SP</UF></enderDest></dest>${items.map(itemXml).join('')}`)
    .replace('</modFrete>', `</modFrete>${plate ? `<veicTransp><placa>${plate}</placa><UF>SP</UF></veicTransp>` : ''}`)
    .replace('</transp>', `</transp>${parcels.length > 0 ? `<cobr>${parcels.join('')}</cobr>` : ''}`)
}

function itemXml(item: TestItem, index: number): string {
  const {
    code = 'A-1',
    name = 'PAPEL SULFITE A4',
    ncm = '48025610',
    cfop = '5102',
    gtin = 'SEM GTIN',
    unit = 'CX',
  } = item
  const { quantity = '2.0000', price = '10.00', value = '20.00', icms = '3.60', taxes = '' } = item
  const optional = (name: string, text: string | undefined) => (text === undefined ? '' : `<${name}>${text}</${name}>`)
  const st = item.st === undefined ? '' : `<vBCST>${value}</vBCST><vICMSST>${item.st}</vICMSST>`
  const ipi = item.ipi === undefined ? '' : `<IPI><IPITrib><CST>50</CST><vIPI>${item.ipi}</vIPI></IPITrib></IPI>`
  const lot = item.lot === undefined ? '' : `<rastro><nLote>${item.lot}</nLote><qLote>1</qLote></rastro>`
  return `<det nItem="${index + 1}"><prod><cProd>${code}</cProd><cEAN>${gtin}</cEAN><xProd>${name}</xProd><NCM>${ncm}</NCM><CFOP>${cfop}</CFOP><uCom>${unit}</uCom><qCom>${quantity}</qCom><vUnCom>${price}</vUnCom><vProd>${value}</vProd>${optional('vFrete', item.freight)}${optional('vDesc', item.discount)}<indTot>1</indTot>${optional('xPed', item.order)}${lot}</prod><imposto><ICMS><ICMS00><orig>0</orig><CST>00</CST><vBC>${value}</vBC><pICMS>18.00</pICMS><vICMS>${icms}</vICMS>${st}</ICMS00></ICMS>${ipi}${taxes}</imposto></det>`
}

export interface TestFreight extends TransportOptions {
  tpCTe?: string
  tpServ?: string
  /** UF, IBGE code and name of its cities. */
  from?: [uf: string, cMun: string, name: string]
  to?: [uf: string, cMun: string, name: string]
  cargo?: string
  kilos?: string
  /** Chaves of notes. */
  notes?: string[]
}

/** A CT-e with its inside, for tests of what is read from it. */
export function freightWith({
  tpCTe = '0',
  tpServ = '0',
  from = ['SP', '3550308', 'São Paulo'],
  to = ['SC', '4209102', 'Joinville'],
  cargo = '5000.00',
  kilos = '200.0000',
  notes = [],
  ...options
}: TestFreight = {}): string {
  const city = (end: string, [uf, cMun, name]: [string, string, string]) =>
    `<cMun${end}>${cMun}</cMun${end}><xMun${end}>${name}</xMun${end}><UF${end}>${uf}</UF${end}>`
  const cited = notes.map((chave) => `<infNFe><chave>${chave}</chave></infNFe>`).join('')
  return cteProc(options)
    .replace(
      '<tpAmb>2</tpAmb>',
      `<tpAmb>2</tpAmb><tpCTe>${tpCTe}</tpCTe><tpServ>${tpServ}</tpServ>${city('Ini', from)}${city('Fim', to)}`,
    )
    .replace(
      '</vPrest>',
      `</vPrest><infCTeNorm><infCarga><vCarga>${cargo}</vCarga><proPred>PAPEL</proPred><infQ><cUnid>01</cUnid><tpMed>PESO BRUTO</tpMed><qCarga>${kilos}</qCarga></infQ></infCarga>${cited === '' ? '' : `<infDoc>${cited}</infDoc>`}</infCTeNorm>`,
    )
}

/** Sums of products as documents that were read leave them; `db` is inside the workspace. */
export const addProductSums = (
  db: Database,
  workspaceId: number,
  moves: (Omit<ProductMove, 'side' | 'documents' | 'value' | 'quantity'> & { value: number; units: number })[],
): Promise<void> =>
  moveProducts(
    db,
    workspaceId,
    moves.map(({ value, units, ...move }) => ({
      ...move,
      side: 0,
      documents: 1,
      value,
      quantity: units * 10_000,
    })),
  )

/** Adds the products and audits the freight of all documents of all workspaces, as the job of alerts does for those that changed. */
export async function readEverything({ db, log }: Pick<Context, 'db' | 'log'>): Promise<void> {
  const workspaces = await asOperator({ db }, ({ db }) => db.selectFrom('workspace').select('id').execute())
  for (const { id: workspaceId } of workspaces)
    await inWorkspace({ db }, workspaceId, async ({ db }) => {
      const { rows } = await sql<{ id: bigint }>`
        select id from document where workspace_id = ${workspaceId}`.execute(db)
      const ids = rows.map(({ id }) => id)
      await countProducts({ db, log }, workspaceId, ids)
      await auditBills({ db, log }, workspaceId, ids)
    })
}
