import type { Connection } from '@vigia/sefaz/connection'
import { inCapture } from '../../platform/database.ts'
import { fromNow } from '../../platform/jobs/claim.ts'
import { pause } from '../../platform/pause.ts'
import { quotaWait, wasNoteLast } from '../../sefaz/ledger.ts'
import type { CaptureContext } from '../conversation.ts'
import { findHolder, type Holder } from '../holder.ts'
import { type CaptureLine, holdLine, lockLine, releaseLine } from '../lease.ts'
import { ask } from '../query.ts'
import { type AnnouncedQuery, settleSurely } from '../settlement.ts'
import { findNote } from './notes.ts'
import { findPosition, findRest } from './positions.ts'

/** Carries out a turn that queries what is missing, one by one, as far as the quota of the hour goes; then lets the line go. */
export async function runGapTurn(ctx: CaptureContext, line: CaptureLine, signal: AbortSignal): Promise<void> {
  const { waitMs } = await inCapture(ctx, (ctx) => planNext(ctx, line))
  const restMs = waitMs === 0 ? await queryMissing(ctx, line, signal) : waitMs
  await inCapture(ctx, async (ctx) => {
    // An event that was registered meanwhile has its note looked for (askSoon).
    await lockLine(ctx, line)
    const leftMs = restMs ?? (await planNext(ctx, line)).waitMs
    await holdLine(ctx, line, { gap_at: leftMs === null ? null : fromNow(leftMs) })
  })
  await releaseLine(ctx, line, null)
}

type Missing = { NSU: bigint } | { chNFe: string }

/** The next missing position or note, in turns, and the milliseconds to wait; null: nothing is missing. In a transaction of the capture. */
export async function planNext(
  ctx: Pick<CaptureContext, 'db' | 'config'>,
  line: CaptureLine,
): Promise<{ query: Missing; waitMs: number } | { query: null; waitMs: number | null }> {
  const position = await findPosition(ctx, line)
  const note = await findNote(ctx, line)
  const isNotesTurn = note?.waitMs === 0 && (position === null || !(await wasNoteLast(ctx, line)))
  const query = isNotesTurn ? { chNFe: note.chave } : position === null ? null : { NSU: position }
  if (query) return { query, waitMs: await quotaWait(ctx, line) }
  const waits = [await findRest(ctx, line), note?.waitMs ?? null].filter((waitMs) => waitMs !== null)
  return { query, waitMs: waits.length > 0 ? Math.min(...waits) : null }
}

// Returns how long to wait before the next query; null: nothing is missing any more.
async function queryMissing(ctx: CaptureContext, line: CaptureLine, signal: AbortSignal): Promise<number | null> {
  const { sefaz } = ctx.config
  const holder = await findHolder(ctx, line, 'Buscar documentos que faltam')
  if (!holder) return sefaz.hourMs
  const connection = await holder.certificate.connect()
  try {
    for (;;) {
      const waitMs = await queryNext(ctx, line, connection, holder, signal)
      if (waitMs !== 0) return waitMs
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
): Promise<number | null> {
  const { query: missing, waitMs } = await inCapture(ctx, (ctx) => planNext(ctx, line))
  if (missing === null || waitMs > 0) return waitMs
  const outcome = await ask(ctx, line, holder, connection, missing)
  // The service is down, and the line is not claimed before it is up again.
  if (!outcome) return ctx.config.sefaz.pagePauseMs
  const query: AnnouncedQuery =
    'NSU' in missing
      ? { kind: 'consNSU', position: missing.NSU, isMissing: true }
      : { kind: 'consChNFe', chave: missing.chNFe }
  const settled = await settleSurely(ctx, line, query, outcome, { isEnding: signal.aborted })
  return settled.waitMs
}
