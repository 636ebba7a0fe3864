import { sql } from 'kysely'
import { monthTerm } from '../documents/documents.ts'
import type { Database } from '../platform/context.ts'
import { bareTerm } from '../platform/text.ts'
import type { ProductTexts } from './packing.ts'
import type { ReadAnswer, ReadContents } from './reading.ts'
import { type DocumentSums, type Side, type Sums, sumNames } from './sums.ts'

// What is inside documents, as rows. Whoever writes here holds the row of the workspace in `content_position`.

/** What the tables say of a document before it is read. */
export interface KnownDocument {
  documentId: bigint
  companyId: number
  /** Of its issue: its first day. */
  month: string
  side: Side | null
  /** The document received, and not cancelled, denied, disowned or not carried out. */
  standing: boolean
  received: boolean
}

/** As what a document was counted before, with the places of its products. */
export interface CountedBefore {
  companyId: number
  month: string
  side: Side
  products: number[]
}

/** A document that was read; `document` null: it is here no more. */
export interface ReadDocument {
  documentId: bigint
  document: KnownDocument | null
  before: CountedBefore | null
  answer: ReadAnswer
}

/** Stores what was read of documents, with all that is found and summed by. */
export async function putContents(db: Database, workspaceId: number, all: readonly ReadDocument[]): Promise<void> {
  const kept = all.flatMap(({ document, answer }) => (document && answer.read ? [{ document, read: answer.read }] : []))
  const products = await productIds(db, workspaceId, kept)
  const terms = await termIds(db, workspaceId, kept)
  await moveSums(db, workspaceId, all, products)
  const gone = all.flatMap(({ documentId, document, answer }) => (document && answer.read ? [] : documentId))
  for (const table of ['content', 'content_index'])
    await sql`delete from ${sql.table(table)} where workspace_id = ${workspaceId} and document_id = any (${gone}::bigint[])`.execute(
      db,
    )
  const rows = kept.map(({ document, read }) => {
    const ids = read.products.map((texts) => products.get(keyOf(read.issuer, texts))!)
    return { document, read, ids, keys: [...ids, ...termsOf(document, read).map((text) => terms.get(text)!)] }
  })
  await sql`
    insert into content (workspace_id, document_id, company_id, month, side, version, reform, findings, ibs, cbs, products, value)
    select ${workspaceId}, r.id, r.company, r.month, r.side, ${version}, r.reform, r.findings, r.ibs, r.cbs, r.products::int[], r.value
      from unnest(${rows.map(({ document }) => document.documentId)}::bigint[], ${rows.map(({ document }) => document.companyId)}::int[],
                  ${rows.map(({ document }) => document.month)}::date[], ${rows.map(({ read }) => read.side)}::smallint[],
                  ${rows.map(({ read }) => read.reform)}::smallint[], ${rows.map(({ read }) => read.findings)}::int[],
                  ${rows.map(({ read }) => read.ibs)}::bigint[], ${rows.map(({ read }) => read.cbs)}::bigint[],
                  ${rows.map(({ ids }) => `{${ids.join()}}`)}::text[],
                  ${rows.map(({ read }) => Buffer.from(read.value))}::bytea[])
        as r (id, company, month, side, reform, findings, ibs, cbs, products, value)
    on conflict (workspace_id, document_id) do update
       set company_id = excluded.company_id, month = excluded.month, side = excluded.side, version = excluded.version, reform = excluded.reform,
           findings = excluded.findings, ibs = excluded.ibs, cbs = excluded.cbs, products = excluded.products, value = excluded.value`.execute(
    db,
  )
  await sql`
    insert into content_index (workspace_id, document_id, terms)
    select ${workspaceId}, r.id, r.terms::int[]
      from unnest(${rows.map(({ document }) => document.documentId)}::bigint[], ${rows.map(({ keys }) => `{${keys.join()}}`)}::text[]) as r (id, terms)
    on conflict (workspace_id, document_id) do update set terms = excluded.terms`.execute(db)
  await putInstallments(db, workspaceId, all)
}

/** Of how documents are packed and counted: a migration that changes it empties these tables, and all are read again. */
const version = 1

interface Kept {
  document: KnownDocument
  read: ReadContents
}

const termsOf = ({ month }: KnownDocument, { terms }: ReadContents) => [monthTerm(month), ...terms]

// What tells one product from another.
const keyOf = (issuer: string, { code, name, ncm, unit, gtin }: ProductTexts) =>
  JSON.stringify([issuer, code, name, ncm, unit, gtin])

