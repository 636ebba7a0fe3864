import { setTimeout } from 'node:timers/promises'
import { families } from '@vigia/dfe/families/all'
import { nfe } from '@vigia/dfe/families/nfe'
import { type Connection, onlyWhile } from '@vigia/sefaz/connection'
import { UnsentError } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import { noteCertificateAnswer } from '../companies/certificates.ts'
import type { Context, WithConfig } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { fromNow } from '../platform/jobs/claim.ts'
import { afterGrace, LeaseLost, startJobs } from '../platform/jobs/loop.ts'
import { pause } from '../platform/pause.ts'
import { serviceOf } from '../platform/service.ts'
import {
  addressOf,
  mayCall,
  noteAnswer,
  noteFailure,
  noteSilence,
  outageSentence,
  pausedServices,
} from '../sefaz/circuit.ts'
import { countFetched, isFirstSinceRestore, noteCall, wasResponseLost } from '../sefaz/ledger.ts'
import { compareClocks } from '../sefaz/skew.ts'
import { findCertificate, type Holder, listRests, noteCertificateOnLine, setAside } from './certificate.ts'
import { decide, decideWithoutCertificate, verdictOn } from './decide.ts'
import { copyToOthers, damagedPositions, deliverLate, deliverPage, listSubscribers, readArrivals } from './delivery.ts'
import { closePosition, findGap, noteGap, planMissing } from './gaps/positions.ts'
import {
  type CaptureLine,
  changeLine,
  claimLine,
  columnsOf,
  lockAtCursor,
  lockHeldLine,
  lockLine,
  releaseLine,
  writeQuestion,
} from './lease.ts'
import type { Decision, Situation } from './situation.ts'
import type { Answer, Lost, Question } from './source.ts'
import { callOf, distributionUrl } from './sources/call.ts'
import { interrupted, ourFault } from './sources/lost.ts'
import { sources } from './sources.ts'

// The way of a page from the claim of its line to the commit: docs/architecture.md.

export type CaptureContext = Pick<Context, 'db' | 'config' | 'log' | 'signer' | 'storage'>

/** A held line and what is to be asked about it. */
interface Turn {
  line: CaptureLine
  question: Question
}

const idleMs = 500
// After this many certificates, or questions, other lines have their turn; a line with more pages goes to the end of the queue.
const certificatesMax = 5
const questionsMax = 20
const graceMs = 10_000

/** Runs due turns until disposed. `acknowledge`: after each first or due turn of NF-e, for each proved company. */
export async function startCaptureWorker(
  ctx: CaptureContext,
  { acknowledge }: { acknowledge: (workspaceId: number, companyId: number) => Promise<unknown> },
): Promise<AsyncDisposable> {
  await ctx.signer.check()
  return startJobs(
    {
      name: 'capture',
      claim: async () => {
        // Nothing begins that cannot be stored, or that needs the signer while it is down.
        if (ctx.signer.isDown || (ctx.storage.trouble && !(await ctx.storage.prove()))) return null
        const paused = await pausedServices(ctx)
        const isPaused = ({ code }: (typeof families)[number]) => paused.includes(addressOf(distributionUrl(ctx, code)))
        return claimLine(ctx, paused.length === 0 ? [] : families.filter(isPaused).map(({ code }) => code))
      },
      run: async (line, signal) => {
        await runTurn(ctx, line, signal)
        const wasForPages = line.asked === null && (line.turn === 'first' || line.turn === 'due')
        if (!wasForPages || line.service !== nfe.code) return
        const subscribers = await inCapture(ctx, (ctx) => listSubscribers(ctx, line))
        for (const { workspaceId, companyId, proved } of subscribers)
          if (proved) await acknowledge(workspaceId, companyId)
      },
      postpone: (line) => breakTurn(ctx, line),
      describe: ({ cnpj, service }) => ({ cnpj, service }),
      // As many as all processes together may hold.
      concurrency: ctx.config.sefaz.conversations,
      idleMs,
    },
    ctx.log,
  )
}

