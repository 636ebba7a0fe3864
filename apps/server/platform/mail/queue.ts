import { sql } from 'kysely'
import type { WithDatabase } from '../context.ts'
import { asOperator } from '../database.ts'
import { type Job, queueJob } from '../jobs/jobs.ts'
import type { WaitingMail } from './mail.ts'

/** A mail that this process sends. */
export interface HeldMail extends WaitingMail {
  kind: string
  createdAt: Date
  /** It is too late to be useful. */
  tooLate: boolean
  messageId: string
}

/** The end of a mail: it left, it need not leave, or it never left and the operator should know. */
export type MailOutcome = { state: 'sent' } | { state: 'dropped' | 'failed'; problem: string }

/** The mail of a job; null: it was settled, or is gone with its workspace. */
export async function readMail(ctx: WithDatabase, { key }: Pick<Job, 'key'>): Promise<HeldMail | null> {
  return asOperator(ctx, async ({ db }) => {
    const { rows } = await sql<HeldMail>`
      select id, kind, workspace_id as "workspaceId", recipient, payload, created_at as "createdAt",
             coalesce(useless_at <= now(), false) as "tooLate", message_id as "messageId"
        from mail where message_id = ${key} and state = 'waiting'`.execute(db)
    return rows[0] ?? null
  })
}

/** Writes down what became of a mail. The operator may retry one that failed, so its payload is kept. */
export async function settleMail(
  ctx: WithDatabase,
  { id }: Pick<HeldMail, 'id'>,
  { failures }: Pick<Job, 'failures'>,
  outcome: MailOutcome,
): Promise<void> {
  const problem = outcome.state === 'sent' ? null : outcome.problem
  const payload = outcome.state === 'failed' ? sql`payload` : sql`'{}'`
  await asOperator(ctx, ({ db }) =>
    sql`
      update mail set state = ${outcome.state}, problem = ${problem}, failures = ${failures}, payload = ${payload}, settled_at = now()
       where id = ${id} and state = 'waiting'`.execute(db),
  )
}

const settledDays = 90

/** Deletes mails settled long ago. */
export async function deleteSettledMails(ctx: WithDatabase): Promise<void> {
  await asOperator(ctx, ({ db }) =>
    sql`
      delete from mail where state <> 'waiting' and settled_at < now() - ${settledDays} * interval '1 day'`.execute(db),
  )
}

/** A mail that did not leave. */
interface UnsentMail {
  id: bigint
  kind: string
  recipient: string
  state: 'waiting' | 'failed' | 'dropped'
  failures: number
  problem: string | null
  createdAt: Date
  /** When it is tried again. */
  nextAt: Date | null
}

/** The mails that did not leave, newest first: those that wait, those that failed, and those for which it got too late after failures. */
export async function listUnsentMails(ctx: WithDatabase): Promise<UnsentMail[]> {
  return asOperator(ctx, async ({ db }) => {
    // The condition is that of the index, letter by letter.
    const { rows } = await sql<UnsentMail>`
      select m.id, m.kind, m.recipient, m.state, coalesce(j.attempts - (j.lease is not null)::int, m.failures) as failures, coalesce(j.error, m.problem) as problem,
             m.created_at as "createdAt", nullif(j.run_at, 'infinity') as "nextAt"
        from (select * from mail where state in ('waiting', 'failed') or (state = 'dropped' and failures > 0)) m
        left join job j on j.kind = 'mail' and j.workspace_id is not distinct from m.workspace_id and j.key = m.message_id::text
       order by m.created_at desc, m.id desc`.execute(db)
    return rows
  })
}

/** Queues the mails that failed for a retry; returns how many there are. */
export async function retryFailedMails(ctx: WithDatabase): Promise<number> {
  return asOperator(ctx, async ({ db }) => {
    const { rows } = await sql<{ workspaceId: number | null; key: string; since: Date }>`
      update mail set state = 'waiting', settled_at = null where state = 'failed'
      returning workspace_id as "workspaceId", message_id as key, created_at as since`.execute(db)
    for (const mail of rows) await queueJob({ db }, { kind: 'mail', ...mail })
    return rows.length
  })
}
