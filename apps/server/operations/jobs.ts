import { sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import { asOperator } from '../platform/database.ts'

/** The jobs of a kind, for the operator. */
export interface JobsOfKind {
  kind: string
  waiting: number
  running: number
  failing: number
  /** When the first of them runs. */
  next: Date | null
  /** Of the one that failed most often. */
  error: string | null
}

/** What waits, what fails, and when it is tried again. */
export async function listJobs(ctx: WithDatabase): Promise<JobsOfKind[]> {
  return asOperator(ctx, async ({ db }) => {
    const { rows } = await sql<JobsOfKind>`
      select kind, count(*) filter (where lease is null)::int as waiting, count(*) filter (where lease_until > now())::int as running,
             count(*) filter (where error is not null)::int as failing, min(run_at) filter (where run_at < 'infinity') as next,
             (array_agg(error order by attempts desc) filter (where error is not null))[1] as error
        from job group by kind order by kind`.execute(db)
    return rows
  })
}
