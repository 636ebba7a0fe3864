import type { Context } from '../../platform/context.ts'
import { isDue } from '../../platform/jobs/due.ts'
import { startJobs, together } from '../../platform/jobs/loop.ts'
import {
  attemptMsMax,
  claimDelivery,
  claimFeeding,
  deliveriesAtOnce,
  dueDeliveries,
  dueFeedings,
  type FedWebhook,
  feed,
  type HeldDelivery,
  readMessage,
  releaseDelivery,
  settleDelivery,
} from './deliveries.ts'
import { send } from './sending.ts'

const idleMs = 500
// A delivery's lease ends before.
const workMs = 10 * 60_000
const afterFailureMs = 60_000

/** Makes deliveries of what changes and sends them, until disposed. */
export function startWebhookWorker(ctx: Context): AsyncDisposable {
  const feeding = startJobs<FedWebhook>(
    {
      name: 'webhook',
      mayFind: () => isDue(ctx, dueFeedings),
      claim: () => claimFeeding(ctx),
      run: (webhook) => feed(ctx, webhook),
      describe: ({ workspaceId, id }) => ({ workspaceId, webhook: id }),
      concurrency: 2,
      workMs,
      idleMs,
    },
    ctx.log,
  )
  const sending = startJobs<HeldDelivery>(
    {
      name: 'webhook delivery',
      mayFind: () => isDue(ctx, dueDeliveries),
      claim: () => claimDelivery(ctx),
      run: (held, signal) => deliver(ctx, held, signal),
      postpone: (held) => releaseDelivery(ctx, held, afterFailureMs),
      describe: ({ workspaceId, id }) => ({ workspaceId, delivery: String(id) }),
      concurrency: deliveriesAtOnce,
      workMs,
      idleMs,
    },
    ctx.log,
  )
  return together([feeding, sending])
}

/** Tries a delivery once. What the end of this process interrupted is tried again by another. */
export async function deliver(ctx: Context, held: HeldDelivery, signal: AbortSignal): Promise<void> {
  const message = await readMessage(ctx, held)
  if (!message) return
  let attempt: Awaited<ReturnType<typeof send>>
  try {
    attempt = await withinLease(send(ctx, message, signal))
  } catch (error) {
    if (!signal.aborted) throw error
    return releaseDelivery(ctx, held)
  }
  await settleDelivery(ctx, held, attempt)
}

// Whatever becomes of a connection, its place comes back while this process still holds the delivery.
async function withinLease<T>(sent: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('an attempt did not end')), attemptMsMax)
  using _ = { [Symbol.dispose]: () => clearTimeout(timer) }
  return await Promise.race([sent, late.promise])
}
