import type { JobKind } from '../../platform/jobs/jobs.ts'
import { feedWebhooks, readMessage, settleDelivery } from './deliveries.ts'
import { send } from './sending.ts'

const workMs = 10 * 60_000

/** Make deliveries of what changes, and send them. */
export const webhookJobs: readonly JobKind[] = [
  { name: 'webhook-feed', concurrency: 2, workMs, run: (ctx, { workspaceId }) => feedWebhooks(ctx, workspaceId!) },
  {
    name: 'webhook',
    concurrency: 16,
    placesOfEach: 4,
    workMs,
    isHeld: true,
    run: async (ctx, job, signal) => {
      const message = await readMessage(ctx, job)
      return message && settleDelivery(ctx, job, await send(ctx, message, signal))
    },
  },
]
