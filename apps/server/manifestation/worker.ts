import { readAuthorities } from '../platform/authorities.ts'
import { keepWorking } from '../platform/keep-working.ts'
import type { Service } from '../platform/service.ts'
import { claimBatch, postponeBroken } from './queue.ts'
import { type SendingContext, sendBatch } from './sending.ts'

// Each is one author at one service; a person is waiting for most of them.
const batchesMax = 4
const idleMs = 250

/**
 * Sends the events that are due, until disposed; then waits for the answers under way. `registered` is called when the authority has
 * registered an event: what it has to say about the document comes by the distribution.
 */
export async function startManifestationWorker(
  ctx: SendingContext,
  { registered }: { registered: (service: Service, cnpj: string) => void | Promise<void> },
): Promise<AsyncDisposable> {
  const ca = await readAuthorities(ctx.config)
  return keepWorking(
    {
      claim: () => claimBatch(ctx),
      carryOut: async (batch, signal) => {
        const { cnpj, service } = batch
        try {
          if (await sendBatch(ctx, batch, ca, signal)) await registered(service, cnpj)
        } catch (error) {
          // Without a database the lease runs out by itself; then what may have left leaves again as the same bytes.
          ctx.log.error({ err: error, cnpj, service }, 'a sending of events broke off')
          await postponeBroken(ctx, batch)
        }
      },
      atOnce: batchesMax,
      idleMs,
    },
    ctx.log,
  )
}
