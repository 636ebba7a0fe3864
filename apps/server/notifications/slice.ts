import { slice } from '../slice.ts'
import { changeRoutes, forgetChanges } from './changes/changes.ts'
import { notificationRoutes } from './history.ts'
import { lettersJob } from './letters/letters.ts'
import { letterMails } from './letters/mails.ts'
import { letterRoutes } from './letters/routes.ts'
import { forgetAnnouncements } from './notifications.ts'
import { forgetDeliveries, webhookJobs } from './webhooks/deliveries.ts'
import { webhookMails } from './webhooks/mails.ts'
import { webhookRoutes } from './webhooks/routes.ts'

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
