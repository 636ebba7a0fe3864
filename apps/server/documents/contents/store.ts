import { sql } from 'kysely'
import type { Database } from '../../platform/context.ts'
import { bareTerm } from '../../platform/text.ts'
import { setDerived } from '../derived.ts'
import { countedTerm, sumKinds } from '../list/counted.ts'
import type { ProductTexts } from './packing.ts'
import { putPostings } from './postings.ts'
import type { ReadAnswer, ReadContents } from './reading.ts'
import { type DocumentSums, type Side, type Sums, sumNames } from './sums.ts'

// Contents of documents as rows. Writers hold the row of the workspace in `content_position`.

export interface KnownDocument {
  documentId: bigint
  companyId: number
  chave: string
  /** First day of the month of issue. */
  month: string
  side: Side | null
  /** The document received, and not cancelled, denied, disowned or not carried out. */
  standing: boolean
  received: boolean
  bill: { at: number; utcOffset: number; pays: boolean; receives: boolean; companyBase: string } | null
}

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
  /** As what it is found by its terms already; null: it is not. */
  indexed: { month: string; version: number } | null
  answer: ReadAnswer
}

export async function putContents(db: Database, workspaceId: number, all: readonly ReadDocument[]): Promise<void> {
  const kept = all.flatMap(({ document, answer }) => (document && answer.read ? [{ document, read: answer.read }] : []))
  const products = await productIds(db, workspaceId, kept)
  await moveSums(db, workspaceId, all, products)
  const gone = all.flatMap(({ documentId, document, answer }) => (document && answer.read ? [] : documentId))
  await sql`
    delete from content where workspace_id = ${workspaceId} and document_id = any (${gone}::bigint[])`.execute(db)
  const rows = kept.map(({ document, read }) => {
    const ids = read.products.map((texts) => products.get(keyOf(read.issuer, texts))!)
    return { document, read, ids }
  })
  await sql`
    insert into content (workspace_id, document_id, company_id, month, side, version, reform, findings, mod_frete, tp_nf, recipient, products, value)
    select ${workspaceId}, r.id, r.company, r.month, r.side, ${version}, r.reform, r.findings, r.mod_frete, r.tp_nf, r.recipient, r.products::int[], r.value
      from unnest(${rows.map(({ document }) => document.documentId)}::bigint[], ${rows.map(({ document }) => document.companyId)}::int[],
                  ${rows.map(({ document }) => document.month)}::date[], ${rows.map(({ read }) => read.side)}::smallint[],
                  ${rows.map(({ read }) => read.reform)}::smallint[], ${rows.map(({ read }) => read.findings)}::int[],
                  ${rows.map(({ read }) => digitOf(read.note?.modFrete))}::smallint[], ${rows.map(({ read }) => digitOf(read.note?.tpNF))}::smallint[],
                  ${rows.map(({ read }) => read.note?.recipient ?? null)}::text[], ${rows.map(({ ids }) => `{${ids.join()}}`)}::text[],
                  ${rows.map(({ read }) => Buffer.from(read.value))}::bytea[])
        as r (id, company, month, side, reform, findings, mod_frete, tp_nf, recipient, products, value)
    on conflict (workspace_id, document_id) do update
       set company_id = excluded.company_id, month = excluded.month, side = excluded.side, version = excluded.version, reform = excluded.reform,
           findings = excluded.findings, mod_frete = excluded.mod_frete,
           tp_nf = excluded.tp_nf, recipient = excluded.recipient,
           products = excluded.products, value = excluded.value`.execute(db)
  const said = [
    ...kept.map(({ document, read }) => ({ ...read, id: document.documentId, misfits: read.findings > missing })),
    ...gone.map((id) => ({ id, reform: null, misfits: false, ibs: null, cbs: null })),
  ]
  await setDerived({ db }, workspaceId, ['reform', 'misfits', 'ibs', 'cbs'], said)
  const isFound = ({ indexed, document, before, answer: { read, taken, added } }: ReadDocument) =>
    indexed?.version === version &&
    indexed.month === document?.month &&
    read?.sameTerms &&
    countedTerms(taken, before?.side ?? null).join() === countedTerms(added, read.side).join()
  await putPostings(db, workspaceId, {
    dropped: all.flatMap((one) => (one.indexed && !isFound(one) ? [one.documentId] : [])),
    added: all.flatMap((one) => {
      const { document, answer } = one
      return document && answer.read && !isFound(one)
        ? [
            {
              id: document.documentId,
              month: document.month,
              terms: [...answer.read.terms, ...countedTerms(answer.added, answer.read.side)],
            },
          ]
        : []
    }),
  })
  await putInstallments(db, workspaceId, all)
}

// The bit of the finding that the groups are missing, which `reform` says already.
const missing = 1

const digitOf = (text: string | undefined) => (/^\d$/.test(text ?? '') ? Number(text) : null)

// Lists are filtered by the sums that a document counts in, too.
function countedTerms({ byKey }: DocumentSums, side: Side | null): string[] {
  return side === null ? [] : byKey.flatMap(({ kind, key }) => countedTerm(side, sumKinds[kind], key) ?? [])
}

/** Version of packing, counting and indexing. */
const version = 2
/** Documents of earlier versions are in no segment. */
export const firstIndexed = 2

