import type { JobKind } from '../../platform/jobs/jobs.ts'
import { queueLetters } from './letters.ts'

/** Queues the letters of a workspace about alerts and deadlines that are due. */
export const lettersJob: JobKind = {
  name: 'letters',
  concurrency: 1,
  run: async (ctx, { workspaceId }) => {
    const now = new Date()
    const next = await queueLetters(ctx, workspaceId!, now)
    return next && { waitMs: next.getTime() - now.getTime() }
  },
}
