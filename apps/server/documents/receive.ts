import { familyById, parseKey } from '@vigia/dfe/families/lookup'
import { readDetails } from '@vigia/dfe/read'
import { sql } from 'kysely'
import type { Context, WithDatabase } from '../platform/context.ts'
import { beforeCommit, guarded, isDataError, keepPlans } from '../platform/database.ts'
import { queueJob } from '../platform/jobs/jobs.ts'
import { holdLock } from '../platform/locks.ts'
import { type Service, serviceCodes } from '../platform/service.ts'
import type { Arrival } from './arrival.ts'
import { noteChanges } from './changes.ts'
import { putFacts } from './contents/facts.ts'
import { type Inside, insideOf } from './contents/inside.ts'
import { type EventRow, project, type Replaced, rowsOf } from './projection.ts'
import { openReceived } from './received/bytes.ts'
import { receivedContent } from './received/column.ts'
import { addReceipts, findReplaced, loadExisting, lockDocuments, restateReceipts, writeChanges } from './store.ts'
import { noteAltered } from './workflow/remarks.ts'

export interface Recipient {
  workspaceId: number
  companyId: number
  cnpj: string
}

export interface ReceiveResult {
  /** NSUs that were not here before. */
  received: number
  inserted: number
  /** Summaries that got their complete document. */
  completed: number
  /** Some have no position of their own, and are stored below 0. */
  below0: boolean
}

/** `late`: they were stored before they could be read; `again`: they are read anew after `forget`. */
type Reading = 'new' | 'late' | 'again'

/** Stores arrivals for one company, bytes and projection together, in the transaction of `ctx`. */
export async function receive(
  { db, log }: Pick<Context, 'db' | 'log'>,
  to: Recipient,
  service: Service,
  arrivals: Arrival[],
  reading: Reading = 'new',
): Promise<ReceiveResult> {
  const fitting = arrivals.map((arrival) =>
    arrival.facts && (arrival.facts.type !== service || parseKey(arrival.facts.chave)?.family !== service)
      ? { ...arrival, facts: null, problem: 'O documento chegou por um serviço que não é o dele.' }
      : arrival,
  )
  for (const { nsu, schema, problem, facts } of fitting) {
    if (!facts)
      log.warn({ ...to, service, nsu: String(nsu), schema, problem }, 'a document is kept but could not be read')
  }
  await keepPlans({ db })
  try {
    return await guarded(db, () => ingest({ db, log }, to, service, fitting, reading))
  } catch (error) {
    if (!isDataError(error)) throw error
    log.error(
      { err: error, ...to, nsu: fitting.map((arrival) => String(arrival.nsu)) },
      'a page could not be projected as a whole',
    )
  }
  const total: ReceiveResult = { received: 0, inserted: 0, completed: 0, below0: false }
  for (const arrival of fitting) {
    let one: ReceiveResult
    try {
      one = await guarded(db, () => ingest({ db, log }, to, service, [arrival], reading))
    } catch (error) {
      if (!isDataError(error)) throw error
      log.error({ err: error, ...to, nsu: String(arrival.nsu) }, 'a document is kept as bytes only')
      const problem = 'O documento foi guardado, mas não conseguimos lê-lo por inteiro.'
      one = await ingest({ db, log }, to, service, [{ ...arrival, facts: null, problem }], reading)
    }
    total.received += one.received
    total.inserted += one.inserted
    total.completed += one.completed
    total.below0 ||= one.below0
  }
  return total
}

