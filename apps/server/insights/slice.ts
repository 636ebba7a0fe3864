import { slice } from '../slice.ts'
import { alertAnnouncements, forgetNews } from './alerts/news.ts'
import { nightJob } from './alerts/night.ts'
import { alertJob, reviewAlerts } from './alerts/queue.ts'
import { alertRoutes } from './alerts/routes.ts'
import { testJob } from './alerts/trying.ts'
import { calendarRoutes } from './calendar/calendar.ts'
import { dashboardRoutes } from './dashboard/dashboard.ts'
import { freightRoutes } from './freight/routes.ts'
import { planMails } from './plans/mails.ts'
import { planRoutes } from './plans/routes.ts'
import { warnOfPlan } from './plans/warnings.ts'
import { reformRoutes } from './reform/routes.ts'
import { reportRoutes } from './reports/routes.ts'
import { supplierRoutes } from './suppliers/routes.ts'

export const insights = slice({
  routes: [
    ...reportRoutes,
    ...reformRoutes,
    ...alertRoutes,
    ...freightRoutes,
    ...supplierRoutes,
    ...dashboardRoutes,
    ...planRoutes,
    ...calendarRoutes,
  ],
  jobs: [alertJob, nightJob, testJob],
  reviews: [warnOfPlan, reviewAlerts, forgetNews],
  mails: planMails,
  announcements: alertAnnouncements,
})
