import { type Prices, priceMonths } from '@vigia/contract/reports'
import { sql } from 'kysely'
import type { WithDatabase } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { formatTaxId, type Product, priceOf, readNames, readProducts } from './reports.ts'
import { moveMonth } from './sums.ts'

const othersMax = 20

interface PriceQuestion {
  /** `aaaa-MM`: the last month. */
  to: string
  companyId: number | undefined
}

/** Monthly prices of a product and of similar ones (name or GTIN); null: none, or no company that the person sees bought it. */
export async function readPrices(
  ctx: WithDatabase,
  workspaceId: number,
  id: number,
  { to, companyId }: PriceQuestion,
): Promise<{ produto: Prices; iguais: Prices[] } | null> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const product = (await readProducts({ db }, workspaceId, [id])).get(id)
    if (!product) return null
    const similar = await readSimilar({ db }, workspaceId, product)
    const products = new Map([product, ...similar].map((one) => [one.id, one]))
    const { rows } = await sql<{ id: number; month: string; quantity: string; value: number }>`
      select s.product_id as id, to_char(s.month, 'YYYY-MM') as month, trim_scale(sum(s.quantity) / 10000.0)::text as quantity, sum(s.value)::float8 as value
        from product_sum s
       where s.workspace_id = ${workspaceId} and s.side = 0 and s.product_id = any (${[...products.keys()]}::int[])
         and s.month between ${`${moveMonth(to, 1 - priceMonths)}-01`}::date and ${`${to}-01`}::date
             ${companyId === undefined ? sql`` : sql`and s.company_id = ${companyId}`}
       group by 1, 2 order by 1, 2`.execute(db)
    const byProduct = Map.groupBy(rows, ({ id }) => id)
    // A product's name is hidden from people who see none of the companies that bought it.
    if (!byProduct.has(id) && !(await isBought({ db }, workspaceId, id))) return null
    const names = await readNames(
      { db },
      workspaceId,
      [...products.values()].map(({ issuer }) => issuer),
    )
    const toPrices = (one: Product): Prices => ({
      id: String(one.id),
      nome: one.name,
      codigo: one.code,
      fornecedor: names.get(one.issuer) ?? formatTaxId(one.issuer),
      cnpjCpf: one.issuer,
      unidade: one.unit,
      gtin: one.gtin,
      meses: (byProduct.get(one.id) ?? []).map(({ month, quantity, value }) => ({
        mes: month,
        quantidade: Number(quantity),
        valor: value / 100,
        precoMedio: priceOf(value, quantity),
      })),
    })
    const sumOf = ({ meses }: Prices) => meses.reduce((sum, { valor }) => sum + valor, 0)
    const others = similar.map(toPrices).filter(({ meses }) => meses.length > 0)
    return {
      produto: toPrices(product),
      iguais: others.sort((a, b) => sumOf(b) - sumOf(a)).slice(0, othersMax),
    }
  })
}

async function isBought({ db }: WithDatabase, workspaceId: number, id: number): Promise<boolean> {
  const { rows } = await sql`
    select from product_sum where workspace_id = ${workspaceId} and product_id = ${id} and side = 0 limit 1`.execute(db)
  return rows.length > 0
}

const similarMax = 200

// A hundred thousand products are read in some ten milliseconds: an index would cost with every new one.
async function readSimilar({ db }: WithDatabase, workspaceId: number, { id, name, gtin }: Product): Promise<Product[]> {
  const { rows } = await sql<Product>`
    select p.id, p.issuer, p.code, p.name, p.ncm, p.unit, p.gtin from product p
     where p.workspace_id = ${workspaceId} and p.id <> ${id} and (p.name = ${name} or p.gtin = ${gtin})
       and exists (select from product_sum s where s.workspace_id = ${workspaceId} and s.product_id = p.id and s.side = 0)
     limit ${similarMax}`.execute(db)
  return rows
}
