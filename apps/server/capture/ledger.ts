import type { DistributionAnswer } from '@vigia/sefaz/distribution'
import type { SefazError } from '@vigia/sefaz/error'
import type { Context } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { fromNow, type Line } from './lease.ts'

/** A query to the authority and what came of it. */
export interface Call {
  query: 'distNSU' | 'consNSU'
  before: bigint
  after: bigint
  answer?: DistributionAnswer
  error?: SefazError
  nextInMs: number | null
}

/** Writes a call down, answered or not. */
export async function noteCall(
  ctx: Pick<Context, 'db'>,
  line: Pick<Line, 'id'>,
  { query, before, after, answer, error, nextInMs }: Call,
): Promise<void> {
  await inCapture(ctx, ({ db }) =>
    db
      .insertInto('capture_call')
      .values({
        line_id: line.id,
        query,
        nsu_before: before,
        nsu_after: after,
        c_stat: answer?.cStat ?? null,
        x_motivo: answer?.xMotivo.slice(0, 500) ?? null,
        documents: answer?.documents.length ?? 0,
        bytes: answer?.bytes ?? 0,
        duration_ms: Math.round(answer?.durationMs ?? 0),
        error: error ? `${error.kind}: ${error.detail ?? error.message}`.slice(0, 500) : null,
        next_at: nextInMs === null ? null : fromNow(nextInMs),
      })
      .execute(),
  )
}
