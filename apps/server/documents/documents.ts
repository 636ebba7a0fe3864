import { type DocumentFacts, type EventFacts, readReceived } from '@vigia/dfe/read'
import { unzipDocument } from '@vigia/sefaz/distribution'
import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { ingestArguments, obstacleOf } from './projection.ts'

/** A docZip with what was read in it; made once, whoever receives it. */
export interface Arrival {
  nsu: bigint
  schema: string
  /** The gzip stream as received. */
  content: Buffer
  /** Sentence for people: why it could not be read, or what is odd in it. */
  problem: string | null
  facts: DocumentFacts | EventFacts | null
}

/** Reads a docZip. Whatever it holds comes back as an arrival to store; nothing throws. */
export function readArrival(nsu: bigint, schema: string, content: Buffer): Arrival {
  let xml: Buffer
  try {
    xml = unzipDocument(content)
  } catch {
    return {
      nsu,
      schema,
      content,
      problem: 'O arquivo chegou corrompido da SEFAZ (não é possível descompactá-lo).',
      facts: null,
    }
  }
  const { facts, problems } = readReceived(xml, schema)
  if (facts.kind === 'unknown') return { nsu, schema, content, problem: facts.reason, facts: null }
  const obstacle = obstacleOf(facts)
  return {
    nsu,
    schema,
    content,
    problem: [obstacle, ...problems.map((problem) => problem.message)].filter(Boolean).join(' ') || null,
    facts: obstacle ? null : facts,
  }
}

export interface Recipient {
  workspaceId: number
  companyId: number
  cnpj: string
}

export interface Received {
  /** NSUs that were not here before. */
  received: number
  inserted: number
  /** Summaries that got their complete document. */
  completed: number
}

const services = { nfe: 0, cte: 2 } as const

/**
 * Stores arrivals for one company, bytes and projection together; `ctx.db` is a transaction inside its workspace.
 * What was received before changes nothing. A document that the projection cannot take is kept as bytes with the problem said.
 */
export async function receive(
  { db, log }: Pick<Context, 'db' | 'log'>,
  to: Recipient,
  service: 'nfe' | 'cte',
  arrivals: Arrival[],
): Promise<Received> {
  const fitting = arrivals.map((arrival) =>
    arrival.facts && arrival.facts.type !== service
      ? { ...arrival, facts: null, problem: 'O documento chegou por um serviço que não é o dele.' }
      : arrival,
  )
  try {
    return await guarded(db, () => ingest(db, to, service, fitting))
  } catch (error) {
    if (!isDataError(error)) throw error
    log.error(
      { err: error, ...to, nsu: fitting.map((arrival) => String(arrival.nsu)) },
      'a page could not be projected as a whole',
    )
  }
  const total: Received = { received: 0, inserted: 0, completed: 0 }
  for (const arrival of fitting) {
    let one: Received
    try {
      one = await guarded(db, () => ingest(db, to, service, [arrival]))
    } catch (error) {
      if (!isDataError(error)) throw error
      log.error({ err: error, ...to, nsu: String(arrival.nsu) }, 'a document is kept as bytes only')
      one = await ingest(db, to, service, [
        { ...arrival, facts: null, problem: 'O documento foi guardado, mas não conseguimos lê-lo por inteiro.' },
      ])
    }
    total.received += one.received
    total.inserted += one.inserted
    total.completed += one.completed
  }
  return total
}

// A failed statement would abort the transaction around it; a savepoint keeps the rest of the page alive.
async function guarded<T>(db: Context['db'], work: () => Promise<T>): Promise<T> {
  await sql`savepoint receive`.execute(db)
  try {
    const result = await work()
    await sql`release savepoint receive`.execute(db)
    return result
  } catch (error) {
    await sql`rollback to savepoint receive`.execute(db)
    throw error
  }
}

// SQLSTATE classes 22 (data exception), 23 (integrity) and 54 (limits): the document's fault, not the database's.
function isDataError(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' && /^(22|23|54)/.test(code)
}

async function ingest(
  db: Context['db'],
  to: Recipient,
  service: 'nfe' | 'cte',
  arrivals: Arrival[],
): Promise<Received> {
  const { receipts: r, documents: d, events: e } = ingestArguments(arrivals, to.cnpj)
  const { rows } = await sql<Received>`select * from ingest(
    ${to.workspaceId}::int, ${to.companyId}::int, ${services[service]}::smallint,
    ${r[0]}::bigint[], ${r[1]}::text[], ${r[2]}::text[], ${r[3]}::bytea[],
    ${d[0]}::bigint[], ${d[1]}::text[], ${d[2]}::int[], ${d[3]}::smallint[], ${d[4]}::timestamp[], ${d[5]}::smallint[],
    ${d[6]}::numeric[], ${d[7]}::smallint[], ${d[8]}::smallint[], ${d[9]}::boolean[], ${d[10]}::text[], ${d[11]}::text[], ${d[12]}::text[],
    ${e[0]}::bigint[], ${e[1]}::text[], ${e[2]}::int[], ${e[3]}::smallint[], ${e[4]}::smallint[], ${e[5]}::smallint[], ${e[6]}::smallint[],
    ${e[7]}::boolean[], ${e[8]}::timestamptz[], ${e[9]}::timestamptz[], ${e[10]}::text[], ${e[11]}::text[],
    ${e[12]}::text[], ${e[13]}::text[], ${e[14]}::boolean[], ${e[15]}::smallint[])`.execute(db)
  return rows[0]!
}

/** Up to `limit` receipts of a company after an NSU, oldest first, as they are stored; `ctx.db` is inside its workspace. */
export async function listReceipts(
  { db }: Pick<Context, 'db'>,
  from: Omit<Recipient, 'cnpj'>,
  service: 'nfe' | 'cte',
  afterNsu: bigint,
  limit: number,
) {
  return db
    .selectFrom('receipt')
    .select(['nsu', 'schema', 'content'])
    .where('workspace_id', '=', from.workspaceId)
    .where('company_id', '=', from.companyId)
    .where('service', '=', services[service])
    .where('nsu', '>', afterNsu)
    .orderBy('nsu')
    .limit(limit)
    .execute()
}
