import { askSoon } from '../capture/capture.ts'
import { companyChangeRoutes } from '../capture/company-change-routes.ts'
import { companyRoutes } from '../capture/company-routes.ts'
import { startCaptureWorker } from '../capture/turn.ts'
import { certificateJob } from '../companies/worker.ts'
import { documentRoutes } from '../documents/routes.ts'
import { slice } from '../slice.ts'
import { manifestationAnnouncements, manifestationMails } from './announcements.ts'
import { reviewAsked } from './approve.ts'
import { acknowledgePending, certificateFollowers, countRefusedCiencias, tellWithheld } from './ciencia.ts'
import { readSent } from './history.ts'
import { holdAfterSilence, markAlive, noteHold } from './hold.ts'
import { manifestationRoutes } from './routes.ts'
import { startEventWorker } from './send.ts'
import { reviewSuggestions } from './suggestions.ts'

// Capture, companies and documents may not import events. So events starts the worker of capture
// and mounts their routes and jobs, passing in what they call here.
export const events = slice({
  routes: [
    ...companyRoutes(countRefusedCiencias),
    ...companyChangeRoutes(certificateFollowers),
    ...documentRoutes(readSent),
    ...manifestationRoutes,
  ],
  jobs: [certificateJob(certificateFollowers)],
  crons: [{ name: 'mark-alive', everyMs: 60_000, run: markAlive }],
  reviews: [tellWithheld, reviewSuggestions, reviewAsked],
  mails: manifestationMails,
  announcements: manifestationAnnouncements,
  loops: [
    async (ctx) => {
      await holdAfterSilence(ctx)
      await noteHold(ctx)
      await markAlive(ctx)
      // A document that an event releases comes by the distribution.
      return startEventWorker(ctx, { registered: (service, cnpj) => askSoon(ctx, service, cnpj) })
    },
    (ctx) =>
      startCaptureWorker(ctx, {
        acknowledge: (workspaceId, companyId) => acknowledgePending(ctx, workspaceId, companyId),
      }),
  ],
})