/** One turn of a claimed line: asks, decides and writes until there is no more or the authority says stop, and releases the line. */
export async function runTurn(ctx: CaptureContext, line: CaptureLine, signal: AbortSignal): Promise<void> {
  if (line.asked) return settleInterrupted(ctx, line)
  if (line.turn === 'copies') return copyToOthers(ctx, line, signal)
  const question = line.turn === 'gap' ? await planGap(ctx, line) : { after: line.lastNsu }
  if (!question) return
  let connection: Connection | null = null
  // The authority has counted the query that is under way, so wait a little for its response.
  using _ = afterGrace(signal, graceMs, () => connection?.close())
  // Lines that wait for their first page go before second pages of others.
  const most = line.turn === 'first' ? 1 : questionsMax
  let [certificates, questions] = [0, 0]
  try {
    let at: Settled = { line, question, holder: null, next: 'nextCertificate' }
    while (at.next !== 'done') {
      if (certificates > 0) await pause(ctx.config.sefaz.pagePauseMs, signal)
      if (signal.aborted) return await releaseLine(ctx, at.line)
      if (at.next === 'nextCertificate') {
        connection?.close()
        const purpose = 'after' in at.question ? 'Consultar documentos' : 'Buscar documentos que faltam'
        const holder: Holder | null = await findCertificate(ctx, at.line, purpose)
        if (!holder) return await releaseWithoutCertificate(ctx, at)
        // A person's request lets one resting certificate be tried, once.
        at = { ...at, line: { ...at.line, wanted: false }, holder }
        certificates++
        questions = 0
        connection = await openConnection(ctx, at.line, holder)
        if (!connection) continue
      }
      const answer = await ask(ctx, at, at.holder!, connection!)
      if (!answer) return await releaseUnasked(ctx, at)
      logAnswer(ctx, at.line, answer)
      questions++
      at = await settleSurely(ctx, at, answer, {
        holder: at.holder,
        isEnding: signal.aborted,
        mayTryOther: certificates < certificatesMax && !signal.aborted,
        mayAskMore: questions < most && !signal.aborted,
      })
    }
  } finally {
    connection?.close()
  }
}

// Returns the next question for something missing, if the quota allows it now. Null: the line is released.
async function planGap(ctx: CaptureContext, line: CaptureLine): Promise<Question | null> {
  return inCapture(ctx, async (ctx) => {
    // Locks the line, so that `askSoon` either waits for this release or its event is seen below.
    await lockLine(ctx, line)
    const { question, waitMs } = await planMissing(ctx, line)
    if (question && waitMs === 0) return question
    await releaseLine(ctx, line, { gap_at: waitMs === null ? null : fromNow(waitMs) })
    return null
  })
}

async function releaseWithoutCertificate(ctx: CaptureContext, { line, question }: Turn): Promise<void> {
  const { sefaz } = ctx.config
  if (!('after' in question)) return releaseLine(ctx, line, { gap_at: fromNow(sefaz.hourMs) })
  await inCapture(ctx, async (ctx) => {
    // Locks the line first, so that a certificate uploaded meanwhile is in the list below.
    const now = await lockHeldLine(ctx, line)
    const rests = await listRests(ctx, line)
    await releaseLine(ctx, line, columnsOf(decideWithoutCertificate(now, rests, sefaz)))
  })
}

async function releaseUnasked(ctx: CaptureContext, { line, question }: Turn): Promise<void> {
  const soon = fromNow(ctx.config.sefaz.pagePauseMs)
  const later = sql<Date>`case when next_at is not null then greatest(next_at, ${soon}) end`
  await releaseLine(ctx, line, 'after' in question ? { next_at: later } : { gap_at: soon })
}

// Null: the stored certificate cannot be used; another one is.
async function openConnection(ctx: CaptureContext, line: CaptureLine, holder: Holder): Promise<Connection | null> {
  try {
    return await holder.certificate.connect()
  } catch (error) {
    await setAside(ctx, line, holder, error)
    return null
  }
}

/** For whom is asked; without workspace the certificate is a file of who asks. */
type Asking = Pick<Holder, 'uf'> & { workspaceId?: number | null; companyId?: number | null }

/**
 * Commits that the question leaves, then sends it. Null when nothing left: storing fails, the plan or the circuit
 * pauses it (`inOutage` ignores the circuit), or too little of the lease is left.
 */
export async function ask(
  ctx: Pick<Context, 'db' | 'config' | 'storage'>,
  { line, question }: Turn,
  holder: Asking,
  connection: Connection,
  { inOutage = false } = {},
): Promise<Answer | null> {
  const { sefaz } = ctx.config
  // The query leaves only while our lease still covers its answer. Else a stall lets another process
  // take the line, and both ask. `performance.now()` stops while a virtual machine is suspended.
  const lastsUntil = Date.now() + line.leaseMs - sefaz.answerMs
  if (!(await ctx.storage.prove()) || !(await noteQuestion(ctx, { line, question }, holder, inOutage))) return null
  const inTime = onlyWhile(connection, () => Date.now() < lastsUntil)
  try {
    const subject = { url: distributionUrl(ctx, line.service), tpAmb: sefaz.tpAmb, uf: holder.uf, cnpj: line.cnpj }
    return await sources[serviceOf(line.service)].ask(inTime, subject, question)
  } catch (error) {
    if (!(error instanceof UnsentError)) throw error
    await inCapture(ctx, (ctx) => changeLine(ctx, line, { asked_at: null, asked: null }))
    return null
  }
}

