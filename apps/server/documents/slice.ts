import { slice } from '../slice.ts'
import { documentAnnouncements } from './announcements.ts'
import { forgetExports } from './export/keeping.ts'
import { readingJob } from './reading/waiting.ts'
import { writeOverdue } from './write-due.ts'

export const documents = slice({
  jobs: [readingJob],
  crons: [
    { name: 'forget-exports', everyMs: 6 * 3_600_000, run: forgetExports },
    { name: 'decide-overdue', everyMs: 3 * 60_000, run: (ctx) => writeOverdue(ctx) },
  ],
  announcements: documentAnnouncements,
})
