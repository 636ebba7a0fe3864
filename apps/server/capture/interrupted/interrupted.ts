import { sql } from 'kysely'
import { fromNow } from '../../jobs/jobs.ts'
import type { Context } from '../../platform/context.ts'
import { inCapture } from '../../platform/database.ts'
import type { ServiceCode } from '../../platform/service.ts'
import { deliverLate, readArrivals } from '../delivery.ts'
import { findPosition } from '../gaps/positions.ts'
import { type CaptureLine, holdLine, releaseLine } from '../lease.ts'
import { type AnnouncedQuery, documentsOf, type SettlementContext, settle } from '../settlement.ts'
import { forgetKept, listKept } from './kept.ts'

/**
 * Settles a query whose process did not store the outcome: no query is sent. With the response, when that was kept in a file; otherwise the
 * response counts as lost.
 */
export async function settleInterrupted(ctx: SettlementContext, line: CaptureLine): Promise<void> {
  const { cnpj, service, askedForGap, askedChave } = line
  const kept = (await listKept(ctx, line.id)).find(({ askedAt }) => askedAt === line.askedAt)
  const query = askedForGap ? (askedChave === null ? 'consNSU' : 'consChNFe') : 'distNSU'
  ctx.log.warn({ cnpj, service, query, kept: kept?.path }, 'a query was interrupted')
  const outcome = kept
    ? { response: kept.response, durationMs: kept.response.durationMs }
    : ({ error: 'interrupted', durationMs: Math.max(0, line.askedMsAgo ?? 0) } as const)
  await inCapture(ctx, async (ctx) => {
    if (!askedForGap) {
      await settle(ctx, line, { kind: 'distNSU', holder: null }, outcome)
      return
    }
    const asked = kept && kept.query.kind !== 'distNSU' ? kept.query : await guessAsked(ctx, line)
    const { waitMs } = await settle(ctx, line, asked, outcome)
    await holdLine(ctx, line, { gap_at: fromNow(waitMs) })
  })
  if (kept) await forgetKept(kept.path)
  await releaseLine(ctx, line, null)
}

// Which position it was is not written; the one whose turn it was then is the one whose turn it is now.
async function guessAsked(ctx: SettlementContext, line: CaptureLine): Promise<AnnouncedQuery> {
  if (line.askedChave !== null) return { kind: 'consChNFe', chave: line.askedChave }
  return { kind: 'consNSU', position: (await findPosition(ctx, line)) ?? line.lastNsu, isMissing: true }
}

/** Delivers the documents of kept responses whose queries were settled without them. */
export async function deliverKept(ctx: Pick<Context, 'db' | 'config' | 'log'>): Promise<void> {
  for (const { path, lineId, askedAt, query, response, ...of } of await listKept(ctx)) {
    const isOver = await inCapture(ctx, async (ctx) => {
      const line = await ctx.db
        .selectFrom('capture_line')
        .select(['id', 'cnpj', 'last_nsu as lastNsu'])
        .select(sql<ServiceCode>`service`.as('service'))
        .select((select) => select.cast<string | null>('asked_at', 'text').as('askedAt'))
        .where('id', '=', lineId)
        .forUpdate()
        .executeTakeFirst()
      // Whoever takes that line next settles it.
      if (line?.askedAt === askedAt) return false
      const isOfLine = line && (of.cnpj ?? line.cnpj) === line.cnpj && (of.service ?? line.service) === line.service
      if (isOfLine) await deliverLate(ctx, line, await readArrivals({ documents: documentsOf(query, response) }))
      return true
    })
    if (isOver) await forgetKept(path)
  }
}
