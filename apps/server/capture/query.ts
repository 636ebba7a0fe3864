import { type Connection, onlyWhile } from '@vigia/sefaz/connection'
import { UnsentError } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { mayCall } from '../sefaz/circuit.ts'
import type { QueryOutcome } from '../sefaz/ledger.ts'
import { distributionUrl, type Query, send } from './distribution.ts'
import type { Holder } from './holder.ts'
import { type CaptureLine, holdCursor, holdLine, lockLine } from './lease.ts'

type AskContext = Pick<Context, 'db' | 'config' | 'storage'>

/** Sends one query. Null when it did not leave: `noteQueryAs` does not let it, that took too much of the lease, or nothing can be stored. */
export async function ask(
  ctx: AskContext,
  line: CaptureLine,
  holder: Pick<Holder, 'uf' | 'workspaceId' | 'companyId'>,
  connection: Connection,
  query: Query,
  options: { inOutage?: boolean } = {},
): Promise<QueryOutcome | null> {
  return sendInTime(ctx, line, holder, connection, query, () => noteQueryAs(ctx, line, holder, query, options))
}

/** Sends one query with a certificate that no workspace holds. Null when it did not leave, because the announcement took too much of the lease. */
export async function askWithFile(
  ctx: AskContext,
  line: CaptureLine,
  holder: Pick<Holder, 'uf'>,
  connection: Connection,
  query: Query,
): Promise<QueryOutcome | null> {
  return sendInTime(ctx, line, holder, connection, query, () => inCapture(ctx, (ctx) => noteQuery(ctx, line, query)))
}

// The database may stall while the query is announced; then another process has the line, and a second query would be misuse.
async function sendInTime(
  ctx: AskContext,
  line: CaptureLine,
  holder: Pick<Holder, 'uf'>,
  connection: Connection,
  query: Query,
  announce: () => Promise<boolean>,
): Promise<QueryOutcome | null> {
  // The clock of the day, because the other one stands still while a virtual machine is suspended.
  const lastsUntil = Date.now() + line.leaseMs - ctx.config.sefaz.answerMs
  if (!(await ctx.storage.prove()) || !(await announce())) return null
  const inTime = onlyWhile(connection, () => Date.now() < lastsUntil)
  try {
    return await send(ctx, line, holder, inTime, query)
  } catch (error) {
    if (!(error instanceof UnsentError)) throw error
    await inCapture(ctx, (ctx) => holdLine(ctx, line, { asked_at: null }))
    return null
  }
}

/** Commits that a query leaves now. False: it may not, because of a pause or an outage (but `inOutage` looks into one). */
export async function noteQueryAs(
  ctx: WithConfig,
  line: CaptureLine,
  holder: Pick<Holder, 'workspaceId' | 'companyId'>,
  query: Query,
  { inOutage = false } = {},
): Promise<boolean> {
  return inCapture(ctx, async (ctx) => {
    // Locks the line before the row of its service, as all code does that locks both.
    await lockLine(ctx, line)
    if (await isPaused(ctx, line, holder)) return false
    if (!inOutage && !(await mayCall(ctx, distributionUrl(ctx, line.service)))) return false
    return noteQuery(ctx, line, query)
  })
}

async function isPaused(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  { workspaceId, companyId }: Pick<Holder, 'workspaceId' | 'companyId'>,
): Promise<boolean> {
  const { rows } = await sql<{ paused: boolean }>`
    select paused from capture_subscription
     where line_id = ${line.id} and workspace_id = ${workspaceId} and company_id = ${companyId}`.execute(db)
  return rows[0]!.paused
}

/** Records that a query leaves now; `ctx.db` is a transaction of the capture. */
export async function noteQuery(ctx: WithDatabase, line: CaptureLine, query: Query): Promise<true> {
  const now = sql<Date>`now()`
  const chave = 'chNFe' in query ? query.chNFe : null
  // The same time in both columns marks a query for something that is missing.
  await holdCursor(ctx, line, {
    asked_at: now,
    asked_chave: chave,
    ...(!('ultNSU' in query) && { gap_at: now }),
  })
  return true
}
