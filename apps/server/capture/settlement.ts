import { setTimeout } from 'node:timers/promises'
import type { DistributionResponse } from '@vigia/sefaz/distribution'
import { isOfTheHost, type SefazError } from '@vigia/sefaz/error'
import { sql, type UpdateObject } from 'kysely'
import type { Arrival } from '../documents/arrival.ts'
import type { Context, WithConfig } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { fromNow } from '../platform/jobs/claim.ts'
import { LeaseLost } from '../platform/jobs/loop.ts'
import { nsuText } from '../platform/service.ts'
import type { Tables } from '../platform/tables.ts'
import { noteSilence, outageSentence } from '../sefaz/circuit.ts'
import { countFetched, isFirstSinceRestore, noteCall, type QueryOutcome, wasResponseLost } from '../sefaz/ledger.ts'
import { compareClocks } from '../sefaz/skew.ts'
import { damagedPositions, deliverLate, deliverPage, readArrivals } from './delivery.ts'
import { distributionUrl, reportResponse } from './distribution.ts'
import { closePosition, takeOut } from './gaps/positions.ts'
import { type Holder, makeWay, noteFailureOfUnproved, proveHolder } from './holder.ts'
import {
  type CaptureLine,
  consequences,
  holdCursor,
  holdLine,
  lockLine,
  releaseLine,
  withoutResponse,
} from './lease.ts'
import {
  type Decision,
  decide,
  decideSingle,
  failed,
  interrupted,
  isProof,
  mayBeOfTheCertificate,
  type NsuRange,
} from './rules.ts'

export type SettlementContext = Pick<Context, 'db' | 'config' | 'log'>

/** A query that was recorded: for the page after the cursor, for one position, or for one note. */
export type AnnouncedQuery =
  /** `holder` is null when another process sent it. */
  | { kind: 'distNSU'; holder: Holder | null }
  /** `isMissing` false: the query only shows whether the service responds. */
  | { kind: 'consNSU'; position: bigint; isMissing: boolean }
  | { kind: 'consChNFe'; chave: string }

interface SettlementOptions {
  /** This process closed the connection itself, because it ends. */
  isEnding?: boolean
  /** Whether the turn is over with what was decided: then the same transaction lets the line go. */
  isLast?: (decision: Decision) => boolean
}

interface SettledQuery {
  line: CaptureLine
  /** Null: nothing changes for the line. */
  decision: Decision | null
  waitMs: number
  /** The line was let go with it. */
  released: boolean
}

interface QueryVerdict {
  decision: Decision | null
  waitMs: number
  change: UpdateObject<Tables, 'capture_line'>
  /** The positions that the query was about: those after `before` up to `after`. */
  before: bigint
  after: bigint
}

/** Writes cursor, pauses, gaps, documents, ledger and circuit of a query in one transaction. */
export async function settle(
  ctx: SettlementContext,
  line: CaptureLine,
  query: AnnouncedQuery,
  outcome: QueryOutcome,
  { isEnding = false, isLast }: SettlementOptions = {},
): Promise<SettledQuery> {
  const arrivals = outcome.response ? await readArrivals(ctx, line, documentsOf(query, outcome.response)) : []
  return inCapture(ctx, async (ctx) => {
    const verdict =
      query.kind === 'distNSU'
        ? await judgePage(ctx, line, query.holder, outcome, isEnding)
        : await judgeSingle(ctx, line, query.kind === 'consNSU' ? query.position : null, outcome, isEnding)
    const { decision, waitMs, before, after } = verdict
    const { askedAt } = await holdCursor(ctx, line, { asked_at: null, ...verdict.change })
    if (outcome.response) {
      if (query.kind === 'distNSU') await deliver(ctx, line, decision, arrivals, { before, after })
      else if (query.kind === 'consChNFe') await deliverLate(ctx, line, arrivals)
      else if (query.isMissing) await fill(ctx, line, query.position, outcome.response, arrivals)
    }
    await noteCall(ctx, line, {
      query: query.kind,
      chave: query.kind === 'consChNFe' ? query.chave : null,
      before,
      after,
      passedFrom: decision?.passed?.from ?? null,
      outcome,
    })
    const released = decision !== null && isLast?.(decision) === true
    if (released) await releaseLine(ctx, line, null)
    // Last, because all lines share the rows of the service.
    if (outcome.response) {
      await reportResponse(ctx, line.service, outcome.response)
      await compareClocks(ctx, line.service, askedAt, outcome.response.dhResp)
    }
    return { line: query.kind === 'distNSU' ? movedTo(line, decision) : line, decision, waitMs, released }
  })
}

