import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { WithDatabase } from '../../platform/context.ts'
import { asOperator, inWorkspace, readWorkspace } from '../../platform/database.ts'
import { queueJob } from '../../platform/jobs/jobs.ts'
import type { Criteria } from '../list/filter.ts'
import type { ExportContents } from './texts.ts'
import type { Form } from './tickets.ts'

export const keptMax = 30
const keptBytesMax = 1024 ** 3
// Bytes for archives of everything, besides the exports.
const leavingBytesMax = 20 * keptBytesMax

export const isLeaving = sql<boolean>`(request -> 'leaving' is not null)`
/** Whether it is still kept: a day; of everything three, because so much may take a day to fetch. */
export const isKept = sql<boolean>`(requested_at > now() - case when ${isLeaving} then interval '3 days' else interval '1 day' end)`

/** A receipt by its place: company, service and NSU as text. */
export type Place = [companyId: number, service: number, nsu: string]

/** One file of everything that a workspace has: all receipts, or those of a range, so that no file has more entries than memory is meant for. */
export interface Volume {
  pdf: boolean
  /** Counts from 1. */
  number: number
  of: number
  /** Receipts after this one; null: from the first one on. */
  after: Place | null
  /** Up to this one; null: to the last one. */
  upto: Place | null
}

/** Request as the row stores it; numbers of documents as text. */
export interface Kept {
  criteria?: Criteria
  ids?: string[]
  contents: ExportContents | null
  filter: string
  fileName: string
  requestedBy: string
  /** Shared accounts: no address is stored. */
  shared: boolean
  /** Everything, or a part of it: `contents`, `filter` and the rest only name it. */
  leaving?: Volume
  /** Secret for the tag of the bytes, known only to who began the download. Absent: an older request. */
  secret?: string
}

type ExportQueue = Form | 'leaving'

export const exportKind = (queue: ExportQueue) => `export-${queue}`

/** Has the file of a row that waits made. */
export async function queueExport(
  ctx: WithDatabase,
  { workspaceId, id, queue }: { workspaceId: number; id: bigint; queue: ExportQueue },
): Promise<void> {
  await queueJob(ctx, { kind: exportKind(queue), workspaceId, key: String(id) })
}

/** Rows of a workspace that processes make now. */
export async function readRunning({ db }: WithDatabase, workspaceId: number): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ key: string }>`
    select key from job
     where workspace_id = ${workspaceId} and kind like 'export-%' and lease_until > now()`.execute(db)
  return new Set(rows.map(({ key }) => key))
}

export const newSecret = () => randomBytes(16).toString('base64url')

export async function findKept(ctx: WithDatabase, { workspaceId, id }: { workspaceId: number; id: bigint }) {
  const row = await readWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .selectFrom('document_export')
      .select(['request', 'form', 'state', 'parts', 'problem', 'attempt', 'company_ids as companies'])
      .select(sql<number>`bytes::float8`.as('bytes'))
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .where(isKept)
      .executeTakeFirst(),
  )
  // Written by this file, in this shape.
  return row && { ...row, request: row.request as Kept }
}

/** Deletes what the workspace may not keep beside `more` exports that are still to come. */
export async function makeRoom({ db }: WithDatabase, workspaceId: number, more = 0): Promise<void> {
  await sql`
    delete from document_export using (
      select id as old, row_number() over newest as n, sum(bytes) over newest as upto
        from document_export where workspace_id = ${workspaceId} and not ${isLeaving} window newest as (order by id desc)) k
     where workspace_id = ${workspaceId} and id = old and state <> 'waiting'
       and (not ${isKept} or n + ${more}::int > ${keptMax} or upto > ${keptBytesMax})`.execute(db)
}

/** Whether the workspace keeps no more bytes than it may, perhaps after older exports made room; archives of everything count apart. */
export async function isWithinRoom(
  ctx: WithDatabase,
  workspaceId: number,
  { leaving }: { leaving: boolean },
): Promise<boolean> {
  const isWithin = async () => {
    const { rows } = await sql<{ within: boolean }>`
      select coalesce(sum(bytes), 0) <= ${leaving ? leavingBytesMax : keptBytesMax} as within from document_export
       where workspace_id = ${workspaceId} and ${isLeaving} = ${leaving}
         and ${leaving ? isKept : sql`true`}`.execute(ctx.db)
    return rows[0]!.within
  }
  if (await isWithin()) return true
  if (leaving) return false
  await makeRoom(ctx, workspaceId)
  return isWithin()
}

/** Deletes the exports of all workspaces that are older than a day, whether or not anybody asks for another. */
export async function forgetExports(ctx: WithDatabase): Promise<void> {
  const { rows } = await asOperator(ctx, ({ db }) =>
    sql<{ workspaceId: number; id: bigint }>`
      select workspace_id as "workspaceId", id from document_export
       where state <> 'waiting' and not ${isKept}`.execute(db),
  )
  for (const { workspaceId, id } of rows)
    await inWorkspace(ctx, workspaceId, ({ db }) =>
      // Not one that somebody has made anew meanwhile.
      sql`
        delete from document_export where workspace_id = ${workspaceId} and id = ${id} and state <> 'waiting'
           and not ${isKept}`.execute(db),
    )
}
