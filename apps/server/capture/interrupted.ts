import { inCapture } from '../platform/database.ts'
import { fromNow } from '../platform/jobs/claim.ts'
import { findPosition } from './gaps/positions.ts'
import { type CaptureLine, holdLine, releaseLine } from './lease.ts'
import { type AnnouncedQuery, type SettlementContext, settle } from './settlement.ts'

/** Settles a query whose process did not store the outcome: no query is sent, and the response counts as lost. */
export async function settleInterrupted(ctx: SettlementContext, line: CaptureLine): Promise<void> {
  await inCapture(ctx, async (ctx) => {
    const query = await findAsked(ctx, line)
    const { cnpj, service } = line
    ctx.log.warn({ cnpj, service, query: query.kind }, 'a query was interrupted')
    const outcome = { error: 'interrupted', durationMs: Math.max(0, line.askedMsAgo ?? 0) } as const
    const { waitMs } = await settle(ctx, line, query, outcome)
    if (query.kind !== 'distNSU') await holdLine(ctx, line, { gap_at: fromNow(waitMs) })
  })
  await releaseLine(ctx, line, null)
}

// The position is not written; the one whose turn it was then is the one whose turn it is now.
async function findAsked(ctx: SettlementContext, line: CaptureLine): Promise<AnnouncedQuery> {
  if (!line.askedForGap) return { kind: 'distNSU', holder: null }
  if (line.askedChave !== null) return { kind: 'consChNFe', chave: line.askedChave }
  return { kind: 'consNSU', position: (await findPosition(ctx, line)) ?? line.lastNsu, isMissing: true }
}
