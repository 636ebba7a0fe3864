import { sql } from 'kysely'
import {
  activatePlan,
  countArrivals,
  endPlan,
  findWorkspaceOf,
  notePaused,
  type Plan,
  type PlanType,
  readPlan,
  thisMonth,
} from '../accounts/accounts.ts'
import { noneAccepted } from '../companies/companies.ts'
import { warn } from '../notifications/notifications.ts'
import type { Context } from '../platform/context.ts'
import { enterWorkspace, inCapture, readWorkspace } from '../platform/database.ts'
import { noCertificate } from './rules.ts'
import { awake, followWishes, lockLines } from './subscriptions.ts'

type WithDatabase = Pick<Context, 'db'>

/**
 * Pauses the capture of a workspace of which neither trial nor plan lasts any more, and lets it go on when one does (again). Where that is so
 * already nothing happens.
 */
export async function followPlan(ctx: WithDatabase, workspaceId: number): Promise<void> {
  await inCapture(ctx, async (ctx) => {
    await enterWorkspace(ctx, workspaceId)
    // Against a company that is being added: its subscription is seen below, or it sees that the plan has ended.
    const plan = await readPlan(ctx, workspaceId, { lock: true })
    const paused = plan.situation === 'ended'
    if (paused === (plan.pausedAt !== null) && !(await hasStray(ctx, workspaceId, paused))) return
    const lineIds = await lockLines(
      ctx,
      sql`select line_id from capture_subscription where workspace_id = ${workspaceId}`,
    )
    // When the last page under way has come: what it brought is told.
    await notePaused(ctx, workspaceId, paused)
    await ctx.db.updateTable('capture_subscription').set({ paused }).where('workspace_id', '=', workspaceId).execute()
    for (const lineId of await listShared(ctx, lineIds)) await followWishes(ctx, lineId)
    if (paused) await restLines(ctx, lineIds)
    else await wakeLines(ctx, lineIds)
    await enterWorkspace(ctx, workspaceId)
  })
}

// A company may have come while the clock said something else.
async function hasStray({ db }: WithDatabase, workspaceId: number, paused: boolean): Promise<boolean> {
  const { rows } = await sql`
    select from capture_subscription s join capture_line l on l.id = s.line_id
     where s.workspace_id = ${workspaceId}
       and (s.paused <> ${paused}
            or l.paused = exists (select 1 from capture_subscription o where o.line_id = l.id and not o.paused))
     limit 1`.execute(db)
  return rows.length > 0
}

// What others receive goes on; what nobody does is not asked for, and all that is known of it stays.
async function restLines({ db }: WithDatabase, lineIds: number[]): Promise<void> {
  await sql`
    update capture_line l
       set paused = not exists (select 1 from capture_subscription s where s.line_id = l.id and not s.paused)
     where id = any (${lineIds}::int[])`.execute(db)
}

const goesOn = 'A captura foi retomada e continua assim que a SEFAZ permitir.'
const goesOnAsked = 'A captura foi retomada e continua quando a sincronização for pedida ou ligada.'

// A line that others asked for meanwhile goes on as it stands, unless it stopped for want of a certificate: there is one more now.
async function wakeLines({ db }: WithDatabase, lineIds: number[]): Promise<void> {
  const wantsCertificate = sql`(state = 'stopped' and message in (${noCertificate.message}, ${noneAccepted}))`
  const wakes = sql`(paused or ${wantsCertificate})`
  await sql`
    update capture_line l
       set paused = ${awake.paused},
           next_at = case when ${wantsCertificate} and not paused then least(next_at, greatest(now(), allowed_at)) else ${awake.next_at} end,
           gap_at = ${awake.gap_at},
           message = case when not ${wakes} or state = 'blocked' then message
                          when automatic or wanted then ${goesOn} else ${goesOnAsked} end,
           state = case when ${wakes} and state = 'stopped' then 'waiting' else state end,
           -- What others received in between is not sent by the authority again.
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

/**
 * Gives the workspace of an account a paid plan and lets its capture go on at once. Returns whether that changed anything; null: there is no
 * such account.
 */
export async function grantPlan(
  ctx: WithDatabase,
  email: string,
  plan: { type: PlanType; until: string | null },
): Promise<boolean | null> {
  return change(ctx, email, (ctx, workspaceId) => activatePlan(ctx, workspaceId, plan))
}

/**
 * Ends the paid plan of an account's workspace and pauses its capture at once, unless the trial still lasts. Returns false when there was no
 * paid plan; null: there is no such account.
 */
export async function withdrawPlan(ctx: WithDatabase, email: string): Promise<boolean | null> {
  return change(ctx, email, endPlan)
}

async function change(
  { db }: WithDatabase,
  email: string,
  work: (ctx: WithDatabase, workspaceId: number) => Promise<boolean>,
): Promise<boolean | null> {
  return db.transaction().execute(async (db) => {
    const workspaceId = await findWorkspaceOf({ db }, email)
    if (workspaceId === null) return null
    const changed = await work({ db }, workspaceId)
    await followPlan({ db }, workspaceId)
    return changed
  })
}

const dayMs = 86_400_000
// Days before the end at which people are told; 0: it has come.
const steps: Readonly<Record<Plan['endsWith'], number[]>> = { trial: [0, 1, 3], plan: [0, 1, 7] }
// Part of the documents of the month at which they are told.
const nearly = 0.8

/** Warns of a trial or plan that ends soon or has ended, and of more documents than the plan has; of each once. */
export async function warnOfPlan(ctx: WithDatabase, workspaceId: number): Promise<void> {
  const { plan, arrived, month } = await readWorkspace(ctx, workspaceId, async (ctx) => {
    const plan = await readPlan(ctx, workspaceId)
    const max = plan.documentsPerMonthMax
    const arrived = max === null ? 0 : await countArrivals(ctx, workspaceId, max + 1)
    return { plan, arrived, month: await thisMonth(ctx) }
  })
  await warnOfEnd(ctx, workspaceId, plan)
  const max = plan.documentsPerMonthMax
  if (max === null || arrived < nearly * max) return
  await warn(ctx, workspaceId, {
    key: `plano/documentos/${month}/${arrived > max ? 'passou' : 'perto'}`,
    kind: 'plano-documentos',
    payload: { month },
    usefulMs: 7 * dayMs,
  })
}

async function warnOfEnd(ctx: WithDatabase, workspaceId: number, plan: Plan): Promise<void> {
  if (plan.endsAt === null || plan.leftMs === null) return
  const daysLeft = plan.leftMs / dayMs
  const list = steps[plan.endsWith]
  const step = list.find((days) => daysLeft <= days)
  if (step === undefined) return
  const endsAt = plan.endsAt.toISOString()
  // A plan that was ended and activated again may have the same end.
  const since = plan.endsWith === 'plan' && plan.paidFrom ? [plan.paidFrom.toISOString()] : []
  const next = list[list.indexOf(step) - 1]
  await warn(ctx, workspaceId, {
    key: ['plano', ...since, endsAt, step].join('/'),
    kind: step === 0 ? 'plano-terminou' : 'plano-termina',
    payload: { endsAt },
    // From then on the next one says it better.
    ...(next !== undefined && { usefulMs: Math.max(0, Math.round((daysLeft - next) * dayMs)) }),
  })
}
