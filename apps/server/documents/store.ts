import { type RawBuilder, sql } from 'kysely'
import type { Context, WithDatabase } from '../platform/context.ts'
import { executePrepared } from '../platform/database.ts'
import { type Place, serviceCodes } from '../platform/service.ts'
import { type Arrival, isSameDocument, ownNsuOf } from './arrival.ts'
import {
  type Changes,
  copyTypes,
  type EventRow,
  type ExistingDocument,
  type ExistingEvent,
  type Move,
  type SupplierName,
  type Types,
} from './projection.ts'
import { keepCertificates } from './received/certificates.ts'
import { receivedContent } from './received/column.ts'
import type { DisplayedStanding, EventClaim } from './standing.ts'

// Reads and writes the tables of the projection; projection.ts decides. Other writers: rebuild.ts, derived.ts (columns
// of `document`), alerts (`supplier.suspect`).

/** Adds receipts. Returns the new arrivals as stored; another document at a known position is stored beside the first. */
export async function addReceipts(
  { db, log }: Pick<Context, 'db' | 'log'>,
  place: Place,
  arrivals: readonly Arrival[],
): Promise<readonly Arrival[]> {
  // All at once: two transactions that add certificates in several steps would wait for each other.
  const certificates = await keepCertificates(
    { db },
    place.workspaceId,
    arrivals.map(({ packed }) => packed?.certificate ?? null),
  )
  const kept = arrivals.map((arrival, index) => ({
    arrival,
    content: arrival.packed?.content ?? arrival.content,
    certificate: certificates[index]!,
  }))
  const added = await insertReceipts({ db }, place, kept)
  if (added.size === arrivals.length) return arrivals
  // The first of two for one position is the one that was added.
  const firsts = kept.filter(({ arrival }) => added.delete(arrival.nsu))
  const fresh = firsts.map(({ arrival }) => arrival)
  const others = await findOthers(
    { db, log },
    place,
    kept.filter((one) => !firsts.includes(one)),
  )
  const beside = await insertReceipts({ db }, place, others)
  return [...fresh, ...others.map(({ arrival }) => arrival).filter(({ nsu }) => beside.has(nsu))]
}

interface Kept {
  arrival: Arrival
  content: Buffer
  certificate: number | null
}

// Arrivals at a taken position with another document than the stored one, with a place of their own.
async function findOthers(
  { db, log }: Pick<Context, 'db' | 'log'>,
  { workspaceId, companyId, service }: Place,
  taken: readonly Kept[],
): Promise<Kept[]> {
  const { rows } = await sql<{ nsu: bigint; content: Buffer }>`
    select nsu, ${receivedContent(workspaceId, 'receipt')} as content from receipt
     where workspace_id = ${workspaceId} and company_id = ${companyId} and service = ${serviceCodes[service]}
       and nsu = any(${taken.map(({ arrival }) => arrival.nsu)}::bigint[])`.execute(db)
  const held = new Map(rows.map(({ nsu, content }) => [nsu, content]))
  return taken.flatMap((kept) => {
    const { nsu, content } = kept.arrival
    const same = isSameDocument(held.get(nsu)!, content)
    if (same === true) return []
    // A damaged copy cannot be compared.
    if (same === false)
      log.error({ workspaceId, companyId, service, nsu: String(nsu) }, 'the authority gave other bytes for a position')
    return { ...kept, arrival: { ...kept.arrival, nsu: ownNsuOf(content) } }
  })
}

async function insertReceipts(
  { db }: WithDatabase,
  { workspaceId, companyId, service }: Place,
  kept: readonly Kept[],
): Promise<Set<bigint>> {
  if (kept.length === 0) return new Set()
  const column = receiptColumns(kept.map(({ arrival }) => arrival))
  // One parameter of bytes travels as it is; bytes of an array would be written and read as hexadecimal text.
  const contents = kept.map(({ content }) => content)
  const sizes = contents.map(({ length }) => length)
  const statement = sql<{ nsu: bigint }>`
    insert into receipt (workspace_id, company_id, service, issuer_certificate_id, nsu, schema, problem, unread, chave, content, again_at)
    select ${workspaceId}, ${companyId}, ${serviceCodes[service]}, certificate, nsu, schema, problem, unread, chave,
           substr(${Buffer.concat(contents)}::bytea, start + 1, size), now() + again_ms * interval '1 ms'
      from unnest(${kept.map(({ certificate }) => certificate)}::int[],
                  ${column.nsu}::bigint[], ${column.schema}::text[], ${column.problem}::text[], ${column.unread}::boolean[],
                  ${column.chave}::text[], ${startsOf(sizes)}::int[], ${sizes}::int[], ${column.againMs}::float8[])
        r (certificate, nsu, schema, problem, unread, chave, start, size, again_ms)
    on conflict do nothing returning nsu`
  const rows = await executePrepared(db, statement)
  return new Set(rows.map(({ nsu }) => nsu))
}

