import type { KeptFacts } from '@vigia/checks/alerts/kept'
import { standingStatuses } from '@vigia/dfe/families/lookup'
import { sql } from 'kysely'
import type { Context, Database } from '../../platform/context.ts'
import { batchOrEach, executePrepared, jsonTime } from '../../platform/database.ts'
import { type Place, serviceCodes } from '../../platform/service.ts'
import { countedTerm } from '../list/counted.ts'
import type { Counted } from '../projection.ts'
import { putWords } from '../search/document-words.ts'
import { recordsOf } from '../store.ts'
import type { Inside } from './inside.ts'
import { type DocumentSums, type Side, sumNames } from './sums.ts'

// Contents of documents as rows, and the sums to which they add. Writers hold the lock of their company.

/** A document that is new or changed. */
interface Changed extends Counted {
  id: bigint
  /** Undefined: only its standing changed. */
  read: Inside | undefined
}

interface Before {
  id: bigint
  month: string
  side: Side | null
  situation: KeptFacts['situation']
  counted: boolean
  cancelledAt: string | null
  sums: DocumentSums
}

// Event that replaces a CT-e: only its replacement is paid.
export const replaced = 240140
/**
 * Writes what was read of documents, and what stands now of those that only changed. Sums are moved by exactly what each
 * document added before and adds now. The document is stored whatever the database refuses of what it says.
 */
export async function putFacts(
  { db, log }: Pick<Context, 'db' | 'log'>,
  place: Place,
  documents: readonly Changed[],
): Promise<void> {
  await batchOrEach(
    db,
    documents,
    (some) => putAll(db, place, some),
    ({ id }, err) => log.error({ err, ...place, document: id }, 'what is inside a document cannot be stored'),
  )
}

async function putAll(db: Database, place: Place, documents: readonly Changed[]): Promise<void> {
  const { workspaceId } = place
  const known = await readBefore(
    db,
    workspaceId,
    documents.flatMap(({ id, isNew }) => (isNew ? [] : id)),
  )
  const rows = documents.flatMap((one) => {
    const { read } = one
    const before = known.get(one.id)
    if (!read && !before) return []
    const month = `${one.issued_at.slice(0, 7)}-01`
    const side = read ? read.side : before!.side
    const counted = side !== null && standingStatuses.includes(one.status) && one.event_code !== replaced
    const situation = read ? read.facts.situation : before!.situation
    const cancelledAt = one.cancelledAt ?? (situation === 'cancelled' ? '-infinity' : null)
    const standing = situation === 'authorized' && cancelledAt === null
    const sums = read ? (read.contents?.sums ?? noSums) : before!.sums
    return [{ ...one, month, before, read, side, counted, cancelledAt, standing, sums }]
  })
  await moveSums(
    db,
    place,
    rows.flatMap(({ before, counted, month, side, sums }) => [
      ...(before?.counted ? [{ ...before, side: before.side!, sign: -1 }] : []),
      ...(counted ? [{ month, side: side!, sums, sign: 1 }] : []),
    ]),
  )
  const changed = rows.flatMap(({ id, read, counted, cancelledAt, standing, before }) =>
    read === undefined && (counted !== before!.counted || cancelledAt !== before!.cancelledAt)
      ? { id, counted, cancelled_at: cancelledAt, standing }
      : [],
  )
  await writeStandings(db, workspaceId, changed)
  const read = rows.flatMap(({ read, ...row }) => (read ? { ...row, read } : []))
  await writeFacts(
    db,
    workspaceId,
    read.map((row) => rowOf(place, row)),
  )
  await writeCites(db, workspaceId, read)
  await putWords(
    db,
    place,
    read.flatMap(({ id, issued_at, side, read: { contents } }) =>
      contents ? { id, issuedAt: issued_at, terms: [...contents.terms, ...countedTerms(contents.sums, side)] } : [],
    ),
  )
  await putInstallments(db, place, read)
}

async function readBefore(
  db: Database,
  workspaceId: number,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, Before>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<Before>`
    select f.document_id as id, f.month::text as month, f.side, f.facts ->> 'situation' as situation, f.counted, f.sums,
           case f.cancelled_at when '-infinity' then '-infinity' else ${jsonTime(sql`f.cancelled_at`)} end as "cancelledAt"
      from unnest(${ids}::bigint[]) q (id)
     -- Each by its key: without statistics, as in a new workspace, a join would go through all documents.
     cross join lateral (select * from document_facts f where f.workspace_id = ${workspaceId} and f.document_id = q.id offset 0) f`.execute(
    db,
  )
  return new Map(rows.map((row) => [row.id, row]))
}

