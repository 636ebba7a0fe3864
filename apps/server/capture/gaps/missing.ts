import type { WithConfig } from '../../platform/context.ts'
import { quotaWait, wasNoteLast } from '../../sefaz/ledger.ts'
import type { CaptureLine } from '../lease.ts'
import type { Question } from '../source.ts'
import { findNote } from './notes.ts'
import { findPosition, findRest } from './positions.ts'

/** The next question for a missing position or note, in turns, and the milliseconds to wait; null: nothing is missing. In a transaction of the capture. */
export async function planMissing(
  ctx: WithConfig,
  line: Pick<CaptureLine, 'id' | 'service'>,
): Promise<{ question: Question; waitMs: number } | { question: null; waitMs: number | null }> {
  const position = await findPosition(ctx, line)
  const note = await findNote(ctx, line)
  const isNotesTurn = note?.waitMs === 0 && (position === null || !(await wasNoteLast(ctx, line)))
  const question = isNotesTurn ? { note: note.chave } : position === null ? null : { at: position }
  if (question) return { question, waitMs: await quotaWait(ctx, line) }
  const waits = [await findRest(ctx, line), note?.waitMs ?? null].filter((waitMs) => waitMs !== null)
  return { question, waitMs: waits.length > 0 ? Math.min(...waits) : null }
}