async function productIds(db: Database, workspaceId: number, kept: readonly Kept[]): Promise<Map<string, number>> {
  const products = new Map(
    kept.flatMap(({ read: { issuer, products } }) =>
      products.map((texts) => [keyOf(issuer, texts), { issuer, bare: bareTerm(texts.code), ...texts }] as const),
    ),
  )
  const codes = [...new Map([...products.values()].map((one) => [`${one.issuer} ${one.bare}`, one])).values()]
  const ids = await read<ProductTexts & { issuer: string; id: number }>(
    db,
    // Each by its key: there are no statistics of what was written a moment ago.
    sql`select p.id, p.issuer, p.code, p.name, p.ncm, p.unit, p.gtin
          from unnest(${codes.map(({ issuer }) => issuer)}::text[], ${codes.map(({ bare }) => bare)}::text[]) q (issuer, bare)
         cross join lateral (select * from product p where p.workspace_id = ${workspaceId} and p.issuer = q.issuer and p.bare = q.bare offset 0) p`,
  )
  const known = new Map(ids.map(({ id, issuer, ...texts }) => [keyOf(issuer, texts), id]))
  const added = [...products].filter(([key]) => !known.has(key)).map(([, product]) => product)
  if (added.length === 0) return known
  const of = <T>(pick: (product: (typeof added)[number]) => T) => added.map(pick)
  const inserted = await read<ProductTexts & { issuer: string; id: number }>(
    db,
    sql`insert into product (workspace_id, issuer, code, name, ncm, unit, gtin, bare)
        select ${workspaceId}, u.* from unnest(${of(({ issuer }) => issuer)}::text[], ${of(({ code }) => code)}::text[], ${of(({ name }) => name)}::text[],
          ${of(({ ncm }) => ncm)}::text[], ${of(({ unit }) => unit)}::text[], ${of(({ gtin }) => gtin)}::text[], ${of(({ bare }) => bare)}::text[]) u
        returning id, issuer, code, name, ncm, unit, gtin`,
  )
  for (const { id, issuer, ...texts } of inserted) known.set(keyOf(issuer, texts), id)
  return known
}

async function termIds(db: Database, workspaceId: number, kept: readonly Kept[]): Promise<Map<string, number>> {
  const terms = [...new Set(kept.flatMap(({ document, read }) => termsOf(document, read)))]
  const rows = await read<{ text: string; id: number }>(
    db,
    sql`select t.text, t.id from unnest(${terms}::text[]) q (text)
         cross join lateral (select * from content_term t where t.workspace_id = ${workspaceId} and t.text = q.text offset 0) t`,
  )
  const known = new Map(rows.map(({ text, id }) => [text, id]))
  const added = terms.filter((text) => !known.has(text))
  if (added.length === 0) return known
  const inserted = await read<{ text: string; id: number }>(
    db,
    sql`insert into content_term (workspace_id, text) select ${workspaceId}, u.text from unnest(${added}::text[]) u (text) returning text, id`,
  )
  for (const { text, id } of inserted) known.set(text, id)
  return known
}

async function read<Row>(db: Database, query: ReturnType<typeof sql>): Promise<Row[]> {
  const { rows } = await query.execute(db)
  return rows as Row[]
}

interface Place {
  company: number
  month: string
  side: Side
}