const noSums: DocumentSums = { issuer: '', keys: [], products: [] }

const factTypes = {
  document_id: 'bigint',
  company_id: 'int',
  type: 'smallint',
  chave: 'text',
  side: 'smallint',
  purchase: 'boolean',
  standing: 'boolean',
  cancelled_at: 'timestamptz',
  counted: 'boolean',
  month: 'date',
  at: 'timestamptz',
  cents: 'bigint',
  company_base: 'text',
  issuer_base: 'text',
  purpose: 'smallint',
  contingency: 'text',
  lane: 'text',
  way: 'text',
  found: 'json',
  facts: 'jsonb',
  sums: 'json',
} as const
const factNames = Object.keys(factTypes).map((name) => sql.ref(name))

function rowOf(
  { companyId, service }: Place,
  { id, chave, month, side, counted, cancelledAt, standing, sums, read }: ReadRow,
) {
  const { purchase, at, cents, companyBase, issuerBase, purpose, contingency, lane, way, facts, contents } = read
  return {
    document_id: id,
    company_id: companyId,
    type: serviceCodes[service],
    ...{ chave, side, purchase, standing, counted, month, cents, purpose, contingency, lane, way, facts, sums },
    cancelled_at: cancelledAt,
    at: new Date(at).toISOString(),
    company_base: companyBase,
    issuer_base: issuerBase,
    found: contents && contents.findings.length > 0 ? contents.findings : null,
  }
}

type ReadRow = Omit<Changed, 'read'> & {
  read: Inside
  before: Before | undefined
  month: string
  side: Side | null
  counted: boolean
  standing: boolean
  sums: DocumentSums
}

async function writeFacts(
  db: Database,
  workspaceId: number,
  rows: readonly Record<keyof typeof factTypes, unknown>[],
): Promise<void> {
  if (rows.length === 0) return
  const statement = sql`
    insert into document_facts (workspace_id, ${sql.join(factNames)})
    select ${workspaceId}, r.* from ${recordsOf(rows, factTypes)}
    on conflict (workspace_id, document_id) do update
       set ${sql.join(factNames.map((name) => sql`${name} = excluded.${name}`))}`
  await executePrepared(db, statement)
}

interface Standing {
  id: bigint
  counted: boolean
  cancelled_at: string | null
  standing: boolean
}

async function writeStandings(db: Database, workspaceId: number, changed: readonly Standing[]): Promise<void> {
  if (changed.length === 0) return
  const types = { id: 'bigint', counted: 'boolean', cancelled_at: 'timestamptz', standing: 'boolean' }
  await sql`
    update document_facts f set counted = r.counted, cancelled_at = r.cancelled_at, standing = r.standing from ${recordsOf(changed, types)}
     where f.workspace_id = ${workspaceId} and f.document_id = r.id`.execute(db)
  await sql`
    update installment i set standing = r.counted from ${recordsOf(changed, types)}
     where i.workspace_id = ${workspaceId} and i.document_id = r.id`.execute(db)
}

async function writeCites(db: Database, workspaceId: number, read: readonly ReadRow[]): Promise<void> {
  const cites = read.flatMap(({ id, read }) => read.cites.map((chave) => ({ id, chave })))
  const again = read.flatMap(({ id, before }) => (before ? id : []))
  if (again.length > 0)
    await sql`
    delete from document_cite c where c.workspace_id = ${workspaceId} and c.document_id = any (${again}::bigint[])
       and not exists (select from ${recordsOf(cites, { id: 'bigint', chave: 'text' })} where r.id = c.document_id and r.chave = c.chave)`.execute(
      db,
    )
  if (cites.length === 0) return
  await sql`
    insert into document_cite (workspace_id, chave, document_id)
    select ${workspaceId}, r.chave, r.id from ${recordsOf(cites, { id: 'bigint', chave: 'text' })}
    on conflict do nothing`.execute(db)
}

