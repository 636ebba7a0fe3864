import type { Context } from '../platform/context.ts'
import { startJobs } from '../platform/jobs/loop.ts'
import type { Service } from '../platform/service.ts'
import { claimBatch, postponeFailed } from './queue.ts'
import { type SendingContext, sendBatch } from './sending.ts'

// Each batch is of one author at one service; a person is waiting for most of them.
const batchesMax = 4
// Its lease ends before.
const workMs = 10 * 60_000
const idleMs = 250

/** Sends due events until disposed. `registered` is called for each registration, because its document comes by the distribution. */
export async function startManifestationWorker(
  ctx: SendingContext & Pick<Context, 'storage'>,
  { registered }: { registered: (service: Service, cnpj: string) => void | Promise<void> },
): Promise<AsyncDisposable> {
  await ctx.signer.check()
  return startJobs(
    {
      name: 'manifestation',
      claim: async () => {
        if (ctx.signer.isDown || (ctx.storage.trouble && !(await ctx.storage.prove()))) return null
        return claimBatch(ctx)
      },
      run: async (batch, signal) => {
        // A response that cannot be stored would have to be asked for again.
        if (!(await ctx.storage.prove())) return postponeFailed(ctx, batch)
        if (await sendBatch(ctx, batch, signal)) await registered(batch.service, batch.cnpj)
      },
      // Without a database the lease runs out; then events that may have been sent are sent again as the same bytes.
      postpone: (batch) => postponeFailed(ctx, batch),
      describe: ({ cnpj, service }) => ({ cnpj, service }),
      concurrency: batchesMax,
      workMs,
      idleMs,
    },
    ctx.log,
  )
}
