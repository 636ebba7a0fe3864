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
import { listSubscribers } from './delivery.ts'
import { distributionUrl } from './distribution.ts'
import { noteWaitMs } from './gaps/notes.ts'
import { claimLine } from './lease.ts'
import { breakTurn, type CaptureContext, runTurn } from './turn.ts'

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
      claim: async () => ((await mayWork(ctx)) ? claimLine(ctx, await listPaused(ctx)) : null),
      run: async (line, signal) => {
        await runTurn(ctx, line, signal)
        const hasAsked = line.asked === null && (line.turn === 'first' || line.turn === 'due')
        if (!hasAsked || line.service !== nfe.code) return
        const subscribers = await inCapture(ctx, (ctx) => listSubscribers(ctx, line))
        for (const { workspaceId, companyId, proved } of subscribers) if (proved) await received(workspaceId, companyId)
      },
      postpone: (line) => breakTurn(ctx, line),
      describe: ({ cnpj, service }) => ({ cnpj, service }),
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

async function listPaused(ctx: CaptureContext): Promise<ServiceCode[]> {
  const paused = await pausedServices(ctx)
  if (paused.length === 0) return []
  return families.map(({ code }) => code).filter((service) => paused.includes(addressOf(distributionUrl(ctx, service))))
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
