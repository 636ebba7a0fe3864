import { slice } from '../slice.ts'
import { documentAnnouncements } from './announcements.ts'
import { startContentWorker } from './contents/worker.ts'
import { forgetExports } from './export/keeping.ts'
import { proveMissed } from './signatures/missed-proofs.ts'

export const documents = slice({
  crons: [{ name: 'forget-exports', everyMs: 6 * 3_600_000, run: forgetExports }],
  reviews: [proveMissed],
  announcements: documentAnnouncements,
  loops: [startContentWorker],
})
