import { repeat } from '../platform/jobs/loop.ts'
import { operatorMails, startOperatorLetters, watchStorage } from '../platform/mail/operator.ts'
import { deleteSettledMails } from '../platform/mail/queue.ts'
import { forgetOutbox } from '../platform/mail/transport.ts'
import { slice } from '../slice.ts'
import { startBackupWorker } from './backup/worker.ts'
import { eraseDue, eraseUnused } from './deletion/deletion.ts'
import { deletionMails } from './deletion/mails.ts'
import { deletionRoutes } from './deletion/routes.ts'
import { leavingRoutes } from './export/leaving.ts'
import { exportJobs } from './export/worker.ts'
import { heldRoutes } from './held-routes.ts'
import { jobRoutes } from './jobs.ts'
import { shortenPauses } from './pauses.ts'
import { watchSigner } from './signer/watch.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

export const operations = slice({
  jobs: exportJobs,
  routes: [...deletionRoutes, ...leavingRoutes, ...heldRoutes, ...jobRoutes],
  crons: [
    { name: 'erase', everyMs: minuteMs, run: eraseDue },
    { name: 'forget-mails', everyMs: 6 * hourMs, run: deleteSettledMails },
    { name: 'forget-outbox', everyMs: 6 * hourMs, run: ({ config }) => forgetOutbox(config) },
  ],
  reviews: [eraseUnused],
  mails: { ...deletionMails, ...operatorMails },
  loops: [
    // By the clock of the process: a job of its own would wait as long as what it writes back.
    (ctx) => repeat(minuteMs, () => shortenPauses(ctx), ctx.log),
    startBackupWorker,
    startOperatorLetters,
    watchStorage,
    watchSigner,
  ],
})