const sumTypes = {
  ...{ month: 'date', side: 'smallint', kind: 'smallint', key: 'text', documents: 'int', amounts: 'bigint[]' },
}

interface SumMove {
  month: string
  side: Side
  sums: DocumentSums
  sign: number
}

async function moveSums(db: Database, { workspaceId, companyId }: Place, moves: readonly SumMove[]): Promise<void> {
  const moved = new Map<string, Record<keyof typeof sumTypes, unknown> & { documents: number; amounts: number[] }>()
  for (const { month, side, sums, sign } of moves)
    for (const [kind, key, ...amounts] of sums.keys) {
      const at = `${side} ${month} ${kind} ${key}`
      const before = moved.get(at)
      const sum = amounts.map((amount, place) => (before?.amounts[place] ?? 0) + sign * amount)
      moved.set(at, { month, side, kind, key, documents: (before?.documents ?? 0) + sign, amounts: sum })
    }
  // No order is needed: all rows are of one company, and its lock is held.
  const rows = [...moved.values()].filter(
    ({ documents, amounts }) => documents !== 0 || amounts.some((one) => one !== 0),
  )
  if (rows.length === 0) return
  const columns = sql.join(sumNames.map((name) => sql.ref(name)))
  const added = sql.join(sumNames.map((name) => sql`${sql.ref(name)} = s.${sql.ref(name)} + excluded.${sql.ref(name)}`))
  const amounts = sql.join(sumNames.map((_, place) => sql`r.amounts[${sql.lit(place + 1)}]`))
  const statement = sql`
    insert into content_sum as s (workspace_id, company_id, month, side, kind, documents, key, ${columns})
    select ${workspaceId}, ${companyId}, r.month, r.side, r.kind, r.documents, r.key, ${amounts} from ${recordsOf(rows, sumTypes)}
    on conflict (workspace_id, side, kind, month, company_id, key) do update
       set documents = s.documents + excluded.documents, ${added}`
  await executePrepared(db, statement)
  const fewer = rows.filter(({ documents }) => documents < 0)
  if (fewer.length === 0) return
  await sql`
    delete from content_sum s using ${recordsOf(fewer, { side: 'smallint', kind: 'smallint', month: 'date', key: 'text' })}
     where s.workspace_id = ${workspaceId} and s.side = r.side and s.kind = r.kind and s.month = r.month and s.company_id = ${companyId}
       and s.key = r.key and s.documents = 0`.execute(db)
}

// Terms by which the lists behind numbers of reports find a document.
function countedTerms({ keys }: DocumentSums, side: Side | null): string[] {
  return side === null ? [] : keys.flatMap(([kind, key]) => countedTerm(side, kind, key) ?? [])
}

// Parcels that a person marked as paid stay marked.
async function putInstallments(
  db: Database,
  { workspaceId, companyId }: Place,
  rows: readonly ReadRow[],
): Promise<void> {
  const dues = rows.flatMap(({ id, counted, read: { contents } }) =>
    (contents?.dues ?? []).map((due, index) => ({
      ...{ id, place: index + 1, issuer: contents!.sums.issuer, standing: counted },
      ...{ due_on: due.dueOn, amount: due.amount, number: due.number },
    })),
  )
  const again = rows.flatMap(({ id, isNew }) => (isNew ? [] : id))
  if (again.length > 0)
    await sql`
    delete from installment i where i.workspace_id = ${workspaceId} and i.document_id = any (${again}::bigint[])
       and not exists (select from ${recordsOf(dues, { id: 'bigint', place: 'smallint' })} where r.id = i.document_id and r.place = i.place)`.execute(
      db,
    )
  const types = {
    id: 'bigint',
    place: 'smallint',
    due_on: 'date',
    amount: 'bigint',
    number: 'text',
    issuer: 'text',
    standing: 'boolean',
  }
  if (dues.length > 0)
    await sql`
      insert into installment (workspace_id, company_id, document_id, place, due_on, amount, number, issuer, standing)
      select ${workspaceId}, ${companyId}, r.* from ${recordsOf(dues, types)}
      on conflict (workspace_id, document_id, place) do update
         set company_id = excluded.company_id, due_on = excluded.due_on, amount = excluded.amount, number = excluded.number, issuer = excluded.issuer,
             standing = excluded.standing`.execute(db)
}