function movedTo(line: CaptureLine, decision: Decision | null): CaptureLine {
  if (!decision) return line
  return {
    ...line,
    lastNsu: decision.lastNsu ?? line.lastNsu,
    maxNsu: decision.maxNsu ?? line.maxNsu,
    state: decision.state,
    failures: decision.failures,
    recent: line.recent || decision.succeeded === true,
  }
}

// The documents of a response that are to be delivered. One about one position need not name it.
function documentsOf(
  query: AnnouncedQuery,
  { cStat, documents }: DistributionResponse,
): DistributionResponse['documents'] {
  if (query.kind === 'distNSU') return documents
  if (query.kind === 'consChNFe') return isFound(cStat) ? documents : []
  if (!query.isMissing || !isFound(cStat)) return []
  return documents.map((document) => ({ ...document, nsu: document.nsu ?? nsuText(query.position) }))
}

const isFound = (cStat: number) => cStat === 138 || cStat === 137

async function judgePage(
  ctx: SettlementContext,
  line: CaptureLine,
  holder: Holder | null,
  outcome: QueryOutcome,
  isEnding: boolean,
): Promise<QueryVerdict> {
  const { response, error, durationMs } = outcome
  const { sefaz } = ctx.config
  let decision: Decision
  let change: UpdateObject<Tables, 'capture_line'>
  if (response) {
    decision = await judgeResponse(ctx, line, holder, response)
    change = {
      last_nsu: decision.lastNsu ?? line.lastNsu,
      max_nsu: decision.maxNsu ?? line.maxNsu,
      ...consequences(decision),
      ...(decision.succeeded ? { last_success_at: sql<Date>`now()` } : {}),
    }
  } else {
    const standing = { ...line, responseLost: await wasResponseLost(ctx, line) }
    if (error === 'interrupted') decision = interrupted(standing, durationMs, sefaz)
    else {
      const silence = failed(error, standing, sefaz)
      // Closing the connection because this process ends says nothing about the service, nor about the certificate.
      decision = isEnding || !holder ? silence : await judgeFailure(ctx, line, holder, error, silence)
    }
    change = withoutResponse(decision)
  }
  const after = response ? (decision.lastNsu ?? line.lastNsu) : line.lastNsu
  return { decision, waitMs: decision.allowedInMs, change, before: line.lastNsu, after }
}

async function judgeResponse(
  ctx: SettlementContext,
  line: CaptureLine,
  holder: Holder | null,
  response: DistributionResponse,
): Promise<Decision> {
  const isBlock = response.cStat === 656
  const responseLost = isBlock && (await wasResponseLost(ctx, line))
  const mayBeCopy = isBlock && (await isFirstSinceRestore(ctx, line))
  const decided = decide(response, { ...line, responseLost, mayBeCopy }, ctx.config.sefaz)
  if (!holder) return decided
  const decision = decided.certificateRefused ? await makeWay(ctx, line, holder, decided) : decided
  if (isProof(response)) await proveHolder(ctx, line, holder)
  return decision
}

async function judgeFailure(
  ctx: SettlementContext,
  line: CaptureLine,
  holder: Holder,
  error: SefazError,
  silence: Decision,
): Promise<Decision> {
  const decision = mayBeOfTheCertificate(error) ? await makeWay(ctx, line, holder, silence) : silence
  if (!holder.proved) await noteFailureOfUnproved(ctx, line, holder, silence.message)
  // A failure that only an unproved certificate met may be provoked by its owner: it does not count as an outage for all.
  if (isOfTheHost(error) && mayBeOfTheCertificate(error) && !holder.proved) return decision
  // Locks the line before the row of its service, as all code does that locks both.
  await lockLine(ctx, line)
  const outage = await noteSilence(ctx, distributionUrl(ctx, line.service), error)
  return outage ? { ...decision, message: outageSentence(outage) } : decision
}

async function judgeSingle(
  ctx: SettlementContext,
  line: CaptureLine,
  position: bigint | null,
  { response, error }: QueryOutcome,
  isEnding: boolean,
): Promise<QueryVerdict> {
  const { block, waitMs } = decideSingle(response ?? null, line, ctx.config.sefaz)
  if (error && error !== 'interrupted' && !isEnding) {
    await lockLine(ctx, line)
    await noteSilence(ctx, distributionUrl(ctx, line.service), error)
  }
  const at = position ?? line.lastNsu
  const verdict = { waitMs, before: at, after: at }
  // A line that stopped goes on when a person asks; the block only says when it may.
  if (block && line.state === 'stopped')
    return { ...verdict, decision: null, change: { allowed_at: fromNow(block.allowedInMs) } }
  return { ...verdict, decision: block, change: block ? consequences(block) : {} }
}

