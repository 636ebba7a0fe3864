import { type RawBuilder, sql } from 'kysely'
import { activatePlan, endPlan, findWorkspaceOf, notePaused, type PlanType, readPlan } from '../accounts/plans.ts'
import { noneAccepted } from '../companies/certificates.ts'
import type { WithConfig, WithDatabase } from '../platform/context.ts'
import { enterWorkspace, inCapture, inTransaction } from '../platform/database.ts'
import { noCertificate } from './decide.ts'
import { awake, lockLines, setAutomatic } from './subscriptions.ts'

/** Pauses the capture of a workspace without trial and plan, and of archived companies; resumes it when that is over. Idempotent. */
export async function followPlan(ctx: WithConfig, workspaceId: number): Promise<void> {
  await inCapture(ctx, async (ctx) => {
    await enterWorkspace(ctx, workspaceId)
    // Locked because a company may be added at the same time: either its subscription is read below, or it finds the plan ended.
    const plan = await readPlan(ctx, workspaceId, { lock: true })
    const ended = plan.situation === 'ended'
    const isPaused = sql<boolean>`(${ended} or company_id = any (${await listArchived(ctx, workspaceId)}::int[]))`
    // The others are left alone: they may wait for something of their own.
    const lineIds = await lockLines(ctx, strays(workspaceId, isPaused))
    if (ended === (plan.pausedAt !== null) && lineIds.length === 0) return
    // After the locks, when the last page under way has been stored: it belongs to the time before the pause.
    await notePaused(ctx, workspaceId, ended)
    const { rows: subscriptions } = await sql<{ lineId: number; paused: boolean }>`
      update capture_subscription set paused = ${isPaused}
       where workspace_id = ${workspaceId} and line_id = any (${lineIds}::int[])
      returning line_id as "lineId", paused`.execute(ctx.db)
    for (const lineId of await listShared(ctx, lineIds)) await setAutomatic(ctx, lineId)
    const linesWhich = (paused: boolean) =>
      subscriptions.filter((one) => one.paused === paused).map((one) => one.lineId)
    await restLines(ctx, linesWhich(true))
    await wakeLines(ctx, linesWhich(false))
    await enterWorkspace(ctx, workspaceId)
  })
}

// In a statement of its own, because the tables of the capture are not joined with those of a workspace.
async function listArchived({ db }: WithDatabase, workspaceId: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from company where workspace_id = ${workspaceId} and not active`.execute(db)
  return rows.map(({ id }) => id)
}

// The lines of subscriptions that are paused and should not be, or the other way round, and those that are themselves.
// A company may have been added between the plan's end and this check, or archived.
function strays(workspaceId: number, isPaused: RawBuilder<boolean>): RawBuilder<unknown> {
  return sql`
    select s.line_id from capture_subscription s join capture_line l on l.id = s.line_id
   where s.workspace_id = ${workspaceId}
     and (s.paused <> ${isPaused}
          or l.paused = exists (select 1 from capture_subscription o where o.line_id = l.id and not o.paused))`
}

// A line that others receive goes on; the others are not queried, and nothing else of them changes.
async function restLines({ db }: WithDatabase, lineIds: number[]): Promise<void> {
  await sql`
    update capture_line l
       set paused = not exists (select 1 from capture_subscription s where s.line_id = l.id and not s.paused)
     where id = any (${lineIds}::int[])`.execute(db)
}

const goesOn = 'A captura foi retomada e continua assim que a SEFAZ permitir.'
const goesOnAsked = 'A captura foi retomada e continua quando a sincronização for pedida ou ligada.'

// A line that others received meanwhile keeps its state; if it had stopped because it had no certificate, it now has one again.
async function wakeLines({ db }: WithDatabase, lineIds: number[]): Promise<void> {
  const wantsCertificate = sql`(state = 'stopped' and message in (${noCertificate}, ${noneAccepted}))`
  const wakes = sql`(paused or ${wantsCertificate})`
  await sql`
    update capture_line l
       set paused = ${awake.paused},
           next_at = case when ${wantsCertificate} and not paused then least(next_at, greatest(now(), allowed_at)) else ${awake.next_at} end,
           gap_at = ${awake.gap_at},
           message = case when not ${wakes} or state = 'blocked' then message
                          when automatic or wanted then ${goesOn} else ${goesOnAsked} end,
           state = case when ${wakes} and state = 'stopped' then 'waiting' else state end,
           -- The authority does not send again what others received in between.
           catch_up = catch_up or exists (select 1 from capture_subscription s
                                           where s.line_id = l.id and not s.paused and s.proved_at is not null
                                             and s.delivered_nsu < l.last_nsu)
     where id = any (${lineIds}::int[])`.execute(db)
}

async function listShared({ db }: WithDatabase, lineIds: number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select line_id as id from capture_subscription where line_id = any (${lineIds}::int[])
     group by line_id having count(*) > 1 order by line_id`.execute(db)
  return rows.map((row) => row.id)
}

/** Gives the workspace of an account a paid plan and resumes its capture. Returns whether that changed anything; null: no such account. */
export async function grantPlan(
  ctx: WithConfig,
  email: string,
  plan: { type: PlanType; until: string | null },
): Promise<boolean | null> {
  return change(ctx, email, (ctx, workspaceId) => activatePlan(ctx, workspaceId, plan))
}

/** Ends the paid plan of an account's workspace, and its capture unless the trial lasts. False: no paid plan; null: no such account. */
export async function withdrawPlan(ctx: WithConfig, email: string): Promise<boolean | null> {
  return change(ctx, email, endPlan)
}

async function change(
  ctx: WithConfig,
  email: string,
  work: (ctx: WithConfig, workspaceId: number) => Promise<boolean>,
): Promise<boolean | null> {
  return inTransaction(ctx, async ({ db }) => {
    const within = { ...ctx, db }
    const workspaceId = await findWorkspaceOf(within, email)
    if (workspaceId === null) return null
    const changed = await work(within, workspaceId)
    await followPlan(within, workspaceId)
    return changed
  })
}
