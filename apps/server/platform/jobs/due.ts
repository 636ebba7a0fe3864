import { type RawBuilder, sql } from 'kysely'
import type { WithDatabase } from '../context.ts'
import { asScheduler, isDistributed } from '../database.ts'

/**
 * Whether there are `rows`, a query that uses an index and sees what belongs to the work of all workspaces: a claim that finds nothing costs five times as
 * much. On a cluster the answer is always yes, because the question would be asked of all worker nodes.
 */
export async function isDue(ctx: WithDatabase, rows: RawBuilder<unknown>): Promise<boolean> {
  if (await isDistributed(ctx)) return true
  return asScheduler(ctx, async ({ db }) => {
    const answer = await sql<{ found: boolean }>`select exists (${rows}) as found`.execute(db)
    return answer.rows[0]!.found
  })
}
