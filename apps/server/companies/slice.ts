import { accountRoutes } from '../accounts/routes.ts'
import { slice } from '../slice.ts'
import { companyAnnouncements } from './announcements.ts'
import { tidyBatches } from './batches.ts'
import { findPublicIds } from './chosen-companies.ts'
import { keyMails } from './keys/mails.ts'
import { keyRoutes } from './keys/routes.ts'
import { logoRoutes } from './routes.ts'
import { teamMails } from './team/mails.ts'
import { teamRoutes } from './team/routes.ts'

export const companies = slice({
  routes: [...accountRoutes(findPublicIds), ...logoRoutes, ...teamRoutes, ...keyRoutes],
  crons: [{ name: 'tidy-batches', everyMs: 60_000, run: tidyBatches }],
  mails: { ...teamMails, ...keyMails },
  announcements: companyAnnouncements,
})
