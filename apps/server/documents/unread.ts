import { sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import { countRows } from '../platform/database.ts'

/** Up to so many documents that wait are counted. */
export const behindMax = 10_000

/** How many documents of a workspace wait for what a job makes of them (sums of products, findings, alerts), up to `behindMax`; `db` is inside it. */
export async function countWaiting({ db }: WithDatabase, workspaceId: number): Promise<number> {
  const waiting = sql`select from document where workspace_id = ${workspaceId} and judged_at is null limit ${behindMax}`
  return countRows(db, sql`from (${waiting}) d`)
}
