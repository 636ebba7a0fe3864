import { slice } from '../slice.ts'
import { changeRoutes, forgetChanges } from './changes/changes.ts'
import { letterMails } from './letters/mails.ts'
import { letterRoutes } from './letters/routes.ts'
import { lettersJob } from './letters/worker.ts'
import { forgetAnnouncements } from './notifications.ts'
import { notificationRoutes } from './routes.ts'
import { forgetDeliveries } from './webhooks/deliveries.ts'
import { webhookMails } from './webhooks/mails.ts'
import { webhookRoutes } from './webhooks/routes.ts'
import { webhookJobs } from './webhooks/worker.ts'

const hourMs = 3_600_000

export const notifications = slice({
  routes: [...letterRoutes, ...changeRoutes, ...webhookRoutes, ...notificationRoutes],
  jobs: [lettersJob, ...webhookJobs],
  crons: [
    { name: 'forget-announcements', everyMs: 6 * hourMs, run: forgetAnnouncements },
    { name: 'forget-changes', everyMs: 6 * hourMs, run: forgetChanges },
    { name: 'forget-deliveries', everyMs: 6 * hourMs, run: forgetDeliveries },
  ],
  mails: { ...letterMails, ...webhookMails },
})