async function ingest(
  { db, log }: Pick<Context, 'db' | 'log'>,
  to: Recipient,
  service: Service,
  arrivals: Arrival[],
  reading: Reading,
): Promise<ReceiveResult> {
  const place = { ...to, service }
  // Two writers of one company, or a writer and a rebuild, would not see each other's uncommitted documents and events.
  await holdLock({ db }, 'company', to.companyId)
  if (reading !== 'new') await restateReceipts({ db }, place, arrivals)
  const fresh = reading === 'new' ? await addReceipts({ db, log }, place, arrivals) : arrivals
  queueReading({ db }, to.workspaceId, fresh)
  const below0 = fresh.some(({ nsu }) => nsu < 0n)
  const chaves = new Set(fresh.flatMap(({ facts }) => (facts ? [facts.chave] : [])))
  if (chaves.size === 0) return { received: fresh.length, inserted: 0, completed: 0, below0 }
  const replaced = await readReplaced({ db }, place, fresh, chaves)
  const existing = await loadExisting({ db }, place, [...new Set([...chaves, ...(replaced?.chaves ?? [])])])
  const read = fresh.map((arrival) => ({ ...arrival, inside: readInside(arrival, to.cnpj) }))
  for (const { nsu, facts, inside } of read)
    if (facts?.kind === 'document' && inside === null)
      log.error({ ...to, service, nsu: String(nsu) }, 'what is inside a document could not be read')
  const changes = project(existing, rowsOf(read, to.cnpj), { cnpj: to.cnpj, now: new Date() }, replaced)
  await lockDocuments({ db }, place.workspaceId, existing.documents)
  const ids = await writeChanges({ db }, place, changes)
  const insides = new Map(read.map(({ nsu, inside }) => [nsu, inside]))
  await putFacts({ db, log }, place, [
    ...changes.documents.map((one) => ({ ...one, id: ids.get(one.chave)!, read: insides.get(one.nsu) ?? undefined })),
    ...changes.standings.map((one) => ({ ...one, id: ids.get(one.chave)!, read: undefined })),
  ])
  const isKnown = new Set(existing.events.map(eventKey))
  // Documents read again were here already when people relied on them.
  if (reading !== 'again')
    await noteAltered(
      { db },
      to,
      changes.events.filter((event) => !isKnown.has(eventKey(event))),
    )
  // Changes of documents read again were told when they arrived.
  const feed =
    reading === 'again'
      ? []
      : changes.feed.map(({ chave, kind }) => ({ documentId: ids.get(chave)!, companyId: to.companyId, kind }))
  noteChanges({ db }, to.workspaceId, feed)
  return { received: fresh.length, inserted: changes.inserted, completed: changes.completed, below0 }
}

function queueReading({ db }: WithDatabase, workspaceId: number, arrivals: readonly Arrival[]): void {
  const waits = arrivals.flatMap(({ againMs }) => againMs ?? [])
  if (waits.length === 0) return
  const job = { kind: 'reading', workspaceId, waitMs: Math.min(...waits) }
  beforeCommit({ db }, { lock: 'jobs', workspaceId }, () => queueJob({ db }, job))
}

// Reads an arrival here that no thread has read for this company.
function readInside({ facts, content, inside }: Arrival, cnpj: string): Inside | null {
  if (inside !== undefined) return inside
  if (facts?.kind !== 'document') return null
  try {
    return insideOf(facts, readDetails(openReceived(content)), cnpj)
  } catch {
    return null
  }
}

// The documents that an arrival replaces, and the arrivals that one replaces which is here.
async function readReplaced(
  { db }: WithDatabase,
  place: Recipient & { service: Service },
  arrivals: readonly Arrival[],
  chaves: ReadonlySet<string>,
): Promise<Replaced | undefined> {
  const { replacedStatus } = familyById(place.service)
  if (replacedStatus === null) return undefined
  const named = arrivals.flatMap(({ facts }) => (facts?.kind === 'document' && facts.replaces) || [])
  return { status: replacedStatus, chaves: new Set([...named, ...(await findReplaced({ db }, place, [...chaves]))]) }
}

const eventKey = ({
  chave,
  tp_evento,
  sequence,
  orgao,
}: Pick<EventRow, 'chave' | 'tp_evento' | 'sequence' | 'orgao'>) => `${chave} ${tp_evento} ${sequence} ${orgao}`

/** The XML at one place of a company, or null; `ctx.db` is inside its workspace. */
export async function findXml(
  { db }: WithDatabase,
  from: Omit<Recipient, 'cnpj'>,
  service: Service,
  nsu: bigint,
): Promise<Buffer | null> {
  const { rows } = await sql<{ content: Buffer }>`
    select ${receivedContent(from.workspaceId, 'receipt')} as content from receipt
     where workspace_id = ${from.workspaceId} and company_id = ${from.companyId}
       and service = ${serviceCodes[service]} and nsu = ${nsu}`.execute(db)
  return rows[0] ? openReceived(rows[0].content) : null
}

/** Up to `limit` receipts of a company after an NSU, oldest first, as they are stored; `ctx.db` is inside its workspace. */
export async function listReceipts(
  { db }: WithDatabase,
  from: Omit<Recipient, 'cnpj'>,
  service: Service,
  afterNsu: bigint,
  limit: number,
) {
  const { rows } = await sql<{ nsu: bigint; schema: string; content: Buffer }>`
    select nsu, schema, ${receivedContent(from.workspaceId, 'receipt')} as content from receipt
     where workspace_id = ${from.workspaceId} and company_id = ${from.companyId}
       and service = ${serviceCodes[service]} and nsu > ${afterNsu} order by nsu limit ${limit}`.execute(db)
  return rows
}
