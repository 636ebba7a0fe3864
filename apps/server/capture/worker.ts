import { sql } from 'kysely'
import { readAuthorities } from '../platform/authorities.ts'
import { addressOf, pausedServices } from '../platform/circuit.ts'
import type { Context } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { keepWorking } from '../platform/keep-working.ts'
import { type Service, type ServiceCode, serviceCodes } from '../platform/service.ts'
import { type CaptureContext, converse } from './conversation.ts'
import { copyToOthers } from './delivery.ts'
import { breakLine, claimLine, LeaseLost, type Line, type Turn } from './lease.ts'
import { urlOf } from './query.ts'
import { recover } from './recovery.ts'
import { refill } from './refill.ts'
import { brokenOff } from './rules.ts'

// As many as all processes together may hold.
const conversationsMax = 8
const idleMs = 500

/** Runs the conversations that are due, until disposed; then waits for the pages under way. */
export async function startCaptureWorker(ctx: CaptureContext): Promise<AsyncDisposable> {
  const ca = await readAuthorities(ctx.config)
  return keepWorking(
    {
      claim: () => claimTurn(ctx),
      carryOut: ({ line, work }, signal) =>
        work(ctx, line, ca, signal).catch((error: unknown) => breakOff(ctx, line, error)),
      atOnce: conversationsMax,
      idleMs,
    },
    ctx.log,
  )
}

type Work = (ctx: CaptureContext, line: Line, ca: string[], signal: AbortSignal) => Promise<void>

const works: Readonly<Record<Exclude<Turn, 'check'>, Work>> = {
  due: converse,
  gap: refill,
  copies: (ctx, line, _, signal) => copyToOthers(ctx, line, signal),
}

async function claimTurn(ctx: CaptureContext): Promise<{ line: Line; work: Work } | null> {
  const line = await claimLine(ctx, await listPaused(ctx))
  if (!line || line.turn === 'check') return null
  return { line, work: line.askedMsAgo === null ? works[line.turn] : recover }
}

async function listPaused(ctx: CaptureContext): Promise<ServiceCode[]> {
  const paused = await pausedServices(ctx)
  if (paused.length === 0) return []
  return Object.values(serviceCodes).filter((service) => paused.includes(addressOf(urlOf(ctx, service))))
}

/** Ends a turn in which something of ours failed. */
export async function breakOff(ctx: CaptureContext, line: Line, error: unknown): Promise<void> {
  if (error instanceof LeaseLost) return ctx.log.warn({ cnpj: line.cnpj }, error.message)
  ctx.log.error({ err: error, cnpj: line.cnpj, service: line.service }, 'a conversation broke off')
  // A query without an answer is settled as that of a process that died.
  if (line.asking) return recover(ctx, { ...line, askedMsAgo: 0 })
  const { sefaz } = ctx.config
  await breakLine(ctx, line, brokenOff(line.failures, sefaz), sefaz.hourMs / 12)
}

/**
 * Brings the next query about a CNPJ forward as far as the authority's rules allow: something new is known to wait there. A conversation
 * that waits for a person goes on waiting.
 */
export async function askSoon(ctx: Pick<Context, 'db'>, service: Service, cnpj: string): Promise<void> {
  await inCapture(ctx, ({ db }) =>
    db
      .updateTable('capture_line')
      .set({ next_at: sql<Date>`least(next_at, greatest(now(), allowed_at))` })
      .where('service', '=', serviceCodes[service])
      .where('cnpj', '=', cnpj)
      .where('next_at', 'is not', null)
      .execute(),
  )
}