function startsOf(sizes: readonly number[]): number[] {
  let end = 0
  return sizes.map((size) => {
    end += size
    return end - size
  })
}

export async function restateReceipts(
  { db }: WithDatabase,
  { workspaceId, companyId, service }: Place,
  arrivals: readonly Arrival[],
): Promise<void> {
  const column = receiptColumns(arrivals)
  await sql`select restate_receipts(${workspaceId}::int, ${companyId}::int, ${serviceCodes[service]}::smallint,
    ${column.nsu}::bigint[], ${column.problem}::text[], ${column.unread}::boolean[], ${column.chave}::text[], ${column.againMs}::float8[])`.execute(
    db,
  )
}

const receiptColumns = (arrivals: readonly Arrival[]) => ({
  nsu: arrivals.map(({ nsu }) => nsu),
  schema: arrivals.map(({ schema }) => schema.slice(0, 100)),
  problem: arrivals.map(({ problem }) => problem?.slice(0, 1000) ?? null),
  unread: arrivals.map(({ facts }) => facts === null),
  chave: arrivals.map(({ chave }) => chave),
  againMs: arrivals.map(({ againMs }) => againMs ?? null),
})

export async function loadExisting(
  { db }: WithDatabase,
  { workspaceId, companyId }: Place,
  chaves: readonly string[],
): Promise<{ documents: (ExistingDocument & { id: bigint })[]; events: ExistingEvent[] }> {
  const wanted = sql`workspace_id = ${workspaceId} and company_id = ${companyId} and chave = any(${chaves}::text[])`
  // One by one, and the company as an unindexed sum: without statistics the planner would read all documents of the company.
  const found = sql`unnest(${chaves}::text[]) w (wanted) cross join lateral (
    select * from document where workspace_id = ${workspaceId} and chave = wanted and company_id + 0 = ${companyId} offset 0) f`
  // Documents and events in one round trip; what JSON numbers do not hold exactly comes as text.
  const { rows } = await sql<{
    documents: (Stored<ExistingDocument> & { id: string })[]
    events: Stored<ExistingEvent>[]
  }>`
    select (select coalesce(json_agg(d), '[]')
              from (select id::text, chave, nsu::text, complete, proof, issued_at, authorized_at, amount::text, own_answers, ${list(standingNames)} from ${found}) d) as documents,
           (select coalesce(json_agg(e), '[]')
              from (select chave, undone, author, ${list(claimNames.filter((name) => name !== 'nsu'))}, nsu::text
                from document_event where ${wanted}) e) as events`.execute(db)
  const { documents, events } = rows[0]!
  return {
    documents: documents.map((document) => ({
      ...document,
      id: BigInt(document.id),
      nsu: BigInt(document.nsu),
      answer_due_at: document.answer_due_at && new Date(document.answer_due_at).toISOString(),
    })),
    events: events.map((event) => ({
      ...event,
      nsu: BigInt(event.nsu),
      registered_at: new Date(event.registered_at).toISOString(),
    })),
  }
}

/** Locks documents by id, as `setDerived` does, so that whoever writes some of them never waits for one who waits for others. */
export async function lockDocuments(
  { db }: WithDatabase,
  workspaceId: number,
  documents: readonly { id: bigint }[],
): Promise<void> {
  if (documents.length === 0) return
  await sql`
    select from document where workspace_id = ${workspaceId} and id = any (${documents.map(({ id }) => id)}::bigint[])
     order by id for no key update`.execute(db)
}

/** Finds which of the chaves a document of the company corrects or replaces. */
export async function findReplaced(
  { db }: WithDatabase,
  { workspaceId, companyId }: Place,
  chaves: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ chave: string }>`
    select distinct corrects as chave from document
     where workspace_id = ${workspaceId} and corrects = any (${chaves}::text[]) and company_id + 0 = ${companyId}`.execute(
    db,
  )
  return rows.map(({ chave }) => chave)
}

