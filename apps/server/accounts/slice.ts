import { slice } from '../slice.ts'
import { forgetOld } from './accounts.ts'
import { auditRoutes } from './audit/routes.ts'
import { contactMails, contactRoutes } from './contact/contact.ts'
import { accountMails } from './mails.ts'

export const accounts = slice({
  routes: [...contactRoutes, ...auditRoutes],
  crons: [{ name: 'forget-old', everyMs: 6 * 3_600_000, run: forgetOld }],
  mails: { ...accountMails, ...contactMails },
})
