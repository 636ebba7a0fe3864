import { sql } from 'kysely'
import type { WithDatabase } from '../../platform/context.ts'
import { beforeCommit } from '../../platform/database.ts'
import { queueJob } from '../../platform/jobs/jobs.ts'
import { walkStart } from '../following.ts'

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
