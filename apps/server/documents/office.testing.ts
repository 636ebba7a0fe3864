import { sql } from 'kysely'
import type { Database } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { insertCompany, newWorkspace } from '../platform/testing.ts'
import { arrivalOf, type Copy, type CopyDraft, cnpjs, type EventCopy } from './list/order.testing.ts'
import { readArrival } from './reading/read.ts'
import { receive } from './receive.ts'

// A workspace with the two companies of order.testing.ts: what is delivered to it, and what is there afterwards.

const log = createLogger('silent')

export interface TestWorkspace {
  id: number
  companies: number[]
}

export async function newOffice(db: Database): Promise<TestWorkspace> {
  const id = await newWorkspace(db)
  const companies: number[] = []
  for (const cnpj of cnpjs) companies.push((await insertCompany(db, id, { cnpj })).id)
  return { id, companies }
}

export async function picture(db: Database, { id, companies }: TestWorkspace) {
  return inWorkspace({ db }, id, async ({ db }) => ({
    documents: (
      await sql<{ company_id: number }>`
        select company_id, chave, nsu::text, complete, proof, amount, roles, base_status, status, event_code, event_text
          from document order by company_id, chave`.execute(db)
    ).rows.map(({ company_id, ...row }) => ({ to: companies.indexOf(company_id), ...row })),
    events: (
      await sql<{ company_id: number }>`
        select company_id, chave, tp_evento, sequence, nsu::text, undone, stated, rank, protocol
          from document_event order by company_id, chave, tp_evento, sequence`.execute(db)
    ).rows.map(({ company_id, ...row }) => ({ to: companies.indexOf(company_id), ...row })),
  }))
}

// Every column of every row, ids and times of writing included; counters that came back to nothing are nothing.
export async function everything(db: Database, { id }: TestWorkspace) {
  return inWorkspace({ db }, id, async ({ db }) => {
    const rows = async (query: string) => (await sql`${sql.raw(query)}`.execute(db)).rows
    return {
      documents: await rows('select * from document order by id'),
      events: await rows('select * from document_event order by company_id, chave, tp_evento, sequence, orgao'),
      months: await rows('select * from count_month where n <> 0 order by type, month, company_id, roles, status'),
      receipts: await rows('select company_id, service, nsu, problem, unread, chave from receipt order by 1, 2, 3'),
    }
  })
}

export async function countersDiffer(db: Database, { id }: TestWorkspace): Promise<unknown[]> {
  const { rows } = await inWorkspace({ db }, id, ({ db }) =>
    sql`with counted as (select type, date_trunc('month', issued_at)::date as at, company_id, roles, status, count(*)::int as n, sum(amount) as a from document group by 1, 2, 3, 4, 5),
             kept as (select type, month, company_id, roles, status, n, amount from count_month where n <> 0 or amount <> 0)
        (table counted except table kept) union all (table kept except table counted)`.execute(db),
  )
  return rows
}

export const recipient = (workspace: TestWorkspace, { to }: Pick<Copy, 'to'>) => ({
  workspaceId: workspace.id,
  companyId: workspace.companies[to]!,
  cnpj: cnpjs[to]!,
})

export async function deliver(
  db: Database,
  workspace: TestWorkspace,
  copies: (CopyDraft | EventCopy)[],
): Promise<void> {
  // One page never holds an NSU twice: the capture sees to that.
  const arrivals = [...new Map(copies.map((copy) => [copy.nsu, readArrival(arrivalOf(copy))])).values()]
  await inWorkspace({ db, log }, workspace.id, (ctx) =>
    receive(ctx, recipient(workspace, copies[0]!), copies[0]!.type, arrivals),
  )
}

/** Whether a connection of this database waits for a lock of that type. */
export async function someoneWaits(db: Database, type: 'advisory' | 'transactionid'): Promise<boolean> {
  const { rows } = await sql`select from pg_locks
    where not granted and locktype = ${type}
      and pid in (select pid from pg_stat_activity where datname = current_database())`.execute(db)
  return rows.length > 0
}
