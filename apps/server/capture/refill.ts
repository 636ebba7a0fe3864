import type { Connection } from '@vigia/sefaz/connection'
import type { DistributionAnswer } from '@vigia/sefaz/distribution'
import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { pause } from '../platform/pause.ts'
import { nsuText } from '../platform/service.ts'
import { type CaptureContext, insist } from './conversation.ts'
import { damagedPositions, deliverLate, readArrivals } from './delivery.ts'
import { findHolder, type Holder } from './holder.ts'
import { consequences, fromNow, holdLine, type Line, releaseLine } from './lease.ts'
import { noteCall, type Outcome, quotaWait } from './ledger.ts'
import { close, findMissing, findRest } from './missing.ts'
import { ask, connectAs, reportAnswer, reportFailure } from './query.ts'
import { decide } from './rules.ts'

/** Fetches what is missing, position by position, as far as the quota of the hour goes; then lets the line go. */
export async function refill(ctx: CaptureContext, line: Line, ca: string[], signal: AbortSignal): Promise<void> {
  let { waitMs } = await planNext(ctx, line)
  if (waitMs === 0) waitMs = await fetchSome(ctx, line, ca, signal)
  await inCapture(ctx, (ctx) => holdLine(ctx, line, { gap_at: waitMs === null ? null : fromNow(waitMs) }))
  await releaseLine(ctx, line, null)
}

// The position to ask for next, and in how many milliseconds; null: nothing is missing any more.
async function planNext(
  ctx: CaptureContext,
  line: Line,
): Promise<{ position: bigint; waitMs: number } | { position: null; waitMs: number | null }> {
  return inCapture(ctx, async (ctx) => {
    const position = await findMissing(ctx, line)
    if (position === null) return { position, waitMs: await findRest(ctx, line) }
    return { position, waitMs: await quotaWait(ctx, line) }
  })
}

// Returns how long to wait before the next position; null: none is missing any more.
async function fetchSome(ctx: CaptureContext, line: Line, ca: string[], signal: AbortSignal): Promise<number | null> {
  const { sefaz } = ctx.config
  const holder = await findHolder(ctx, line, 'buscar documentos que faltam (consNSU)')
  if (!holder) return sefaz.hourMs
  const connection = connectAs(ctx, holder, ca)
  try {
    for (;;) {
      const waitMs = await fetchNext(ctx, line, connection, holder, signal)
      if (waitMs !== 0) return waitMs
      await pause(sefaz.pagePauseMs, signal)
      if (signal.aborted) return 0
    }
  } finally {
    connection.close()
  }
}

/** How long to wait after a single query whose answer was lost. */
export function afterLostRefill({ config }: Pick<Context, 'config'>): number {
  return config.sefaz.hourMs / 6
}

async function fetchNext(
  ctx: CaptureContext,
  line: Line,
  connection: Connection,
  holder: Holder,
  signal: AbortSignal,
): Promise<number | null> {
  const { position, waitMs } = await planNext(ctx, line)
  if (position === null || waitMs > 0) return waitMs
  const outcome = await ask(ctx, line, holder, connection, { NSU: position })
  // The service serves nobody now, and the line is not claimed before it does.
  if (!outcome) return 1
  const wait = await insist(ctx, () =>
    inCapture(ctx, (ctx) => settleSingle(ctx, line, { position, isMissing: true }, outcome, signal)),
  )
  line.asking = false
  return wait
}

/**
 * Writes down what came of a query for one position. Returns how long to wait before the next one. `ctx.db` is a transaction of the capture.
 */
export async function settleSingle(
  ctx: Omit<CaptureContext, 'vault'>,
  line: Line,
  { position, isMissing }: { position: bigint; isMissing: boolean },
  outcome: Outcome,
  signal?: AbortSignal,
): Promise<number> {
  const { sefaz } = ctx.config
  const { answer, error } = outcome
  const decision = answer?.cStat === 656 ? blockOf(line, answer, ctx) : null
  await holdLine(ctx, line, { asked_at: null, ...(decision && consequences(decision)) })
  const found = answer?.cStat === 138 || answer?.cStat === 137
  if (found && isMissing) {
    const documents = answer.documents.map((document) => ({ ...document, nsu: document.nsu ?? nsuText(position) }))
    const arrivals = readArrivals({ documents })
    await deliverLate(ctx, line, arrivals)
    const isWhole = damagedPositions(arrivals).length === 0
    if (isWhole || (await countFetched(ctx, line, position)) + 1 >= fetchesMax)
      await close(ctx, line, position, isWhole ? (answer.cStat === 137 ? 'expired' : 'fetched') : 'damaged')
  }
  // Of the refusals only 589, the position is beyond the end, is of this one alone.
  const goesOn = !answer || answer.cStat === 589
  const waitMs = decision?.allowedInMs ?? (found ? 0 : goesOn ? afterLostRefill(ctx) : sefaz.hourMs)
  await noteCall(ctx, line, {
    query: 'consNSU',
    before: position,
    after: position,
    outcome,
    nextInMs: waitMs || sefaz.pagePauseMs,
    allowedInMs: decision?.allowedInMs,
  })
  if (answer) await reportAnswer(ctx, line.service, answer)
  // Who closes the connection because this process ends says nothing about the service.
  else if (error !== 'interrupted' && !signal?.aborted) await reportFailure(ctx, line.service, error!)
  return waitMs
}

// What comes damaged again and again is so at the authority; the quota of the hour is for what can be had.
const fetchesMax = 5

async function countFetched({ db }: Pick<Context, 'db'>, line: Pick<Line, 'id'>, position: bigint): Promise<number> {
  const { n } = await db
    .selectFrom('capture_call')
    .select(sql<number>`count(*)::int`.as('n'))
    .where('line_id', '=', line.id)
    .where('query', '=', 'consNSU')
    .where('nsu_before', '=', position)
    .where('c_stat', '=', 138)
    .executeTakeFirstOrThrow()
  return n
}

// The cursor in an answer to a single query is not that of the sequence.
function blockOf(line: Line, answer: DistributionAnswer, { config }: Pick<Context, 'config'>) {
  return decide({ ...answer, ultNSU: null }, { ...line, answerLost: false }, config.sefaz)
}
