import type { CallLog } from './calls.ts'
import type { CertificationAuthority } from './certificates.ts'
import type { Clock } from './clock.ts'
import type { Faults } from './faults/faults.ts'
import type { HostMode } from './faults/host-mode.ts'
import type { NamedCompany } from './generate/generator.ts'
import type { Random } from './generate/random.ts'
import type { Ledger } from './ledger.ts'
import type { Story } from './story/story.ts'

/** Everything a call needs: one authority is one ledger, one clock, one certification authority. */
export interface Authority {
  ledger: Ledger
  clock: Clock
  certification: CertificationAuthority
  faults: Faults
  calls: CallLog
  random: Random
  /** Makes up a company and the documents of its last weeks. */
  addCompany(): Promise<NamedCompany & { documents: number }>
  story?: Story
  hourMs: number
  tpAmb: 1 | 2
  /** How long each response takes. */
  responseMs: number
  /** How long after the answer of a destinatário its XML follows. */
  xmlDelayMs: number
  /** How its hosts behave instead. */
  hostMode?: HostMode
}
