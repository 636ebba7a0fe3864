import { sql } from 'kysely'
import type { Database } from '../../platform/context.ts'
import type { Side } from './sums.ts'

// `product_sum` has a row for each product, company and year: rows of months were most of what sums cost, and six times as many to be read by a report.

/** What documents of a month add to a product, or take from it (negative). */
export interface ProductMove {
  product: number
  company: number
  month: string
  side: Side
  documents: number
  /** Cents. */
  value: bigint
  /** Ten thousandths of its unit, as notes have them. */
  quantity: bigint
}

/** Where in `product_sum.cells` the sums of a month (1 to 12) stand. */
export const cellPlaces = (month: number) => ({ value: month * 3 - 2, quantity: month * 3 - 1, documents: month * 3 })

/** `product_sum` by month, as a table with the columns that a row of a month would have; `from ${productMonths} s`. */
export const productMonths = sql`(
  select r.workspace_id, r.product_id, r.company_id, r.side, r.year, make_date(r.year, m.month, 1) as month, r.cells[m.month * 3]::int as documents,
         r.cells[m.month * 3 - 2] as value, trim_scale(r.cells[m.month * 3 - 1] / 10000.0) as quantity
    from product_sum r cross join generate_series(1, 12) m (month) where r.cells[m.month * 3] <> 0)`

interface ProductYear {
  product: number
  company: number
  side: number
  year: number
  cells: Cells
}

// By month: value, quantity, documents.
type Cells = Map<number, [bigint, bigint, bigint]>

/** Adds to the sums of products. Whoever calls it holds the row of the workspace in `content_position`. */
export async function moveProducts(db: Database, workspaceId: number, moves: readonly ProductMove[]): Promise<void> {
  const rows = new Map<string, ProductYear>()
  for (const { product, company, side, month, value, quantity, documents } of moves) {
    const year = Number(month.slice(0, 4))
    const key = keyOf({ product, company, side, year })
    const row = rows.get(key) ?? { product, company, side, year, cells: new Map() }
    add(row.cells, Number(month.slice(5, 7)), [value, quantity, BigInt(documents)])
    rows.set(key, row)
  }
  const changed = [...rows.values()].filter(({ cells }) => cells.size > 0)
  if (changed.length === 0) return
  const keys = sql`unnest(${changed.map(({ side }) => side)}::smallint[], ${changed.map(({ year }) => year)}::smallint[],
    ${changed.map(({ product }) => product)}::int[], ${changed.map(({ company }) => company)}::int[]) q (side, year, product, company)`
  const { rows: known } = await sql<Omit<ProductYear, 'cells'> & { cells: string }>`
    select q.*, s.cells::text from ${keys}
     cross join lateral (select s.cells from product_sum s
                          where s.workspace_id = ${workspaceId} and s.side = q.side and s.year = q.year and s.product_id = q.product
                            and s.company_id = q.company offset 0) s`.execute(db)
  for (const { cells, ...one } of known)
    for (const [month, sums] of parse(cells)) add(rows.get(keyOf(one))!.cells, month, sums)
  const [kept, emptied] = [
    changed.filter(({ cells }) => cells.size > 0),
    changed.filter(({ cells }) => cells.size === 0),
  ]
  const columns = (of: readonly ProductYear[]) => [
    sql`${of.map(({ side }) => side)}::smallint[]`,
    sql`${of.map(({ year }) => year)}::smallint[]`,
    sql`${of.map(({ product }) => product)}::int[]`,
    sql`${of.map(({ company }) => company)}::int[]`,
  ]
  if (kept.length > 0)
    await sql`
      insert into product_sum (workspace_id, side, year, product_id, company_id, cells)
      select ${workspaceId}, u.side, u.year, u.product, u.company, u.cells::bigint[]
        from unnest(${sql.join(columns(kept))}, ${kept.map(({ cells }) => write(cells))}::text[]) u (side, year, product, company, cells)
      on conflict (workspace_id, side, year, product_id, company_id) do update set cells = excluded.cells`.execute(db)
  if (emptied.length > 0)
    await sql`
      delete from product_sum s using unnest(${sql.join(columns(emptied))}) u (side, year, product, company)
       where s.workspace_id = ${workspaceId} and s.side = u.side and s.year = u.year and s.product_id = u.product
         and s.company_id = u.company`.execute(db)
}

const keyOf = ({ product, company, side, year }: Omit<ProductYear, 'cells'>) => `${side} ${year} ${product} ${company}`

function add(cells: Cells, month: number, sums: readonly [bigint, bigint, bigint]): void {
  const [value, quantity, documents] = cells.get(month) ?? [0n, 0n, 0n]
  const moved: [bigint, bigint, bigint] = [value + sums[0], quantity + sums[1], documents + sums[2]]
  if (moved.every((sum) => sum === 0n)) cells.delete(month)
  else cells.set(month, moved)
}

// As the database writes an array that begins where its first month stands: `[31:33]={100,10000,1}`.
function parse(text: string): Cells {
  const [, first = '1', list = ''] = /^(?:\[(\d+):\d+\]=)?\{(.*)\}$/.exec(text) ?? []
  const numbers = list.split(',').map(BigInt)
  const begins = (Number(first) + 2) / 3
  const cells: Cells = new Map()
  for (let at = 0; at < numbers.length; at += 3)
    add(cells, begins + at / 3, [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!])
  return cells
}

function write(cells: Cells): string {
  const months = [...cells.keys()]
  const [first, last] = [Math.min(...months), Math.max(...months)]
  const all = Array.from({ length: last - first + 1 }, (_, index) => cells.get(first + index) ?? [0n, 0n, 0n])
  return `[${cellPlaces(first).value}:${cellPlaces(last).documents}]={${all.flat().join()}}`
}
