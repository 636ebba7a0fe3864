import { sql } from 'kysely'
import type { WithDatabase } from './context.ts'
import { beforeCommit } from './database.ts'
import { queueJob } from './jobs/jobs.ts'

/** Something that open pages should show; its text is written when it is announced, together with others of its kind. */
interface Happening {
  /** Names the writer of the text. */
  what: string
  companyId?: number
  payload?: object
  /** More of the same is likely to follow within this time. */
  waitMs?: number
  /** The session of the person whose action it is, by its public id. */
  sessionId?: string
}

// One action may cause several transactions; their happenings are grouped when they come within this time.
const togetherMs = 1_500

/**
 * Notes something to be announced to a workspace, grouped with others of its kind. `ctx.db` is the
 * transaction of the action, in the workspace or in the capture: a rollback takes it back.
 */
export async function announce(
  { db }: WithDatabase,
  workspaceId: number,
  { what, companyId, payload = {}, waitMs = togetherMs, sessionId }: Happening,
): Promise<void> {
  await sql`
    insert into happening (workspace_id, what, company_id, payload, ready_at, session_id)
    values (${workspaceId}, ${what}, ${companyId ?? null}, ${JSON.stringify(payload)},
      clock_timestamp() + ${Math.round(waitMs)} * interval '1 ms', ${sessionId ?? null})`.execute(db)
  beforeCommit({ db }, { lock: `announcement ${what}`, workspaceId }, () =>
    queueJob({ db }, { kind: 'announcement', workspaceId, key: what, waitMs }),
  )
}
