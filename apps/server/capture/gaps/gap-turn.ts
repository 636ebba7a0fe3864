import type { Connection } from '@vigia/sefaz/connection'
import { fromNow } from '../../jobs/jobs.ts'
import { inCapture } from '../../platform/database.ts'
import { pause } from '../../platform/pause.ts'
import type { CaptureContext } from '../conversation.ts'
import { findHolder, type Holder } from '../holder.ts'
import { type CaptureLine, holdLine, releaseLine } from '../lease.ts'
import { quotaWait } from '../ledger.ts'
import { ask } from '../query.ts'
import { settleSurely } from '../settlement.ts'
import { findPosition, findRest } from './positions.ts'

/** Carries out a turn that queries missing positions one by one, as far as the quota of the hour goes; then lets the line go. */
export async function runGapTurn(ctx: CaptureContext, line: CaptureLine, signal: AbortSignal): Promise<void> {
  const { waitMs } = await planNext(ctx, line)
  const restMs = waitMs === 0 ? await queryPositions(ctx, line, signal) : waitMs
  await inCapture(ctx, (ctx) => holdLine(ctx, line, { gap_at: restMs === null ? null : fromNow(restMs) }))
  await releaseLine(ctx, line, null)
}

// The position to query next, and in how many milliseconds; null: nothing is missing any more.
async function planNext(
  ctx: CaptureContext,
  line: CaptureLine,
): Promise<{ position: bigint; waitMs: number } | { position: null; waitMs: number | null }> {
  return inCapture(ctx, async (ctx) => {
    const position = await findPosition(ctx, line)
    if (position === null) return { position, waitMs: await findRest(ctx, line) }
    return { position, waitMs: await quotaWait(ctx, line) }
  })
}

// Returns how long to wait before the next position; null: none is missing any more.
async function queryPositions(ctx: CaptureContext, line: CaptureLine, signal: AbortSignal): Promise<number | null> {
  const { sefaz } = ctx.config
  const holder = await findHolder(ctx, line, 'buscar documentos que faltam (consNSU)')
  if (!holder) return sefaz.hourMs
  const connection = await holder.certificate.connect()
  try {
    for (let at = line; ; ) {
      const { waitMs, ...next } = await queryNext(ctx, at, connection, holder, signal)
      if (waitMs !== 0) return waitMs
      // A position that proved how far the authority is has moved it.
      at = next.line
      await pause(sefaz.pagePauseMs, signal)
      if (signal.aborted) return 0
    }
  } finally {
    connection.close()
  }
}

async function queryNext(
  ctx: CaptureContext,
  line: CaptureLine,
  connection: Connection,
  holder: Holder,
  signal: AbortSignal,
): Promise<{ line: CaptureLine; waitMs: number | null }> {
  const { position, waitMs } = await planNext(ctx, line)
  if (position === null || waitMs > 0) return { line, waitMs }
  const outcome = await ask(ctx, line, holder, connection, { NSU: position })
  // The service is down, and the line is not claimed before it is up again.
  if (!outcome) return { line, waitMs: 1 }
  const query = { kind: 'consNSU', position, isMissing: true } as const
  return settleSurely(ctx, line, query, outcome, { isEnding: signal.aborted })
}
