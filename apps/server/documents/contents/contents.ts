import type { CteContents, NfeContents } from '@vigia/dfe/read'
import { sql } from 'kysely'
import type { WithDatabase } from '../../platform/context.ts'
import { beforeCommit } from '../../platform/database.ts'
import { queueJob } from '../../platform/jobs/jobs.ts'
import { walkStart } from '../following.ts'
import { unpack } from './packing.ts'

/** Contents of read documents, at most 100: the event loop unpacks them. `db` is in the workspace. */
export async function readContents(
  { db }: WithDatabase,
  workspaceId: number,
  documentIds: readonly bigint[],
): Promise<Map<bigint, NfeContents | CteContents>> {
  const { rows } = await sql<{ id: bigint; value: Buffer }>`
    select c.document_id as id, c.value from unnest(${documentIds.slice(0, 100)}::bigint[]) q (id)
      join content c on c.workspace_id = ${workspaceId} and c.document_id = q.id`.execute(db)
  return new Map(rows.map(({ id, value }) => [id, unpack(value)]))
}

/** Has all documents of a workspace read again, because they were made anew; `db` is the transaction that does so. */
export async function readAnew({ db }: WithDatabase, workspaceId: number): Promise<void> {
  await sql`
    update content_position set walked_type = ${walkStart.walkedType}, walked_at = ${walkStart.walkedAt}, walked_id = ${walkStart.walkedId}
     where workspace_id = ${workspaceId}`.execute(db)
  beforeCommit({ db }, { lock: 'jobs', workspaceId }, async () => {
    await queueJob({ db }, { kind: 'contents', workspaceId })
    // A turn that is under way ends without writing its position.
    await sql`
      update job set lease = null, lease_until = null
       where kind = 'contents' and workspace_id = ${workspaceId}`.execute(db)
  })
}
