import { type RawBuilder, sql, type UpdateObject } from 'kysely'
import type { Context } from './context.ts'
import { asOperator } from './database.ts'
import type { WaitingMail } from './mail.ts'
import type { Tables } from './tables.ts'

type WithDatabase = Pick<Context, 'db'>

/** A mail that this process holds while the lease lasts. */
export interface HeldMail extends WaitingMail {
  kind: string
  createdAt: Date
  failures: number
  /** The time in which it would have helped has passed. */
  tooLate: boolean
  messageId: string
  /** By which a holder knows its own lease. */
  lease: string
}

/** What became of a mail that was held. */
export type Outcome =
  | { state: 'sent' }
  /** It never leaves, and need not. */
  | { state: 'dropped'; problem: string }
  /** It never left, and somebody should know. */
  | { state: 'failed'; problem: string }
  | { state: 'waiting'; problem: string; waitMs: number }
  /** As if it had never been held. */
  | { state: 'released' }

/** Longer than writing and sending a letter may take. */
export const leaseMs = 10 * 60_000

/** Mails that were never tried, and those that failed before. */
export type Turn = 'first' | 'again'

/** Takes the mail that has waited longest of those of `turn` that are due; null when there is none. */
export async function claimMail(ctx: WithDatabase, turn: Turn): Promise<HeldMail | null> {
  return asOperator(ctx, async ({ db }) => {
    const { rows } = await sql<HeldMail>`
      update mail set lease_until = now() + ${leaseMs} * interval '1 ms'
       where id = (select id from mail
                    where state = 'waiting' and least(failures, 1) = ${turn === 'again' ? 1 : 0}
                      and next_at <= now() and (lease_until is null or lease_until < now())
                    order by next_at, id limit 1 for update skip locked)
      returning id, kind, workspace_id as "workspaceId", recipient, payload, created_at as "createdAt", failures,
                coalesce(useless_at <= now(), false) as "tooLate", message_id as "messageId", lease_until::text as lease`.execute(
      db,
    )
    return rows[0] ?? null
  })
}

/** Writes down what became of a held mail; nothing when another process holds it by now, unless it was sent: that stays true. */
export async function settleMail(
  ctx: WithDatabase,
  { id, lease }: Pick<HeldMail, 'id' | 'lease'>,
  outcome: Outcome,
): Promise<void> {
  await asOperator(ctx, async ({ db }) => {
    let update = db.updateTable('mail').set(changeOf(outcome)).where('id', '=', id).where('state', '=', 'waiting')
    if (outcome.state !== 'sent') update = update.where('lease_until', '=', sql<Date>`${lease}::timestamptz`)
    await update.execute()
  })
}

function changeOf(outcome: Outcome): UpdateObject<Tables, 'mail'> {
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
    // A person may want it to be tried again: what it says is kept.
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
export interface UnsentMail {
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

/** Lets the mails that failed leave once more; returns how many there are. */
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

function fromNow(ms: number): RawBuilder<Date> {
  return sql<Date>`now() + ${ms} * interval '1 ms'`
}
