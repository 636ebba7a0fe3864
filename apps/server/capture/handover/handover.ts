import { sql } from 'kysely'
import type { Context } from '../../platform/context.ts'
import { inCapture } from '../../platform/database.ts'
import { copyUntilComplete, listSubscribers } from '../delivery.ts'
import { type CaptureLine, claimOne, holdLine, releaseLine } from '../lease.ts'
import { setAutomatic } from '../subscriptions.ts'

type LeaveContext = Pick<Context, 'db' | 'log' | 'config'>

/** Ends what a workspace receives. Others on a line first get all of it; false: a turn or a pause of the authority has to end first. */
export async function leaveLines(ctx: LeaveContext, workspaceId: number, signal?: AbortSignal): Promise<boolean> {
  const own = await inCapture(ctx, ({ db }) =>
    db
      .selectFrom('capture_subscription')
      .select('line_id')
      .distinct()
      .where('workspace_id', '=', workspaceId)
      .orderBy('line_id')
      .execute(),
  )
  let isDone = true
  for (const { line_id } of own) {
    if (signal?.aborted) return false
    const line = await claimOne(ctx, line_id)
    if (!line) {
      isDone = false
      continue
    }
    if (!(await leave(ctx, line, workspaceId, signal))) isDone = false
  }
  return isDone
}

// A line that goes takes its lease along.
async function leave(
  ctx: LeaveContext,
  line: CaptureLine,
  workspaceId: number,
  signal?: AbortSignal,
): Promise<boolean> {
  let isGone = false
  try {
    const hasHeir = await bequeath(ctx, line, workspaceId, signal)
    return await inCapture(ctx, async (ctx) => {
      const { db } = ctx
      await holdLine(ctx, line, {})
      const others = (await listSubscribers(ctx, line)).filter((one) => one.workspaceId !== workspaceId)
      const proved = others.filter((one) => one.proved)
      // Somebody was proved, or left, meanwhile.
      if (proved.length > 0 !== hasHeir || (hasHeir && !proved.some((one) => one.deliveredNsu === line.lastNsu)))
        return false
      // A new line of the CNPJ would begin without the pause.
      if (others.length === 0 && (await isResting(ctx, line))) return false
      await db
        .deleteFrom('capture_subscription')
        .where('line_id', '=', line.id)
        .where('workspace_id', '=', workspaceId)
        .execute()
      await db
        .deleteFrom('capture_refusal')
        .where('line_id', '=', line.id)
        .where('workspace_id', '=', workspaceId)
        .execute()
      if (others.length > 0) {
        if (!hasHeir) await beginAnew(ctx, line)
        await db
          .updateTable('capture_line')
          .set({ paused: others.every((one) => one.paused) })
          .where('id', '=', line.id)
          .execute()
        await setAutomatic(ctx, line.id)
        return true
      }
      await sql`select erase_line(${line.id})`.execute(db)
      isGone = true
      return true
    })
  } finally {
    if (!isGone) await releaseLine(ctx, line, null)
  }
}

/** Brings one of the others to where the line stands, whether or not it is paused. Returns whether there is one that may receive. */
async function bequeath(
  ctx: LeaveContext,
  line: CaptureLine,
  workspaceId: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const all = await inCapture(ctx, (ctx) => listSubscribers(ctx, line))
  const heirs = all
    .filter((one) => one.workspaceId !== workspaceId && one.proved)
    .sort((a, b) => Number(b.deliveredNsu - a.deliveredNsu) || Number(a.paused) - Number(b.paused))
  const [heir] = heirs
  if (heir && heir.deliveredNsu < line.lastNsu) await copyUntilComplete(ctx, line, heir.workspaceId, signal)
  return heir !== undefined
}

async function isResting({ db }: LeaveContext, line: CaptureLine): Promise<boolean> {
  const row = await db
    .selectFrom('capture_line')
    .select(sql<boolean>`allowed_at > now()`.as('rests'))
    .where('id', '=', line.id)
    .executeTakeFirst()
  return row?.rests ?? false
}

// Those who are left have proved nothing, and get nothing that was not asked with their certificate: the line asks again for what the
// authority still has.
async function beginAnew({ db }: LeaveContext, line: CaptureLine): Promise<void> {
  await db.deleteFrom('capture_gap').where('line_id', '=', line.id).execute()
  await db.updateTable('capture_subscription').set({ delivered_nsu: 0n }).where('line_id', '=', line.id).execute()
  await db
    .updateTable('capture_line')
    .set({ last_nsu: 0n, max_nsu: 0n, gap_at: null, catch_up: false })
    .where('id', '=', line.id)
    .execute()
}
