import { sql } from 'kysely'
import type { Context } from '../../platform/context.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import type { Again, JobKind } from '../../platform/jobs/jobs.ts'
import { type ServiceCode, serviceOf } from '../../platform/service.ts'
import { type Recipient, receive } from '../receive.ts'
import { receivedContent } from '../received/column.ts'
import { type ReadPage, readApart } from './reading.ts'

interface Waiting extends Recipient {
  service: ServiceCode
  nsu: bigint
  schema: string
  content: Buffer
}

const atOnce = 50

/** Reads what was stored unread because its thread died or was late. */
export const readingJob: JobKind = {
  name: 'reading',
  concurrency: 1,
  run: (ctx, job) => readWaiting(ctx, job.workspaceId!),
}

export async function readWaiting(
  ctx: Pick<Context, 'db' | 'log'>,
  workspaceId: number,
  read: ReadPage = readApart,
): Promise<Again | null> {
  const waiting = await readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<Waiting>`
      select r.workspace_id as "workspaceId", r.company_id as "companyId", c.cnpj, r.service, r.nsu, r.schema,
             ${receivedContent(workspaceId, 'r')} as content
        from receipt r join company c on c.workspace_id = r.workspace_id and c.id = r.company_id
       where r.workspace_id = ${workspaceId} and r.again_at <= now() order by r.company_id, r.service, r.nsu limit ${atOnce}`.execute(
      db,
    )
    return rows
  })
  const [first] = waiting
  if (!first) return nextTime(ctx, workspaceId)
  const page = waiting
    .filter(({ companyId, service }) => companyId === first.companyId && service === first.service)
    .map(({ nsu, schema, content }) => ({ nsu, schema, content }))
  const arrivals = await read(ctx, page, { patient: true, cnpj: first.cnpj })
  await inWorkspace(ctx, workspaceId, (ctx) => receive(ctx, first, serviceOf(first.service), arrivals, 'late'))
  return { waitMs: 0 }
}

async function nextTime(ctx: Pick<Context, 'db'>, workspaceId: number): Promise<Again | null> {
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{ ms: number | null }>`
      select extract(epoch from min(again_at) - now())::float8 * 1000 as ms from receipt
       where workspace_id = ${workspaceId} and again_at is not null`.execute(db),
  )
  const ms = rows[0]?.ms ?? null
  return ms === null ? null : { waitMs: Math.max(0, ms) }
}