async function deliver(
  ctx: SettlementContext,
  line: CaptureLine,
  decision: Decision | null,
  arrivals: Arrival[],
  { before, after }: { before: bigint; after: bigint },
): Promise<void> {
  if (!decision) return
  const { pagePauseMs } = ctx.config.sefaz
  const { gap, passed } = decision
  if (gap) await noteGaps(ctx, line, [gap], decision.allowedInMs)
  if (passed) await noteGaps(ctx, line, [passed], pagePauseMs, true)
  const damaged = damagedPositions(arrivals).map((nsu) => ({ from: nsu, to: nsu }))
  if (damaged.length > 0) await noteGaps(ctx, line, damaged, pagePauseMs)
  await deliverPage(ctx, line, arrivals, { before, after, more: decision.nextPage })
}

// A document that always comes damaged is damaged at the authority. With its pauses the tenth copy comes after five days.
const fetchesMax = 10

async function fill(
  ctx: SettlementContext,
  line: CaptureLine,
  position: bigint,
  { cStat }: DistributionResponse,
  arrivals: Arrival[],
): Promise<void> {
  if (!isFound(cStat)) return
  await deliverLate(ctx, line, arrivals)
  // A response may bring another document than the one that was asked for.
  const isWhole =
    cStat === 137 || (arrivals.some(({ nsu }) => nsu === position) && damagedPositions(arrivals).length === 0)
  if (isWhole || (await countFetched(ctx, line, position)) + 1 >= fetchesMax)
    await closePosition(ctx, line, position, isWhole ? (cStat === 137 ? 'expired' : 'fetched') : 'damaged')
}

async function noteGaps(
  ctx: WithConfig,
  line: CaptureLine,
  gaps: NsuRange[],
  waitMs: number,
  passed = false,
): Promise<void> {
  // A document that came damaged with an NSU beyond the cursor may be missing already.
  for (const { from, to } of gaps) {
    await sql`
      delete from capture_gap where line_id = ${line.id} and from_nsu >= ${from} and to_nsu <= ${to}`.execute(ctx.db)
    await takeOut(ctx, line, { from, to }, passed)
  }
  // Positions inside a larger gap stay part of it.
  await sql`
    insert into capture_gap (line_id, from_nsu, to_nsu, passed)
    select ${line.id}, n.from_nsu, n.to_nsu, ${passed}
      from unnest(${gaps.map(({ from }) => from)}::bigint[], ${gaps.map(({ to }) => to)}::bigint[]) n (from_nsu, to_nsu)
     where not exists (select 1 from capture_gap g
                        where g.line_id = ${line.id} and not g.lost and g.passed <= ${passed}::boolean
                          and g.from_nsu <= n.from_nsu and g.to_nsu >= n.to_nsu)
    on conflict do nothing`.execute(ctx.db)
  // Pauses after queries last an hour at most; a turn that waits a day for a note does not hold these up.
  const hour = fromNow(ctx.config.sefaz.hourMs)
  await holdLine(ctx, line, {
    gap_at: sql<Date>`greatest(${fromNow(waitMs)}, case when gap_at is not null then least(gap_at, ${hour}) end)`,
  })
}

/** Settles a query of this process. The authority does not repeat the page, so storing is tried for half a minute. */
export async function settleSurely(
  ctx: SettlementContext & Pick<Context, 'storage'>,
  line: CaptureLine,
  query: AnnouncedQuery,
  outcome: QueryOutcome,
  { waitsMs = [200, 1_000, 5_000, 24_000], ...options }: SettlementOptions & { waitsMs?: readonly number[] } = {},
): Promise<SettledQuery> {
  for (let tries = 0; ; tries++) {
    try {
      return await settle(ctx, line, query, outcome, options)
    } catch (error) {
      ctx.storage.noteFailure(error)
      const waitMs = waitsMs[tries]
      // Also where an earlier try was committed and only its reply was lost: the lease runs out, and the capture goes on from there.
      if (error instanceof LeaseLost || waitMs === undefined) throw error
      ctx.log.error({ err: error }, 'a response could not be written; trying again')
      await setTimeout(waitMs)
    }
  }
}
