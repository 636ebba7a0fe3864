import { families } from '@vigia/dfe/families/all'
import { familyById } from '@vigia/dfe/families/lookup'
import { nfe } from '@vigia/dfe/families/nfe'
import { sql } from 'kysely'
import type { WithConfig } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { fromNow } from '../platform/jobs/claim.ts'
import { startJobs } from '../platform/jobs/loop.ts'
import type { Service, ServiceCode } from '../platform/service.ts'
import { addressOf, pausedServices } from '../sefaz/circuit.ts'
import { type CaptureContext, converse } from './conversation.ts'
import { copyToOthers, listSubscribers } from './delivery.ts'
import { distributionUrl } from './distribution.ts'
import { runGapTurn } from './gaps/gap-turn.ts'
import { noteWaitMs } from './gaps/notes.ts'
import { settleInterrupted } from './interrupted.ts'
import { breakLine, type CaptureLine, claimLine, readHeldLine, type Turn } from './lease.ts'
import { brokenOff } from './rules.ts'

const idleMs = 500

/** Carries out turns that are due until disposed. `received` follows each turn of NF-e for companies with a proved certificate. */
export async function startCaptureWorker(
  ctx: CaptureContext,
  { received }: { received: (workspaceId: number, companyId: number) => Promise<unknown> },
): Promise<AsyncDisposable> {
  await ctx.signer.check()
  return startJobs(
    {
      name: 'capture',
      claim: async () => ((await mayWork(ctx)) ? claimTurn(ctx) : null),
      run: async ({ line, work }, signal) => {
        await work(ctx, line, signal)
        if (work !== converse || line.service !== nfe.code) return
        const subscribers = await inCapture(ctx, (ctx) => listSubscribers(ctx, line))
        for (const { workspaceId, companyId, proved } of subscribers) if (proved) await received(workspaceId, companyId)
      },
      postpone: ({ line }) => postponeFailed(ctx, line),
      describe: ({ line: { cnpj, service } }) => ({ cnpj, service }),
      // As many as all processes together may hold.
      concurrency: ctx.config.sefaz.conversations,
      // It holds its lease anew for each page: twenty of them and what comes before, all as slow as a response may be, and a rest for the database.
      workMs: 30 * ctx.config.sefaz.answerMs + 10 * 60_000,
      idleMs,
    },
    ctx.log,
  )
}

// Begins nothing that cannot be stored, or that needs the signer while it is down.
async function mayWork({ storage, signer }: CaptureContext): Promise<boolean> {
  return !signer.isDown && (!storage.trouble || (await storage.prove()))
}

type Work = (ctx: CaptureContext, line: CaptureLine, signal: AbortSignal) => Promise<void>

const works: Readonly<Record<Exclude<Turn, 'check'>, Work>> = {
  first: converse,
  due: converse,
  gap: runGapTurn,
  copies: (ctx, line, signal) => copyToOthers(ctx, line, signal),
}

async function claimTurn(ctx: CaptureContext): Promise<{ line: CaptureLine; work: Work } | null> {
  const line = await claimLine(ctx, await listPaused(ctx))
  if (!line || line.turn === 'check') return null
  return { line, work: line.askedMsAgo === null ? works[line.turn] : settleInterrupted }
}

async function listPaused(ctx: CaptureContext): Promise<ServiceCode[]> {
  const paused = await pausedServices(ctx)
  if (paused.length === 0) return []
  return families.map(({ code }) => code).filter((service) => paused.includes(addressOf(distributionUrl(ctx, service))))
}

export async function postponeFailed(ctx: CaptureContext, line: CaptureLine): Promise<void> {
  // Pages may have been stored since it was claimed.
  const now = await readHeldLine(ctx, line)
  // A query of this turn may have reached the authority just now; one that another process left behind keeps its own age.
  if (now.askedMsAgo !== null)
    return settleInterrupted(ctx, { ...now, askedMsAgo: line.askedMsAgo === null ? 0 : now.askedMsAgo })
  const { sefaz } = ctx.config
  await breakLine(ctx, now, brokenOff(now.failures, sefaz), sefaz.hourMs / 12)
}

/** Brings the next query for a CNPJ forward as far as the rules allow, because a registered event releases a document there. */
export async function askSoon(ctx: WithConfig, service: Service, cnpj: string): Promise<void> {
  const family = familyById(service)
  const waitMs = noteWaitMs(family, ctx.config)
  await inCapture(ctx, ({ db }) =>
    sql`
      update capture_line
         set next_at = case when next_at is not null then least(next_at, greatest(now(), allowed_at)) end,
             gap_at = ${waitMs === null ? sql`gap_at` : sql`least(gap_at, ${fromNow(waitMs)})`}
       where service = ${family.code} and cnpj = ${cnpj}`.execute(db),
  )
}