interface Kept {
  document: KnownDocument
  read: ReadContents
}

const keyOf = (issuer: string, { code, name, ncm, unit, gtin }: ProductTexts) =>
  JSON.stringify([issuer, code, name, ncm, unit, gtin])

async function productIds(db: Database, workspaceId: number, kept: readonly Kept[]): Promise<Map<string, number>> {
  const products = new Map(
    kept.flatMap(({ read: { issuer, products } }) =>
      products.map((texts) => [keyOf(issuer, texts), { issuer, bare: bareTerm(texts.code), ...texts }] as const),
    ),
  )
  const all = [...products.values()]
  const ids = await read<ProductTexts & { issuer: string; id: number }>(
    db,
    // Each by its key: there are no statistics of what was written a moment ago.
    sql`select p.id, p.issuer, p.code, p.name, p.ncm, p.unit, p.gtin
          from unnest(${all.map(({ issuer }) => issuer)}::text[], ${all.map(({ code }) => code)}::text[], ${all.map(({ name }) => name)}::text[],
                      ${all.map(({ ncm }) => ncm)}::text[], ${all.map(({ unit }) => unit)}::text[], ${all.map(({ gtin }) => gtin)}::text[])
               q (issuer, code, name, ncm, unit, gtin)
         cross join lateral (select * from product p where p.workspace_id = ${workspaceId} and p.issuer = q.issuer
                                and p.hash = hashtext(q.code || '/' || q.name || '/' || q.ncm || '/' || q.unit || '/' || coalesce(q.gtin, '')) offset 0) p`,
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

async function read<Row>(db: Database, query: ReturnType<typeof sql>): Promise<Row[]> {
  const { rows } = await query.execute(db)
  return rows as Row[]
}

interface Place {
  company: number
  month: string
  side: Side
}

/** Change of the monthly sums of a product: cents, and ten thousandths of its unit; negative to subtract a document. */
export interface ProductMove extends Place {
  product: number
  documents: number
  value: bigint
  quantity: bigint
}

async function moveSums(
  db: Database,
  workspaceId: number,
  all: readonly ReadDocument[],
  ids: ReadonlyMap<string, number>,
): Promise<void> {
  const keyed = new Map<string, Place & { kind: number; key: string; documents: number; sums: Sums }>()
  const counted = new Map<string, ProductMove>()
  const move = (sign: 1 | -1, place: Place, added: DocumentSums, idOf: (place: number) => number) => {
    const where = `${place.side} ${place.month} ${place.company}`
    for (const { kind, key, sums } of added.byKey) {
      const at = `${where} ${kind} ${key}`
      const moved = keyed.get(at) ?? { ...place, kind: sumKinds[kind], key, documents: 0, sums: noSums() }
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
      moved.quantity += BigInt(sign) * quantity
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
        (at) => ids.get(keyOf(now.issuer, now.products[at]!))!,
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
      on conflict (workspace_id, side, kind, month, company_id, key) do update
         set documents = s.documents + excluded.documents, ${added}`.execute(db)
    if (sums.some(({ documents }) => documents < 0))
      await sql`
        delete from content_sum s using unnest(${sums.map(({ side }) => side)}::smallint[], ${sums.map(({ kind }) => kind)}::smallint[],
            ${sums.map(({ month }) => month)}::date[], ${sums.map(({ company }) => company)}::int[], ${sums.map(({ key }) => key)}::text[])
            u (side, kind, month, company, key)
         where s.workspace_id = ${workspaceId} and s.side = u.side and s.kind = u.kind and s.month = u.month and s.company_id = u.company
           and s.key = u.key and s.documents = 0`.execute(db)
  }
  await moveProducts(db, workspaceId, [...counted.values()])
}

export async function moveProducts(db: Database, workspaceId: number, moves: readonly ProductMove[]): Promise<void> {
  const products = moves.filter(({ documents, value, quantity }) => documents !== 0 || value !== 0n || quantity !== 0n)
  if (products.length === 0) return
  const keys = sql`${products.map(({ side }) => side)}::smallint[], ${products.map(({ month }) => month)}::date[],
    ${products.map(({ product }) => product)}::int[], ${products.map(({ company }) => company)}::int[]`
  await sql`
    insert into product_sum as s (workspace_id, side, month, product_id, company_id, documents, value, quantity)
    select ${workspaceId}, u.* from unnest(${keys}, ${products.map(({ documents }) => documents)}::int[],
      ${products.map(({ value }) => value)}::bigint[], ${products.map(({ quantity }) => quantity)}::bigint[]) u
    on conflict (workspace_id, side, month, product_id, company_id) do update
       set documents = s.documents + excluded.documents, value = s.value + excluded.value, quantity = s.quantity + excluded.quantity`.execute(
    db,
  )
  if (products.some(({ documents }) => documents < 0))
    await sql`
      delete from product_sum s using unnest(${keys}) u (side, month, product, company)
       where s.workspace_id = ${workspaceId} and s.side = u.side and s.month = u.month and s.product_id = u.product
         and s.company_id = u.company and s.documents = 0`.execute(db)
}

const noSums = () => Object.fromEntries(sumNames.map((name) => [name, 0n])) as Sums

// Parcels that a person marked as paid stay marked.
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
