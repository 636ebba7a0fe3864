import { sql } from 'kysely'
import type { Context, Database } from '../platform/context.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { type Service, services } from '../platform/service.ts'
import { readPage } from './arrival.ts'
import { listReceipts, type Recipient, receive } from './receive.ts'

export interface Rebuilt {
  receipts: number
  documents: number
  events: number
  /** Receipts of which nothing could be read. */
  unread: number
}

/**
 * Makes the documents, events and counters of a workspace anew from its receipts, in one transaction: until it commits everybody sees
 * what was there before, and the capture of the workspace waits. A document keeps its id and the time it first came.
 */
export async function rebuildProjection(ctx: Pick<Context, 'db' | 'log'>, workspaceId: number): Promise<Rebuilt> {
  return inWorkspace(ctx, workspaceId, async (ctx) => {
    const { db } = ctx
    // `ingest` and `enlarge_workspace` hold the same lock: no page comes in between.
    await sql`select pg_advisory_xact_lock(7316010, ${workspaceId}::int)`.execute(db)
    await forget(db, workspaceId)
    for (const company of await companiesOf(db, workspaceId)) {
      for (const service of services) await readAgain(ctx, company, service)
    }
    await dropForgotten(db, workspaceId)
    await recount(db, workspaceId)
    const { rows } = await sql<Rebuilt>`
      select (select count(*)::int from receipt where workspace_id = ${workspaceId}) as receipts,
             (select count(*)::int from document where workspace_id = ${workspaceId}) as documents,
             (select count(*)::int from document_event where workspace_id = ${workspaceId}) as events,
             (select count(*)::int from receipt where workspace_id = ${workspaceId} and unread) as unread`.execute(db)
    return rows[0]!
  })
}

/** Does so for every workspace, one after the other. */
export async function rebuildAll(
  ctx: Pick<Context, 'db' | 'log'>,
  done: (rebuilt: Rebuilt, place: number, of: number) => void,
): Promise<void> {
  // Whoever received anything is subscribed to something.
  const workspaces = await inCapture({ db: ctx.db }, ({ db }) =>
    db.selectFrom('capture_subscription').select('workspace_id').distinct().orderBy('workspace_id').execute(),
  )
  for (const [index, { workspace_id }] of workspaces.entries())
    done(await rebuildProjection(ctx, workspace_id), index + 1, workspaces.length)
}

// No receipt has this NSU: a document that still has it when all were read again came from none.
const nowhere = 2n ** 63n - 1n

// The rows stay, because ids of documents are known outside, but they say less than any arrival: whatever comes first replaces it all.
async function forget(db: Database, workspaceId: number): Promise<void> {
  await sql`delete from document_event where workspace_id = ${workspaceId}`.execute(db)
  await sql`update document set nsu = ${nowhere}, complete = false, roles = 0, status = 1, base_status = 1, event_code = 0, event_text = null
             where workspace_id = ${workspaceId}`.execute(db)
}

async function companiesOf(db: Database, workspaceId: number): Promise<Recipient[]> {
  const rows = await db
    .selectFrom('company')
    .select(['id', 'cnpj'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('id')
    .execute()
  return rows.map(({ id, cnpj }) => ({ workspaceId, companyId: id, cnpj }))
}

const batchSize = 200

async function readAgain(ctx: Pick<Context, 'db' | 'log'>, company: Recipient, service: Service): Promise<void> {
  let last = -(2n ** 63n)
  for (;;) {
    const receipts = await listReceipts(ctx, company, service, last, batchSize)
    if (receipts.length === 0) return
    await receive(ctx, company, service, readPage(receipts), true)
    last = receipts[receipts.length - 1]!.nsu
  }
}

async function dropForgotten(db: Database, workspaceId: number): Promise<void> {
  await db.deleteFrom('document').where('workspace_id', '=', workspaceId).where('nsu', '=', nowhere).execute()
}

async function recount(db: Database, workspaceId: number): Promise<void> {
  await db.deleteFrom('count_month').where('workspace_id', '=', workspaceId).execute()
  await db.deleteFrom('count_day').where('workspace_id', '=', workspaceId).execute()
  await sql`insert into count_month (workspace_id, type, month, company_id, roles, status, n, amount)
            select workspace_id, type, month_of(issued_at), company_id, roles, status, count(*)::int, sum(amount)
              from document where workspace_id = ${workspaceId} group by 1, 2, 3, 4, 5, 6`.execute(db)
  await sql`insert into count_day (workspace_id, type, day, company_id, roles, status, n)
            select workspace_id, type, issued_at::date, company_id, roles, status, count(*)::int
              from document where workspace_id = ${workspaceId} and (select large from workspace where id = ${workspaceId})
             group by 1, 2, 3, 4, 5, 6`.execute(db)
}
