import { slice } from '../slice.ts'
import { documentAnnouncements } from './announcements.ts'
import { contentJob, reviewContents } from './contents/following.ts'
import { decideOverdue } from './decide-due.ts'
import { forgetExports } from './export/keeping.ts'
import { proveMissed } from './signatures/missed-proofs.ts'

export const documents = slice({
  jobs: [contentJob],
  crons: [
    { name: 'forget-exports', everyMs: 6 * 3_600_000, run: forgetExports },
    { name: 'decide-overdue', everyMs: 3 * 60_000, run: (ctx) => decideOverdue(ctx) },
  ],
  reviews: [proveMissed, reviewContents],
  announcements: documentAnnouncements,
})