type Stored<Row> = Omit<Row, 'nsu'> & { nsu: string }

/** Writes `changes`, the counters included, in one statement. Returns the id of each document that it wrote, by chave. */
export async function writeChanges(
  { db }: WithDatabase,
  place: Place,
  changes: Changes,
): Promise<ReadonlyMap<string, bigint>> {
  const parts = [
    ...(changes.documents.length > 0
      ? [newSuppliers(place.workspaceId, changes.documents), putDocuments(place, changes.documents)]
      : []),
    ...(changes.standings.length > 0 ? [putStandings(place, changes.standings)] : []),
    ...(changes.events.length > 0 ? [putEvents(place, changes.events)] : []),
    ...(changes.undone.length > 0 ? [putUndone(place, changes.undone)] : []),
    ...(changes.moves.length > 0 ? [countMoves(place, changes.moves)] : []),
  ]
  if (parts.length === 0) return new Map()
  const written = [
    ...(changes.documents.length > 0 ? [sql`select id, chave from documents`] : []),
    ...(changes.standings.length > 0 ? [sql`select id, chave from standings`] : []),
  ]
  const statement = sql<{ id: bigint; chave: string }>`
    with ${sql.join(parts)} ${written.length > 0 ? sql.join(written, sql` union all `) : sql`select`}`
  const rows = await executePrepared(db, statement)
  return new Map(rows.map(({ id, chave }) => [chave, id]))
}

const supplierTypes: Types<SupplierName> = { tax_id: 'text', name: 'text', search: 'text' }
const standingTypes: Types<DisplayedStanding> = {
  roles: 'smallint',
  status: 'smallint',
  base_status: 'smallint',
  event_code: 'int',
  event_text: 'text',
  answer_due_at: 'timestamptz',
  answer_due: 'int',
}
const claimTypes: Types<EventClaim> = {
  tp_evento: 'int',
  sequence: 'smallint',
  orgao: 'smallint',
  rank: 'smallint',
  status: 'smallint',
  summary: 'boolean',
  stated: 'boolean',
  nsu: 'bigint',
  registered_at: 'timestamptz',
  protocol: 'text',
  undoes: 'int',
  undoes_protocol: 'text',
  roles: 'smallint',
  known: 'boolean',
  description: 'text',
}
const eventTypes: Types<EventRow> = {
  chave: 'text',
  ...claimTypes,
  happened_at: 'timestamptz',
  author: 'text',
  justification: 'text',
  undone: 'boolean',
  proof: 'text',
}
const namesOf = <Row>(types: Types<Row>) => Object.keys(types) as (keyof Row & string)[]
const standingNames = namesOf(standingTypes)
const claimNames = namesOf(claimTypes)
const documentNames = [...namesOf(copyTypes), ...standingNames]
const eventNames = namesOf(eventTypes)

/** The base of the CNPJ of a row; a CPF stays whole. */
export const taxBase = (alias: string) => {
  const taxId = sql.ref(`${alias}.tax_id`)
  return sql<string>`(case when length(${taxId}) = 14 then left(${taxId}, 8) else ${taxId} end)`
}

// Added in one order against deadlocks. Issuers of a suspect base are suspect. A name that another transaction adds just now comes back from the update.
function newSuppliers(workspaceId: number, rows: readonly SupplierName[]): RawBuilder<unknown> {
  return sql`new_suppliers as (
    insert into supplier (workspace_id, tax_id, name, search, suspect)
    select ${workspaceId}, n.tax_id, n.name, n.search, n.suspect from (
      select n.*, exists (select from supplier o where o.workspace_id = ${workspaceId} and o.suspect and ${taxBase('o')} = ${taxBase('n')}) as suspect
        from (select distinct on (tax_id, name) * from ${recordsOf(rows, supplierTypes)} order by tax_id, name) n
       where not exists (select 1 from supplier s where s.workspace_id = ${workspaceId} and s.tax_id = n.tax_id and s.name = n.name)
      offset 0) n
    on conflict (workspace_id, tax_id, name) do update set search = excluded.search
    returning id, tax_id, name)`
}

