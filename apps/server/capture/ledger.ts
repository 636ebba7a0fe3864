import type { DistributionAnswer } from '@vigia/sefaz/distribution'
import type { SefazError, SefazErrorKind } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { fromNow, type Line } from './lease.ts'
import { mayHaveBeenCounted } from './rules.ts'

/** What came of a query: an answer, or a failure, or a process that died before it could write either. */
export type Outcome =
  | { answer: DistributionAnswer; durationMs: number; error?: undefined }
  | { error: SefazError | 'interrupted'; durationMs: number; answer?: undefined }

/** A query to the authority and what came of it. */
export interface Call {
  query: 'distNSU' | 'consNSU'
  before: bigint
  after: bigint
  outcome: Outcome
  nextInMs: number | null
  /** Before this nobody may ask for the line again; absent when the call changed nothing about it. */
  allowedInMs?: number
}

const interruptedText = 'interrupted: a process ended between the query and its answer'

/** Writes a call down, answered or not. */
export async function noteCall(
  ctx: Pick<Context, 'db'>,
  line: Pick<Line, 'id'>,
  { query, before, after, outcome, nextInMs, allowedInMs }: Call,
): Promise<void> {
  const { answer, error, durationMs } = outcome
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
        duration_ms: Math.round(durationMs),
        error: error ? describe(error).slice(0, 500) : null,
        next_at: nextInMs === null ? null : fromNow(nextInMs),
        allowed_at: allowedInMs === undefined ? null : fromNow(allowedInMs),
      })
      .execute(),
  )
}

function describe(error: SefazError | 'interrupted'): string {
  return error === 'interrupted' ? interruptedText : `${error.kind}: ${error.detail ?? error.message}`
}

/** Whether a failure as the ledger keeps it is an answer lost that the authority may have counted. */
export function isLoss(written: string): boolean {
  const [, kind = '', detail] = /^([\w-]+): (.*)$/s.exec(written) ?? []
  return written === interruptedText || mayHaveBeenCounted({ kind: kind as SefazErrorKind, detail })
}

/**
 * Whether an answer was lost that the authority may have counted, since the last one that told where it stands. `ctx.db` is a transaction
 * that sees the line.
 */
export async function wasAnswerLost({ db }: Pick<Context, 'db'>, line: Pick<Line, 'id'>): Promise<boolean> {
  const { rows } = await sql<{ error: string }>`
    select error from capture_call
     where line_id = ${line.id} and query = 'distNSU' and error is not null
       and id > coalesce((select max(id) from capture_call
                           where line_id = ${line.id} and query = 'distNSU' and c_stat in (137, 138, 656)), 0)`.execute(
    db,
  )
  return rows.some(({ error }) => isLoss(error))
}

/** The authority allows twenty single queries an hour to all programs of a CNPJ together; two are left to the others. */
export const queriesAnHour = 18
// More calls than an hour has room for, pages two seconds apart included.
const callsAnHourMax = 2_000

/** How long to wait before a single query may be asked within the quota of the hour; 0: now. `ctx.db` is a transaction that sees the line. */
export async function quotaWait(
  { db, config }: Pick<Context, 'db' | 'config'>,
  line: Pick<Line, 'id'>,
): Promise<number> {
  const { hourMs, marginMs } = config.sefaz
  const { rows } = await sql<{ n: number; waitMs: number }>`
    select count(*)::int as n, coalesce(extract(epoch from min(at) - now()) * 1000 + ${hourMs}, 0)::float8 as "waitMs"
      from (select at from (select at, query from capture_call where line_id = ${line.id} order by id desc limit ${callsAnHourMax}) r
             where query = 'consNSU' and at > now() - ${hourMs} * interval '1 ms'
             order by at desc limit ${queriesAnHour}) c`.execute(db)
  const { n, waitMs } = rows[0]!
  return n < queriesAnHour ? 0 : Math.max(waitMs, 1) + marginMs / 5
}
