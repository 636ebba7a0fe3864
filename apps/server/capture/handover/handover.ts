import { sql } from 'kysely'
import type { Context } from '../../platform/context.ts'
import { inCapture } from '../../platform/database.ts'
import { copyUntilComplete, listSubscribers } from '../delivery.ts'
import { type CaptureLine, claimOne, lockHeldLine, releaseLine } from '../lease.ts'
import { setAutomatic } from '../subscriptions.ts'

type LeaveContext = Pick<Context, 'db' | 'log' | 'config'>

/** Ends what a workspace receives. Others on a line first get all of it; false: a turn or a pause of the authority has to end first. */
export async function leaveLines(ctx: LeaveContext, workspaceId: number, signal?: AbortSignal): Promise<boolean> {
  const { rows: own } = await inCapture(ctx, ({ db }) =>
    sql<{ line_id: number }>`
      select distinct line_id from capture_subscription where workspace_id = ${workspaceId}
       order by line_id`.execute(db),
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
    // One of the others is brought to where the line stands, whether or not it is paused.
    const [heir] = (await inCapture(ctx, (ctx) => listSubscribers(ctx, line)))
      .filter((one) => one.workspaceId !== workspaceId && one.proved)
      .sort((a, b) => Number(b.deliveredNsu - a.deliveredNsu) || Number(a.paused) - Number(b.paused))
    if (heir && heir.deliveredNsu < line.lastNsu) await copyUntilComplete(ctx, line, heir.workspaceId, signal)
    return await inCapture(ctx, async (ctx) => {
      const { db } = ctx
      const { allowedInMs } = await lockHeldLine(ctx, line)
      const others = (await listSubscribers(ctx, line)).filter((one) => one.workspaceId !== workspaceId)
      const proved = others.filter((one) => one.proved)
      // Somebody was proved meanwhile, or the copying was aborted.
      if (proved.length > 0 && !proved.some((one) => one.deliveredNsu === line.lastNsu)) return false
      // A new line of the CNPJ would begin without the pause.
      if (others.length === 0 && allowedInMs > 0) return false
      const ofWorkspace = sql`where line_id = ${line.id} and workspace_id = ${workspaceId}`
      await sql`delete from capture_subscription ${ofWorkspace}`.execute(db)
      await sql`delete from capture_refusal ${ofWorkspace}`.execute(db)
      if (others.length > 0) {
        if (proved.length === 0) await beginAnew(ctx, line)
        const paused = others.every((one) => one.paused)
        await sql`update capture_line set paused = ${paused} where id = ${line.id}`.execute(db)
        await setAutomatic(ctx, line.id)
        return true
      }
      await sql`select erase_line(${line.id})`.execute(db)
      isGone = true
      return true
    })
  } finally {
    if (!isGone) await releaseLine(ctx, line)
  }
}

// The others have proved nothing, so they get nothing of before: the line asks again for what the authority still has.
async function beginAnew({ db }: LeaveContext, line: CaptureLine): Promise<void> {
  await sql`delete from capture_gap where line_id = ${line.id}`.execute(db)
  await sql`update capture_subscription set delivered_nsu = 0 where line_id = ${line.id}`.execute(db)
  await sql`
    update capture_line set last_nsu = 0, max_nsu = 0, gap_at = null, catch_up = false
     where id = ${line.id}`.execute(db)
}