function putDocuments({ workspaceId, companyId, service }: Place, rows: Changes['documents']): RawBuilder<unknown> {
  const records = recordsOf(rows, { ...copyTypes, ...standingTypes, ...supplierTypes })
  return sql`documents as (
    insert into document (workspace_id, company_id, type, supplier_id, ${list(documentNames)})
    select ${workspaceId}, ${companyId}, ${serviceCodes[service]}, supplier, ${list(documentNames)} from (
      select coalesce(s.id, n.id) as supplier, ${list(documentNames, 'r')}
        from ${records}
        left join supplier s on s.workspace_id = ${workspaceId} and s.tax_id = r.tax_id and s.name = r.name
        left join new_suppliers n on n.tax_id = r.tax_id and n.name = r.name
      offset 0) r
    on conflict (workspace_id, chave, company_id) do update set ${replaced(['supplier_id', ...documentNames])}, judged_at = null
    returning id, chave)`
}

function putStandings({ workspaceId, companyId }: Place, rows: Changes['standings']): RawBuilder<unknown> {
  const set = sql.join(standingNames.map((name) => sql`${sql.ref(name)} = ${sql.ref(`r.${name}`)}`))
  return sql`standings as (
    update document d set ${set}, judged_at = null from ${recordsOf(rows, { chave: 'text', ...standingTypes })}
     where d.workspace_id = ${workspaceId} and d.company_id = ${companyId} and d.chave = r.chave
    returning d.id, d.chave)`
}

function putEvents({ workspaceId, companyId, service }: Place, rows: readonly EventRow[]): RawBuilder<unknown> {
  return sql`events as (
    insert into document_event (workspace_id, company_id, type, ${list(eventNames)})
    select ${workspaceId}, ${companyId}, ${serviceCodes[service]}, ${list(eventNames, 'r')} from ${recordsOf(rows, eventTypes)}
    on conflict (workspace_id, company_id, chave, tp_evento, sequence, orgao) do update set ${replaced(eventNames)})`
}

function putUndone({ workspaceId, companyId }: Place, rows: Changes['undone']): RawBuilder<unknown> {
  const types = { chave: 'text', tp_evento: 'int', sequence: 'smallint', orgao: 'smallint', undone: 'boolean' }
  return sql`undone as (
    update document_event e set undone = r.undone from ${recordsOf(rows, types)}
     where e.workspace_id = ${workspaceId} and e.company_id = ${companyId} and e.chave = r.chave
       and e.tp_evento = r.tp_evento and e.sequence = r.sequence and e.orgao = r.orgao)`
}

const moveTypes: Types<Move> = {
  issued_at: 'timestamp',
  roles: 'smallint',
  status: 'smallint',
  sign: 'int',
  amount: 'numeric(15, 2)',
}

function countMoves({ workspaceId, companyId, service }: Place, moves: readonly Move[]): RawBuilder<unknown> {
  return sql`months as (
    insert into count_month as c (workspace_id, type, month, company_id, roles, status, n, amount)
    select ${workspaceId}, ${serviceCodes[service]}, date_trunc('month', issued_at)::date, ${companyId}, roles, status, sum(sign)::int, sum(sign * amount)
      from ${recordsOf(moves, moveTypes)}
     group by 3, 5, 6 having sum(sign) <> 0 or sum(sign * amount) <> 0 order by 3, 5, 6
    on conflict (workspace_id, type, month, company_id, roles, status)
      do update set n = c.n + excluded.n, amount = c.amount + excluded.amount)`
}

/** Rows as a table `r` of a statement, in one parameter. */
export function recordsOf<Row extends object>(rows: readonly Row[], types: Partial<Types<Row>>): RawBuilder<unknown> {
  const names = namesOf(types as Types<Row>)
  const records = rows.map((row) => {
    const record: Partial<Record<keyof Row, unknown>> = {}
    for (const name of names) record[name] = typeof row[name] === 'bigint' ? String(row[name]) : row[name]
    return record
  })
  const columns = names.map((name) => sql`${sql.ref(name)} ${sql.raw(types[name]!)}`)
  return sql`json_to_recordset(${storable(JSON.stringify(records))}::json) as r (${sql.join(columns)})`
}

// JSON that PostgreSQL takes: it refuses NUL and half of a surrogate pair, which are escapes in it.
const storable = (json: string) => json.replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '$1\ufffd')

const list = (names: readonly string[], table?: string) =>
  sql.join(names.map((name) => sql.ref(table ? `${table}.${name}` : name)))
const replaced = (names: readonly string[]) =>
  sql.join(names.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`))
