import { readAuthorities } from '../platform/authorities.ts'
import { pause } from '../platform/pause.ts'
import type { Service } from '../platform/service.ts'
import { claimBatch } from './queue.ts'
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
  const stop = new AbortController()
  const running = new Set<Promise<void>>()
  const loop = async () => {
    while (!stop.signal.aborted) {
      if (running.size >= batchesMax) {
        await Promise.race(running)
        continue
      }
      const batch = await claimBatch(ctx).catch((error: unknown) => {
        ctx.log.error({ err: error }, 'no events could be claimed')
        return null
      })
      if (!batch) {
        await pause(idleMs, stop.signal)
        continue
      }
      const { cnpj, service } = batch
      const turn: Promise<void> = sendBatch(ctx, batch, ca, stop.signal)
        .then((isRegistered) => (isRegistered ? registered(service, cnpj) : undefined))
        // The lease runs out by itself; then the same bytes leave again, and the authority says what it knows of them.
        .catch((error: unknown) => ctx.log.error({ err: error, cnpj, service }, 'a sending of events broke off'))
        .finally(() => running.delete(turn))
      running.add(turn)
    }
    await Promise.all(running)
  }
  const done = loop()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await done
    },
  }
}
