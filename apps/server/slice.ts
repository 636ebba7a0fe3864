import type { Writer } from './companies/topics.ts'
import type { Context } from './platform/context.ts'
import type { Handled } from './platform/http/http.ts'
import type { Cron, JobKind } from './platform/jobs/jobs.ts'
import type { MailKind } from './platform/mail/mail.ts'

/** Looks at a workspace once an hour and does what is due there; doing it twice changes nothing. */
export type Review = (ctx: Context, workspaceId: number) => Promise<void>

/** The parts that a floor declares; `api.ts` and `worker.ts` put them together. */
export interface Slice {
  routes: readonly Handled[]
  jobs: readonly JobKind[]
  crons: readonly Cron[]
  reviews: readonly Review[]
  mails: Readonly<Record<string, MailKind>>
  announcements: Readonly<Record<string, Writer>>
  /** Loops that each worker process runs by itself until disposed. */
  loops: readonly ((ctx: Context) => AsyncDisposable | Promise<AsyncDisposable>)[]
}

export function slice(parts: Partial<Slice>): Slice {
  return { routes: [], jobs: [], crons: [], reviews: [], mails: {}, announcements: {}, loops: [], ...parts }
}
