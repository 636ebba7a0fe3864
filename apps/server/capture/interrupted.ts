import { fromNow } from '../jobs/jobs.ts'
import { inCapture } from '../platform/database.ts'
import { findPosition } from './gaps/positions.ts'
import { type CaptureLine, holdLine, releaseLine } from './lease.ts'
import { type SettlementContext, settle } from './settlement.ts'

/** Settles a query whose process died before it stored the outcome: no query is sent, and the response counts as lost. */
export async function settleInterrupted(ctx: SettlementContext, line: CaptureLine): Promise<void> {
  const { cnpj, service, askedForGap } = line
  ctx.log.warn({ cnpj, service, query: askedForGap ? 'consNSU' : 'distNSU' }, 'a query was interrupted')
  const outcome = { error: 'interrupted', durationMs: Math.max(0, line.askedMsAgo ?? 0) } as const
  await inCapture(ctx, async (ctx) => {
    if (!askedForGap) {
      await settle(ctx, line, { kind: 'distNSU', holder: null }, outcome)
      return
    }
    const position = (await findPosition(ctx, line)) ?? line.lastNsu
    const { waitMs } = await settle(ctx, line, { kind: 'consNSU', position, isMissing: true }, outcome)
    await holdLine(ctx, line, { gap_at: fromNow(waitMs) })
  })
  await releaseLine(ctx, line, null)
}