/** Commits that a question leaves now. False: it may not. */
export async function noteQuestion(
  ctx: WithConfig,
  { line, question }: Turn,
  { workspaceId = null, companyId = null }: Pick<Asking, 'workspaceId' | 'companyId'>,
  inOutage = false,
): Promise<boolean> {
  return inCapture(ctx, async (ctx) => {
    // Locks the line before the row of its service, as all code does that locks both.
    await lockAtCursor(ctx, line)
    const { rows: paused } = await sql`
      select from capture_subscription
       where line_id = ${line.id} and workspace_id = ${workspaceId} and company_id = ${companyId} and paused`.execute(
      ctx.db,
    )
    if (paused.length > 0 || !(inOutage || (await mayCall(ctx, distributionUrl(ctx, line.service))))) return false
    const now = sql<Date>`now()`
    const { query, about } = writeQuestion(question)
    // A gap question is due at once: after a crash a gap turn settles it. A page is due by `next_at`.
    await changeLine(ctx, line, { asked_at: now, asked: `${query} ${about}`, ...(query !== 'page' && { gap_at: now }) })
    return true
  })
}

interface SettleOptions {
  /** Certificate that was shown; null: an ended process chose it, or nothing is noted about it. */
  holder: Holder | null
  isEnding: boolean
  mayTryOther: boolean
  mayAskMore: boolean
}

/** A question that is settled, and the next one. With `done` the line is released. */
interface Settled extends Turn {
  holder: Holder | null
  next: Decision['next']
}

