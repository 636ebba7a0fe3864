import type { Connection } from '@vigia/sefaz/connection'
import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { fromNow } from '../platform/jobs/claim.ts'
import { afterGrace } from '../platform/jobs/loop.ts'
import { pause } from '../platform/pause.ts'
import { serviceOf } from '../platform/service.ts'
import { UnreadableCertificate } from '../platform/signer/signer.ts'
import type { QueryOutcome } from '../sefaz/ledger.ts'
import { findHolder, type Holder, setAside, withoutHolder } from './holder.ts'
import { type CaptureLine, holdLine, releaseLine } from './lease.ts'
import { ask } from './query.ts'
import { type Decision, isProof } from './rules.ts'
import { settleSurely } from './settlement.ts'

export type CaptureContext = Pick<Context, 'db' | 'config' | 'log' | 'signer' | 'storage'>

// After this many certificates other lines have their turn.
const certificatesMax = 5

/** One turn of a claimed line: pages until there is no more or the authority says stop. Another certificate is tried only after a refusal. */
export async function converse(ctx: CaptureContext, claimed: CaptureLine, signal: AbortSignal): Promise<void> {
  let line = claimed
  for (let round = 1; ; round++) {
    const holder = await findHolder(ctx, line, 'Consultar documentos')
    if (!holder) {
      return inCapture(ctx, async (ctx) => releaseLine(ctx, line, await withoutHolder(ctx, line)))
    }
    // A person's request lets one resting certificate be tried, once.
    const mayTryOthers = round < certificatesMax
    const last = await askWith(ctx, { line: { ...line, wanted: false }, holder }, mayTryOthers, signal)
    line = last.line
    if (last.released || !last.certificateRefused || !mayTryOthers || signal.aborted) {
      if (!last.released) await releaseLine(ctx, line, null)
      return
    }
    await pause(ctx.config.sefaz.pagePauseMs, signal)
  }
}

const graceMs = 10_000
// After this many pages other lines have their turn; a line with more pages goes to the end of the queue.
const pagesMax = 20

interface QueryTarget {
  line: CaptureLine
  holder: Holder
}

async function askWith(ctx: CaptureContext, asking: QueryTarget, mayTryOthers: boolean, signal: AbortSignal) {
  const connection = await openConnection(ctx, asking)
  if (!connection) return { line: asking.line, certificateRefused: true, released: false }
  // The authority has counted the query that is under way, so wait a little for its response.
  using _ = afterGrace(signal, graceMs, () => connection.close())
  // Lines that wait for their first page go before second pages of others.
  const pages = asking.line.turn === 'first' ? 1 : pagesMax
  try {
    let at = asking
    for (let page = 1; ; page++) {
      const isLast = ({ nextPage, certificateRefused }: Decision) =>
        signal.aborted || ((!nextPage || page === pages) && !(certificateRefused && mayTryOthers))
      const { decision, released, ...next } = await turnPage(ctx, at, connection, isLast, signal)
      if (released || !decision?.nextPage || page === pages || signal.aborted)
        return { line: next.line, certificateRefused: decision?.certificateRefused === true, released }
      at = next
      await pause(ctx.config.sefaz.pagePauseMs, signal)
    }
  } finally {
    connection.close()
  }
}

// Null: the stored certificate cannot be used; another one is.
async function openConnection(ctx: CaptureContext, { line, holder }: QueryTarget): Promise<Connection | null> {
  try {
    return await holder.certificate.connect()
  } catch (error) {
    if (!(error instanceof UnreadableCertificate)) throw error
    const { workspaceId, certificateId } = holder
    ctx.log.error({ err: error, workspaceId, certificateId }, 'a certificate cannot be shown; another is used')
    await setAside(ctx, line, holder)
    return null
  }
}

// `decision` null: no query was sent, because the service is down or the workspace was paused.
async function turnPage(
  ctx: CaptureContext,
  { line, holder }: QueryTarget,
  connection: Connection,
  isLast: (decision: Decision) => boolean,
  signal: AbortSignal,
): Promise<QueryTarget & { decision: Decision | null; released: boolean }> {
  const outcome = await ask(ctx, line, holder, connection, { ultNSU: line.lastNsu })
  if (!outcome) {
    // The obstacle may last a moment more.
    const soon = fromNow(ctx.config.sefaz.pagePauseMs)
    await inCapture(ctx, (ctx) =>
      holdLine(ctx, line, { next_at: sql<Date>`case when next_at is not null then greatest(next_at, ${soon}) end` }),
    )
    return { line, holder, decision: null, released: false }
  }
  const query = { kind: 'distNSU', holder } as const
  const settled = await settleSurely(ctx, line, query, outcome, { isEnding: signal.aborted, isLast })
  logPage(ctx, line, outcome)
  const isProved = outcome.response && isProof(outcome.response)
  return {
    line: settled.line,
    holder: isProved ? { ...holder, proved: true, doubted: false } : holder,
    decision: settled.decision,
    released: settled.released,
  }
}

function logPage({ log }: Pick<Context, 'log'>, line: CaptureLine, { response, error }: QueryOutcome): void {
  const about = { cnpj: line.cnpj, service: serviceOf(line.service) }
  if (response) {
    const { cStat, ultNSU, maxNSU, documents } = response
    log.info({ ...about, cStat, ultNSU, maxNSU, documents: documents.length }, 'page')
  } else if (error !== 'interrupted') {
    const { kind, status, detail } = error
    log.warn({ ...about, kind, status, detail }, 'the authority did not answer')
  }
}
