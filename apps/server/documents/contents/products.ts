import { sql } from 'kysely'
import type { Context, Database } from '../../platform/context.ts'
import { batchOrEach } from '../../platform/database.ts'
import { holdLock } from '../../platform/locks.ts'
import { bareTerm } from '../../platform/text.ts'
import { recordsOf } from '../store.ts'
import type { DocumentSums, Side } from './sums.ts'

// Products and their sums by month, which companies of a workspace share: one job of the workspace at a time adds what its documents add.

/** Amounts that a document added to `product_sum`, in cents and ten thousandths of the unit: `document_facts.added`. */
type Added = [companyId: number, month: string, side: Side, products: [id: number, value: number, quantity: number][]]

/** Adds the products of documents to the sums, and takes back exactly what they added before. */
export async function countProducts(
  { db, log }: Pick<Context, 'db' | 'log'>,
  workspaceId: number,
  ids: readonly bigint[],
): Promise<void> {
  await holdCompanies(db, workspaceId, ids)
  await batchOrEach(
    db,
    ids,
    (some) => countSome(db, workspaceId, some),
    (id, err) => log.error({ err, workspaceId, document: id }, 'products of a document cannot be counted'),
  )
}

async function countSome(db: Database, workspaceId: number, ids: readonly bigint[]): Promise<void> {
  const { rows } = await sql<{
    id: bigint
    companyId: number
    month: string
    side: Side
    counted: boolean
    sums: DocumentSums
    added: Added | null
  }>`
    select document_id as id, company_id as "companyId", month::text as month, side, counted, sums, added from document_facts
     where workspace_id = ${workspaceId} and document_id = any (${ids}::bigint[])`.execute(db)
  const products = await productIds(
    db,
    workspaceId,
    rows.map(({ sums }) => sums),
  )
  const written = rows.flatMap(({ id, companyId, month, side, counted, sums, added: before }) => {
    const mine = sums.products.map((product) => products.get(keyOf(sums.issuer, product))!)
    const added: Added | null =
      counted && mine.length > 0
        ? [companyId, month, side, sums.products.map(([, , , , , value, quantity], at) => [mine[at]!, value, quantity])]
        : null
    return { id, before, added, products: mine }
  })
  const changed = written.filter(({ before, added }) => JSON.stringify(before) !== JSON.stringify(added))
  await moveProducts(
    db,
    workspaceId,
    changed.flatMap(({ before, added }) => [
      ...(before ? movesOf(before, -1) : []),
      ...(added ? movesOf(added, 1) : []),
    ]),
  )
  await sql`
    update document_facts f set products = r.products, added = r.added
      from ${recordsOf(written, { id: 'bigint', products: 'int[]', added: 'jsonb' })}
     where f.workspace_id = ${workspaceId} and f.document_id = r.id
       and (f.products is distinct from r.products or f.added is distinct from r.added)`.execute(db)
}

// An arrival changes what its documents add: it holds the lock of their company.
async function holdCompanies(db: Database, workspaceId: number, ids: readonly bigint[]): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select distinct company_id as id from document_facts
     where workspace_id = ${workspaceId} and document_id = any (${ids}::bigint[]) order by 1`.execute(db)
  for (const { id } of rows) await holdLock({ db }, 'company', id)
}

/** A step of the sums of a product in a month, in cents and ten thousandths of its unit. */
export interface ProductMove {
  company: number
  month: string
  side: Side
  product: number
  documents: number
  value: number
  quantity: number
}

const movesOf = ([company, month, side, products]: Added, sign: 1 | -1): ProductMove[] =>
  products.map(([product, value, quantity]) => ({
    ...{ company, month, side, product, documents: sign },
    ...{ value: sign * value, quantity: sign * quantity },
  }))

export async function moveProducts(db: Database, workspaceId: number, moves: readonly ProductMove[]): Promise<void> {
  const sums = new Map<string, ProductMove>()
  for (const move of moves) {
    const key = [move.side, move.month, move.product, move.company].join(' ')
    const { documents, value, quantity } = sums.get(key) ?? { documents: 0, value: 0, quantity: 0 }
    sums.set(key, {
      ...move,
      documents: documents + move.documents,
      value: value + move.value,
      quantity: quantity + move.quantity,
    })
  }
  const rows = [...sums.values()].filter(
    ({ documents, value, quantity }) => documents !== 0 || value !== 0 || quantity !== 0,
  )
  if (rows.length === 0) return
  const types = {
    side: 'smallint',
    month: 'date',
    product: 'int',
    company: 'int',
    documents: 'int',
    value: 'bigint',
    quantity: 'bigint',
  }
  await sql`
    insert into product_sum as s (workspace_id, side, month, product_id, company_id, documents, value, quantity)
    select ${workspaceId}, r.* from ${recordsOf(rows, types)} order by side, month, product, company
    on conflict (workspace_id, side, month, product_id, company_id) do update
       set documents = s.documents + excluded.documents, value = s.value + excluded.value, quantity = s.quantity + excluded.quantity`.execute(
    db,
  )
  const fewer = rows.filter(({ documents }) => documents < 0)
  if (fewer.length > 0)
    await sql`
      delete from product_sum s using ${recordsOf(fewer, { side: 'smallint', month: 'date', product: 'int', company: 'int' })}
       where s.workspace_id = ${workspaceId} and s.side = r.side and s.month = r.month and s.product_id = r.product
         and s.company_id = r.company and s.documents = 0`.execute(db)
}

const keyOf = (issuer: string, [code, name, ncm, unit, gtin]: DocumentSums['products'][number]) =>
  JSON.stringify([issuer, code, name, ncm, unit, gtin])

const textTypes = { issuer: 'text', code: 'text', name: 'text', ncm: 'text', unit: 'text', gtin: 'text', bare: 'text' }

async function productIds(
  db: Database,
  workspaceId: number,
  all: readonly DocumentSums[],
): Promise<Map<string, number>> {
  const wanted = new Map(
    all.flatMap(({ issuer, products }) =>
      products.map((product) => {
        const [code, name, ncm, unit, gtin] = product
        return [keyOf(issuer, product), { issuer, code, name, ncm, unit, gtin, bare: bareTerm(code) }] as const
      }),
    ),
  )
  const ids = new Map<string, number>()
  const note = (rows: readonly { id: number; key: string[] }[]) => {
    for (const { id, key } of rows) ids.set(JSON.stringify(key), id)
  }
  const key = (table: string) =>
    sql`json_build_array(${sql.join(['issuer', 'code', 'name', 'ncm', 'unit', 'gtin'].map((name) => sql.ref(`${table}.${name}`)))})`
  const { rows: known } = await sql<{ id: number; key: string[] }>`
    select p.id, ${key('p')} as key from ${recordsOf([...wanted.values()], textTypes)}
     -- Each by its key: there are no statistics of what was written a moment ago.
     cross join lateral (select * from product p where p.workspace_id = ${workspaceId} and p.issuer = r.issuer
                            and p.hash = hashtext(r.code || '/' || r.name || '/' || r.ncm || '/' || r.unit || '/' || coalesce(r.gtin, '')) offset 0) p`.execute(
    db,
  )
  note(known)
  const added = [...wanted].flatMap(([key, product]) => (ids.has(key) ? [] : product))
  if (added.length === 0) return ids
  const { rows: inserted } = await sql<{ id: number; key: string[] }>`
    insert into product as p (workspace_id, issuer, code, name, ncm, unit, gtin, bare)
    select ${workspaceId}, r.* from ${recordsOf(added, textTypes)}
    returning p.id, ${key('p')} as key`.execute(db)
  note(inserted)
  return ids
}
