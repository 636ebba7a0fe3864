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
import { ask, connectAs, reportAnswer, reportFailure } from './query.ts'
import { decide } from './rules.ts'

/** Fetches what is missing, position by position, as far as the quota of the hour goes; then lets the line go. */
export async function refill(ctx: CaptureContext, line: Line, ca: string[], signal: AbortSignal): Promise<void> {
  const { sefaz } = ctx.config
  const holder = await findHolder(ctx, line, 'buscar documentos que faltam (consNSU)')
  let waitMs: number | null = sefaz.hourMs
  if (holder) {
    const connection = connectAs(ctx, holder, ca)
    try {
      do {
        waitMs = await fetchNext(ctx, line, connection, holder, signal)
        if (waitMs === 0) await pause(sefaz.pagePauseMs, signal)
      } while (waitMs === 0 && !signal.aborted)
    } finally {
      connection.close()
    }
  }
  await inCapture(ctx, (ctx) => holdLine(ctx, line, { gap_at: waitMs === null ? null : fromNow(waitMs) }))
  await releaseLine(ctx, line, null)
}

/** How long to wait after a single query whose answer was lost. */
export function afterLostRefill({ config }: Pick<Context, 'config'>): number {
  return config.sefaz.hourMs / 6
}

// Returns how long to wait before the next position; null: none is missing any more.
async function fetchNext(
  ctx: CaptureContext,
  line: Line,
  connection: Connection,
  holder: Holder,
  signal: AbortSignal,
): Promise<number | null> {
  const { missing, waitMs } = await inCapture(ctx, async (ctx) => ({
    missing: await findMissing(ctx, line),
    waitMs: await quotaWait(ctx, line),
  }))
  if (missing === null) return null
  if (waitMs > 0) return waitMs
  const outcome = await ask(ctx, line, holder, connection, { NSU: missing })
  // The service serves nobody now, and the line is not claimed before it does.
  if (!outcome) return 1
  const wait = await insist(ctx, () =>
    inCapture(ctx, (ctx) => settleSingle(ctx, line, { position: missing, isMissing: true }, outcome, signal)),
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
      await close(ctx, line, position, answer.cStat === 137 || !isWhole)
  }
  const waitMs = decision?.allowedInMs ?? (found ? 0 : answer ? sefaz.hourMs : afterLostRefill(ctx))
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

/** The lowest position that is missing and not known to be lost; `ctx.db` is a transaction of the capture. */
export async function findMissing({ db }: Pick<Context, 'db'>, line: Pick<Line, 'id'>): Promise<bigint | null> {
  const row = await db
    .selectFrom('capture_gap')
    .select('from_nsu')
    .where('line_id', '=', line.id)
    .where('lost', '=', false)
    .orderBy('from_nsu')
    .limit(1)
    .executeTakeFirst()
  return row?.from_nsu ?? null
}

// Takes one position out of its gap; what the authority has no more is kept on record as lost.
async function close({ db }: Pick<Context, 'db'>, line: Line, nsu: bigint, lost: boolean): Promise<void> {
  const gap = db.selectFrom('capture_gap').select('to_nsu').where('line_id', '=', line.id).where('from_nsu', '=', nsu)
  const { to_nsu } = await gap.executeTakeFirstOrThrow()
  await db.deleteFrom('capture_gap').where('line_id', '=', line.id).where('from_nsu', '=', nsu).execute()
  if (to_nsu > nsu)
    await db
      .insertInto('capture_gap')
      .values({ line_id: line.id, from_nsu: nsu + 1n, to_nsu })
      .execute()
  if (lost) await db.insertInto('capture_gap').values({ line_id: line.id, from_nsu: nsu, to_nsu: nsu, lost }).execute()
}