/** Settles a question of this process. The authority does not repeat the page, so storing is tried for half a minute. */
export async function settleSurely(
  ctx: Pick<Context, 'db' | 'config' | 'log' | 'storage'>,
  turn: Turn,
  answer: Answer,
  options: SettleOptions,
  waitsMs: readonly number[] = [200, 1_000, 5_000, 24_000],
): Promise<Settled> {
  for (let tries = 0; ; tries++) {
    try {
      return await settle(ctx, turn, answer, options)
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

const over: SettleOptions = { holder: null, isEnding: false, mayTryOther: false, mayAskMore: false }

/** Decides after a response or its loss, and writes in one transaction all that follows, with the end of the turn. */
export async function settle(
  ctx: Pick<Context, 'db' | 'config' | 'log'>,
  turn: Turn,
  answer: Answer,
  options: SettleOptions = over,
): Promise<Settled> {
  const { line, question } = turn
  const arrivals = answer.kind === 'lost' ? [] : await readArrivals(ctx, line, question, answer.documents)
  return inCapture(ctx, async (ctx) => {
    // A question for something missing says nothing of the certificate.
    const holder = 'after' in question ? options.holder : null
    const said = verdictOn({ certificate: holder, isEnding: options.isEnding }, answer)
    // Locks in the order of an upload: certificate, line, subscription.
    if (holder && said) await noteCertificateAnswer(ctx, holder.workspaceId, holder.certificateId, said)
    const now = await lockAtCursor(ctx, line)
    const isPage = 'after' in question
    const isBlock = answer.kind === 'pause' && answer.whom === 'line'
    const isMissing = 'at' in question && (await findGap(ctx, line, question.at)) !== null
    const situation: Situation = {
      ...options,
      line: now,
      rhythm: ctx.config.sefaz,
      lossBefore: isPage && (isBlock || answer.kind === 'lost') && (await wasResponseLost(ctx, line)),
      mayBeCopy: isPage && isBlock && (await isFirstSinceRestore(ctx, line)),
      certificate: holder,
      others: said === 'refused' ? await listRests(ctx, line, holder) : [],
      arrived: arrivals.map(({ nsu }) => nsu),
      damaged: damagedPositions(arrivals),
      fetchedBefore: isMissing ? await countFetched(ctx, line, question.at) : null,
    }
    const decision = decide(situation, question, answer, Math.random)
    const { certificate, service, next } = decision
    const url = distributionUrl(ctx, line.service)
    const outage = service === 'failed' ? await noteSilence(ctx, url, (answer as Lost).error!) : null
    await changeLine(ctx, line, {
      asked_at: null,
      asked: null,
      ...columnsOf(decision.line),
      ...(outage && decision.line.message !== undefined && { message: outageSentence(outage) }),
    })
    if (holder && certificate) await noteCertificateOnLine(ctx, line, holder, certificate)
    for (const gap of decision.gaps) await noteGap(ctx, line, gap)
    const lastNsu = decision.line.lastNsu ?? now.lastNsu
    if (isPage && answer.kind !== 'lost')
      await deliverPage(ctx, now, arrivals, { before: now.lastNsu, after: lastNsu, more: decision.more })
    else if ('note' in question || isMissing) await deliverLate(ctx, now, arrivals)
    if ('at' in question && decision.closes) await closePosition(ctx, line, question.at, decision.closes)
    await noteCall(ctx, line, callOf(now, question, answer, decision))
    const missing = isPage ? null : await planMissing(ctx, line)
    const goesOn = missing ? next === 'nextPage' && missing.question !== null && missing.waitMs === 0 : next !== 'done'
    if (!goesOn) await releaseLine(ctx, line, missing ? { gap_at: gapAt(missing.waitMs, decision.waitMs) } : {})
    // Rows of the service last, because all lines share them; `noteSilence` is earlier, because the line shows its
    // outage.
    if (service === 'answered') await noteAnswer(ctx, url)
    if (answer.kind !== 'lost') {
      if (typeof service === 'number') await noteFailure(ctx, url, answer.words, service)
      await compareClocks(ctx, line.service, now.asked?.sentAt ?? null, answer.respondedAt)
    }
    return {
      line: { ...now, lastNsu, wanted: line.wanted, asked: null },
      question: missing?.question ?? { after: lastNsu },
      holder: certificate?.kind === 'proved' && holder ? { ...holder, proved: true, doubted: false } : options.holder,
      next: goesOn ? next : 'done',
    }
  })
}

/** Settles a question whose process did not store the outcome: nothing is sent, and the answer counts as lost. */
export async function settleInterrupted(ctx: Pick<Context, 'db' | 'config' | 'log'>, line: CaptureLine): Promise<void> {
  const { asked, cnpj, service } = line
  if (!asked) throw new Error(`nothing was asked about line ${line.id}`)
  ctx.log.warn({ cnpj, service, query: writeQuestion(asked).query }, 'a query was interrupted')
  await settle(ctx, { line, question: asked }, interrupted(asked.msAgo))
}

/** Releases a line after an internal error. A turn for copies or gaps delays only the next of its kind. */
export async function breakTurn(ctx: Pick<Context, 'db' | 'config' | 'log'>, line: CaptureLine): Promise<void> {
  // Pages may have been stored since it was claimed.
  const now = await inCapture(ctx, (ctx) => lockHeldLine(ctx, line))
  // A query of this turn may have reached the authority just now; one that another process left behind keeps its own age.
  if (now.asked) return settleInterrupted(ctx, line.asked ? now : { ...now, asked: { ...now.asked, msAgo: 0 } })
  const later = fromNow(ctx.config.sefaz.hourMs / 12)
  if (line.turn === 'copies') return releaseLine(ctx, line, { catch_up_at: later })
  if (line.turn === 'gap') return releaseLine(ctx, line, { gap_at: sql<Date>`greatest(gap_at, ${later})` })
  const nothing = { certificate: null, others: [], arrived: [], damaged: [], fetchedBefore: null }
  const situation = { ...over, ...nothing, line: now, rhythm: ctx.config.sefaz, lossBefore: false, mayBeCopy: false }
  await releaseLine(ctx, line, columnsOf(decide(situation, { after: now.lastNsu }, ourFault, Math.random).line))
}

// Null: nothing is missing, so no gap turn.
const gapAt = (missingMs: number | null, waitMs: number) =>
  missingMs === null ? null : fromNow(Math.max(missingMs, waitMs))

function logAnswer({ log }: Pick<Context, 'log'>, line: CaptureLine, answer: Answer): void {
  const about = { cnpj: line.cnpj, service: serviceOf(line.service) }
  if (answer.kind !== 'lost') {
    const { kind, code, words, documents } = answer
    log.info({ ...about, kind, code, words, documents: documents.length }, 'page')
  } else if (answer.error) {
    const { kind, status, detail } = answer.error
    log.warn({ ...about, kind, status, detail }, 'the authority did not answer')
  }
}
