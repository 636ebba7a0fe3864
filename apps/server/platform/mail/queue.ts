import { sql, type UpdateObject } from 'kysely'
import type { WithDatabase } from '../context.ts'
import { asOperator } from '../database.ts'
import { isHeldBack } from '../installation.ts'
import { claimInTurn, fromNow, type Lane } from '../jobs/jobs.ts'
import type { Tables } from '../tables.ts'
import type { WaitingMail } from './mail.ts'

/** A mail that this process holds while the lease lasts. */
export interface HeldMail extends WaitingMail {
  kind: string
  createdAt: Date
  failures: number
  /** It is too late to be useful. */
  tooLate: boolean
  messageId: string
  /** Identifies the lease of this holder. */
  lease: string
}

/** What became of a mail that was held. */
export type MailOutcome =
  | { state: 'sent' }
  /** It never leaves, and need not. */
  | { state: 'dropped'; problem: string }
  /** It never left, and the operator should know. */
  | { state: 'failed'; problem: string }
  | { state: 'waiting'; problem: string; waitMs: number }
  /** Goes back to the queue unchanged. */
  | { state: 'released' }

/** Longer than writing and sending a letter may take. */
export const leaseMs = 10 * 60_000

/** Without these nothing is claimed. */
export const dueMails = sql`select from mail where state = 'waiting' and next_at <= now()`

const lane = (hasFailed: 0 | 1): Lane => ({
  due: sql`state = 'waiting' and least(failures, 1) = ${hasFailed} and next_at <= now() and not ${isHeldBack}`,
  order: sql`next_at, id`,
})
const [firstTries, retries] = [lane(0), lane(1)]

/** Takes the mail that has waited longest of the workspace whose turn it is, one that failed before ahead of the others; null when none is due. */
export async function claimMail(ctx: WithDatabase, { retry }: { retry: boolean }): Promise<HeldMail | null> {
  return asOperator(ctx, async ({ db }) => {
    const lanes = retry ? [retries, firstTries] : [firstTries]
    const claimed = await claimInTurn<HeldMail, Lane>(db, {
      kind: 'mail',
      table: sql`mail`,
      // A mail of no workspace counts as a workspace of its own.
      workspaceOf: sql`coalesce(workspace_id, 0)`,
      lanes,
      leaseMs,
      returning: sql`id, kind, workspace_id as "workspaceId", recipient, payload, created_at as "createdAt", failures,
        coalesce(useless_at <= now(), false) as "tooLate", message_id as "messageId", lease_until::text as lease`,
    })
    return claimed?.rows[0] ?? null
  })
}

/** Writes down what became of a held mail; nothing when another process holds it by now, unless it was sent: that stays true. */
export async function settleMail(
  ctx: WithDatabase,
  { id, lease }: Pick<HeldMail, 'id' | 'lease'>,
  outcome: MailOutcome,
): Promise<void> {
  await asOperator(ctx, async ({ db }) => {
    let update = db.updateTable('mail').set(changeOf(outcome)).where('id', '=', id).where('state', '=', 'waiting')
    if (outcome.state !== 'sent') update = update.where('lease_until', '=', sql<Date>`${lease}::timestamptz`)
    await update.execute()
  })
}

function changeOf(outcome: MailOutcome): UpdateObject<Tables, 'mail'> {
  const now = sql<Date>`now()`
  switch (outcome.state) {
    case 'released':
      return { lease_until: null }
    case 'waiting':
      return {
        lease_until: null,
        problem: outcome.problem,
        failures: sql<number>`failures + 1`,
        next_at: fromNow(outcome.waitMs),
      }
    // The operator may retry it, so its payload is kept.
    case 'failed':
      return { lease_until: null, state: 'failed', problem: outcome.problem, settled_at: now }
    case 'dropped':
      return { lease_until: null, state: 'dropped', problem: outcome.problem, settled_at: now, payload: '{}' }
    case 'sent':
      return { lease_until: null, state: 'sent', problem: null, settled_at: now, payload: '{}' }
  }
}

const settledDays = 90

/** Deletes what was settled long ago. */
export async function deleteSettledMails(ctx: WithDatabase): Promise<void> {
  await asOperator(ctx, ({ db }) =>
    db
      .deleteFrom('mail')
      .where('state', '<>', 'waiting')
      .where('settled_at', '<', sql<Date>`now() - ${settledDays} * interval '1 day'`)
      .execute(),
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
  nextAt: Date
}

/** The mails that did not leave, newest first: those that wait, those that failed, and those for which it got too late after failures. */
export async function listUnsentMails(ctx: WithDatabase): Promise<UnsentMail[]> {
  return asOperator(ctx, async ({ db }) => {
    // The condition is that of the index, letter by letter.
    const { rows } = await sql<UnsentMail>`
      select id, kind, recipient, state, failures, problem, created_at as "createdAt", next_at as "nextAt"
        from mail where state in ('waiting', 'failed') or (state = 'dropped' and failures > 0)
       order by created_at desc, id desc`.execute(db)
    return rows
  })
}

/** Queues the mails that failed for a retry; returns how many there are. */
export async function retryFailedMails(ctx: WithDatabase): Promise<number> {
  const { numUpdatedRows } = await asOperator(ctx, ({ db }) =>
    db
      .updateTable('mail')
      .set({ state: 'waiting', failures: 0, next_at: sql<Date>`now()`, settled_at: null })
      .where('state', '=', 'failed')
      .executeTakeFirstOrThrow(),
  )
  return Number(numUpdatedRows)
}
