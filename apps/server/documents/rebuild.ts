import { status } from '@vigia/dfe/families/statuses'
import { sql } from 'kysely'
import type { Context, Database } from '../platform/context.ts'
import { asOperator, beforeCommit, inWorkspace } from '../platform/database.ts'
import { queueJob } from '../platform/jobs/jobs.ts'
import { holdLock } from '../platform/locks.ts'
import { type Service, services } from '../platform/service.ts'
import type { Arrival } from './arrival.ts'
import { readArrival } from './reading/read.ts'
import { type ReadPage, readApart } from './reading/reading.ts'
import { listReceipts, type Recipient, receive } from './receive.ts'

export interface Rebuilt {
  receipts: number
  documents: number
  events: number
  /** Receipts of which nothing could be read. */
  unread: number
}

export type RebuildContext = Pick<Context, 'db' | 'log'>

/** Makes the documents, events and counters of a company anew in one transaction; arrivals of this company wait. Ids and times of arrival stay. */
export async function rebuildProjection(
  ctx: RebuildContext,
  company: Recipient,
  read: ReadPage = readApart,
): Promise<Rebuilt> {
  return inWorkspace(ctx, company.workspaceId, async (inside) => {
    const { db } = inside
    // The lock of `receive`: no page of this company comes in between.
    await holdLock({ db }, 'company', company.companyId)
    await forget(db, company)
    for (const service of services) {
      for await (const arrivals of readAgain(inside, company, service, read)) {
        await receive(inside, company, service, arrivals, 'again')
      }
    }
    await dropForgotten(db, company)
    await recount(db, company)
    const { workspaceId } = company
    beforeCommit({ db }, { lock: 'jobs', workspaceId }, async () => {
      await queueJob({ db }, { kind: 'alerts', workspaceId })
      // Habits are made anew from all that is here.
      await queueJob({ db }, { kind: 'alerts-night', workspaceId, key: 'all' })
    })
    return count(db, company)
  })
}

export async function rebuildAll(
  ctx: RebuildContext,
  done: (company: Recipient, rebuilt: Rebuilt, place: number, of: number) => void,
): Promise<void> {
  const workspaces = await asOperator(ctx, ({ db }) => db.selectFrom('workspace').select('id').orderBy('id').execute())
  const companies: Recipient[] = []
  for (const { id: workspaceId } of workspaces) {
    const { rows } = await inWorkspace(ctx, workspaceId, ({ db }) =>
      sql<{ id: number; cnpj: string }>`
        select id, cnpj from company where workspace_id = ${workspaceId} order by id`.execute(db),
    )
    companies.push(...rows.map(({ id, cnpj }) => ({ workspaceId, companyId: id, cnpj })))
  }
  for (const [index, company] of companies.entries())
    done(company, await rebuildProjection(ctx, company), index + 1, companies.length)
}

const ofCompany = ({ workspaceId, companyId }: Recipient) =>
  sql`workspace_id = ${workspaceId}::int and company_id = ${companyId}::int`

// Every place of a receipt, also one below 0, ranks before this one: a document that still has it has no receipt.
const nowhere = -1n

// The rows stay, because clients know the ids of documents, but they rank below any arrival: the first one replaces them.
async function forget(db: Database, company: Recipient): Promise<void> {
  await sql`delete from document_event where ${ofCompany(company)}`.execute(db)
  await forgetFacts(db, company)
  await sql`update document set nsu = ${nowhere}, complete = false, roles = 0, status = ${status.summary}, base_status = ${status.summary},
                    event_code = 0, event_text = null, corrects = null, authorized_at = null
             where ${ofCompany(company)}`.execute(db)
}

const batchSize = 200

async function* readAgain(
  ctx: RebuildContext,
  company: Recipient,
  service: Service,
  read: ReadPage,
): AsyncGenerator<Arrival[]> {
  let last = -(2n ** 63n)
  for (;;) {
    const receipts = await listReceipts(ctx, company, service, last, batchSize)
    if (receipts.length === 0) return
    const arrivals = await read(ctx, receipts, { patient: true, cnpj: company.cnpj })
    // Without this, a document that no thread could read would lose its row.
    yield arrivals.map((arrival) => (arrival.againMs === undefined ? arrival : readArrival(arrival, company)))
    last = receipts[receipts.length - 1]!.nsu
  }
}

// Deletes facts and sums of the company: reading its receipts again writes them again.
async function forgetFacts(db: Database, company: Recipient): Promise<void> {
  await sql`
    delete from document_cite c using document_facts f
     where f.workspace_id = ${company.workspaceId} and f.company_id = ${company.companyId} and c.workspace_id = f.workspace_id and c.document_id = f.document_id`.execute(
    db,
  )
  for (const table of ['document_facts', 'document_words', 'content_sum', 'product_sum', 'freight_finding'])
    await sql`delete from ${sql.table(table)} where ${ofCompany(company)}`.execute(db)
}

async function dropForgotten(db: Database, company: Recipient): Promise<void> {
  await sql`
    delete from installment i where ${ofCompany(company)} and not exists (
      select from document d where d.workspace_id = i.workspace_id and d.id = i.document_id and d.nsu <> ${nowhere})`.execute(
    db,
  )
  await sql`delete from document where ${ofCompany(company)} and nsu = ${nowhere}`.execute(db)
  // They are judged again, and nobody is told.
  await sql`
    update document set judged_at = '-infinity'
     where ${ofCompany(company)} and judged_at is null and created_at < now() - interval '1 hour'`.execute(db)
}

async function recount(db: Database, company: Recipient): Promise<void> {
  await sql`delete from count_month where ${ofCompany(company)}`.execute(db)
  await sql`insert into count_month (workspace_id, type, month, company_id, roles, status, n, amount)
            select workspace_id, type, date_trunc('month', issued_at)::date, company_id, roles, status, count(*)::int, sum(amount)
              from document where ${ofCompany(company)} group by 1, 2, 3, 4, 5, 6`.execute(db)
}

async function count(db: Database, company: Recipient): Promise<Rebuilt> {
  const { rows } = await sql<Rebuilt>`
    select (select count(*)::int from receipt where ${ofCompany(company)}) as receipts,
           (select count(*)::int from document where ${ofCompany(company)}) as documents,
           (select count(*)::int from document_event where ${ofCompany(company)}) as events,
           (select count(*)::int from receipt where ${ofCompany(company)} and unread) as unread`.execute(db)
  return rows[0]!
}
