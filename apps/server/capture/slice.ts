import { slice } from '../slice.ts'
import { captureAnnouncements } from './announcements.ts'
import { certificateMails, warnOfCertificates } from './certificate-warnings.ts'
import { completenessRoutes } from './completeness.ts'
import { followPlan } from './plan.ts'
import { captureMails, warnOfCaptures } from './warnings.ts'
import { startCaptureWatch } from './watch.ts'

// The worker and the routes of companies are in events/slice.ts, because they call events.
export const capture = slice({
  routes: completenessRoutes,
  reviews: [followPlan, warnOfCertificates, warnOfCaptures],
  mails: { ...captureMails, ...certificateMails },
  announcements: captureAnnouncements,
  loops: [startCaptureWatch],
})