async function moveSums(
  db: Database,
  workspaceId: number,
  all: readonly ReadDocument[],
  products: ReadonlyMap<string, number>,
): Promise<void> {
  const keyed = new Map<string, Place & { kind: number; key: string; documents: number; sums: Sums }>()
  const counted = new Map<string, Place & { product: number; documents: number; value: bigint; quantity: bigint }>()
  const move = (sign: 1 | -1, place: Place, added: DocumentSums, idOf: (place: number) => number) => {
    const where = `${place.side} ${place.month} ${place.company}`
    for (const { kind, key, sums } of added.byKey) {
      const at = `${where} ${kind} ${key}`
      const moved = keyed.get(at) ?? { ...place, kind, key, documents: 0, sums: noSums() }
      moved.documents += sign
      for (const name of sumNames) moved.sums[name] += BigInt(sign) * sums[name]
      keyed.set(at, moved)
    }
    for (const { place: position, value, quantity } of added.byProduct) {
      const product = idOf(position)
      const at = `${where} ${product}`
      const moved = counted.get(at) ?? { ...place, product, documents: 0, value: 0n, quantity: 0n }
      moved.documents += sign
      moved.value += BigInt(sign) * value
      moved.quantity += BigInt(sign) * BigInt(quantity.replace('.', ''))
      counted.set(at, moved)
    }
  }
  for (const { document, before, answer } of all) {
    if (before)
      move(
        -1,
        { company: before.companyId, month: before.month, side: before.side },
        answer.taken,
        (at) => before.products[at]!,
      )
    const now = answer.read
    if (document && now && now.side !== null)
      move(
        1,
        { company: document.companyId, month: document.month, side: now.side },
        answer.added,
        (at) => products.get(keyOf(now.issuer, now.products[at]!))!,
      )
  }
  const sums = [...keyed.values()].filter(
    ({ documents, sums }) => documents !== 0 || sumNames.some((name) => sums[name] !== 0n),
  )
  const columns = sql.join(sumNames.map((name) => sql.ref(name)))
  const added = sql.join(sumNames.map((name) => sql`${sql.ref(name)} = s.${sql.ref(name)} + excluded.${sql.ref(name)}`))
  if (sums.length > 0) {
    await sql`
      insert into content_sum as s (workspace_id, company_id, month, side, kind, documents, key, ${columns})
      select ${workspaceId}, u.* from unnest(${sums.map(({ company }) => company)}::int[], ${sums.map(({ month }) => month)}::date[],
        ${sums.map(({ side }) => side)}::smallint[], ${sums.map(({ kind }) => kind)}::smallint[], ${sums.map(({ documents }) => documents)}::int[],
        ${sums.map(({ key }) => key)}::text[], ${sql.join(sumNames.map((name) => sql`${sums.map(({ sums }) => sums[name])}::bigint[]`))}) u
      on conflict (workspace_id, side, kind, month, company_id, key) do update set documents = s.documents + excluded.documents, ${added}`.execute(
      db,
    )
    if (sums.some(({ documents }) => documents < 0))
      await sql`
        delete from content_sum s using unnest(${sums.map(({ side }) => side)}::smallint[], ${sums.map(({ kind }) => kind)}::smallint[],
            ${sums.map(({ month }) => month)}::date[], ${sums.map(({ company }) => company)}::int[], ${sums.map(({ key }) => key)}::text[])
            u (side, kind, month, company, key)
         where s.workspace_id = ${workspaceId} and s.side = u.side and s.kind = u.kind and s.month = u.month and s.company_id = u.company
           and s.key = u.key and s.documents = 0`.execute(db)
  }
  const moved = [...counted.values()].filter(
    ({ documents, value, quantity }) => documents !== 0 || value !== 0n || quantity !== 0n,
  )
  if (moved.length === 0) return
  await sql`
    insert into product_sum as s (workspace_id, product_id, company_id, month, side, documents, value, quantity)
    select ${workspaceId}, u.product, u.company, u.month, u.side, u.documents, u.value, trim_scale(u.quantity / 10000000000)
      from unnest(${moved.map(({ product }) => product)}::int[], ${moved.map(({ company }) => company)}::int[], ${moved.map(({ month }) => month)}::date[],
        ${moved.map(({ side }) => side)}::smallint[], ${moved.map(({ documents }) => documents)}::int[], ${moved.map(({ value }) => value)}::bigint[],
        ${moved.map(({ quantity }) => quantity)}::numeric[]) u (product, company, month, side, documents, value, quantity)
    on conflict (workspace_id, product_id, side, month, company_id) do update
       set documents = s.documents + excluded.documents, value = s.value + excluded.value, quantity = trim_scale(s.quantity + excluded.quantity)`.execute(
    db,
  )
  if (moved.some(({ documents }) => documents < 0))
    await sql`
      delete from product_sum s using unnest(${moved.map(({ product }) => product)}::int[], ${moved.map(({ company }) => company)}::int[],
          ${moved.map(({ month }) => month)}::date[], ${moved.map(({ side }) => side)}::smallint[]) u (product, company, month, side)
       where s.workspace_id = ${workspaceId} and s.product_id = u.product and s.company_id = u.company and s.month = u.month and s.side = u.side
         and s.documents = 0`.execute(db)
}

const noSums = () => Object.fromEntries(sumNames.map((name) => [name, 0n])) as Sums

// What a person marked as paid stays marked.
async function putInstallments(db: Database, workspaceId: number, all: readonly ReadDocument[]): Promise<void> {
  const dues = all.flatMap(({ document, answer }) =>
    document?.received && answer.read
      ? answer.read.dues.map((due, index) => ({ ...due, document, place: index + 1, issuer: answer.read!.issuer }))
      : [],
  )
  await sql`
    delete from installment i where i.workspace_id = ${workspaceId} and i.document_id = any (${all.map(({ documentId }) => documentId)}::bigint[])
       and not exists (select from unnest(${dues.map(({ document }) => document.documentId)}::bigint[], ${dues.map(({ place }) => place)}::smallint[]) u (id, place)
                        where u.id = i.document_id and u.place = i.place)`.execute(db)
  if (dues.length === 0) return
  await sql`
    insert into installment (workspace_id, document_id, place, company_id, due_on, amount, number, issuer, standing)
    select ${workspaceId}, u.* from unnest(${dues.map(({ document }) => document.documentId)}::bigint[], ${dues.map(({ place }) => place)}::smallint[],
      ${dues.map(({ document }) => document.companyId)}::int[], ${dues.map(({ dueOn }) => dueOn)}::date[], ${dues.map(({ amount }) => amount)}::bigint[],
      ${dues.map(({ number }) => number)}::text[], ${dues.map(({ issuer }) => issuer)}::text[], ${dues.map(({ document }) => document.standing)}::boolean[]) u
    on conflict (workspace_id, document_id, place) do update
       set company_id = excluded.company_id, due_on = excluded.due_on, amount = excluded.amount, number = excluded.number, issuer = excluded.issuer,
           standing = excluded.standing`.execute(db)
}
