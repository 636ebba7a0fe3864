import { sql } from 'kysely'
import { listCertificates } from '../companies/certificates.ts'
import type { WithDatabase } from '../platform/context.ts'
import { enterWorkspace } from '../platform/database.ts'
import { fromNow } from '../platform/jobs/claim.ts'

/** The company and the certificate with which the authority is asked. */
export interface Choice {
  workspaceId: number
  companyId: number
  /** The certificate is proved: by its chain, or by a response of the authority. */
  proved: boolean
  uf: number
  certificateId: number
  /** The line has a recorded refusal of it, or of another certificate of its company; a response clears it. */
  doubted: boolean
}

type Tried = Pick<Choice, 'workspaceId' | 'certificateId'>

/** A company that receives what a line captures; `refused`: one of its certificates was. */
export type Subscription = Pick<Choice, 'workspaceId' | 'companyId' | 'proved'> & { refused: boolean }

/** A certificate that a query for the line may show. */
export interface CertificateCandidate extends Choice {
  refusedLately: boolean
  validTo: Date
  /** When a query with it last got no response. */
  triedAt: Date | null
  /** Whether `triedAt` is within the last day. */
  triedLately: boolean
  /** Milliseconds until it may be used again; 0 or less: now. */
  restsMs: number
}

/**
 * Every valid certificate of the companies of `subscriptions`, best first. Unproved ones come first, because a response proves them; then the one
 * whose last query without a response is longest ago; then the one that is valid longest. Those that got no response or were refused within
 * a day come after those that were not. When an unproved one got no response within a day, all unproved ones come after all proved ones:
 * each may cost the line an hour, and anybody may upload many. `ctx.db` is a transaction of the capture.
 */
export async function rankCertificates(
  { db }: WithDatabase,
  line: { id: number; cnpj: string },
  subscriptions: readonly Subscription[],
): Promise<CertificateCandidate[]> {
  const { rows: tries } = await sql<Tried & Pick<CertificateCandidate, 'triedAt' | 'triedLately' | 'restsMs'>>`
    select workspace_id as "workspaceId", certificate_id as "certificateId", at as "triedAt", at > now() - interval '1 day' as "triedLately",
           (extract(epoch from rests_until - now()) * 1000)::float8 as "restsMs"
      from capture_refusal where line_id = ${line.id}`.execute(db)
  const found: CertificateCandidate[] = []
  for (const { refused, ...subscription } of subscriptions) {
    const { workspaceId, companyId } = subscription
    await enterWorkspace({ db }, workspaceId)
    const { rows } = await sql<{ uf: number }>`
      select uf from company where workspace_id = ${workspaceId} and id = ${companyId}`.execute(db)
    const { uf } = rows[0]!
    for (const { id, validTo, refusedLately } of await listCertificates({ db }, workspaceId, line.cnpj)) {
      const tried = tries.find((row) => row.workspaceId === workspaceId && row.certificateId === id)
      const { triedAt = null, triedLately = false, restsMs = 0 } = tried ?? {}
      const doubted = refused || tried !== undefined
      const certificate = { certificateId: id, validTo, refusedLately, triedAt, triedLately, restsMs }
      found.push({ ...subscription, uf, doubted, ...certificate })
    }
  }
  const strangerFailed = found.some(({ proved, triedLately }) => !proved && triedLately)
  const rank = ({ proved, triedLately, refusedLately }: CertificateCandidate) =>
    strangerFailed && !proved ? 2 : Number(triedLately || refusedLately)
  return found.sort(
    (a, b) =>
      rank(a) - rank(b) ||
      Number(a.proved) - Number(b.proved) ||
      (a.triedAt?.getTime() ?? 0) - (b.triedAt?.getTime() ?? 0) ||
      b.validTo.getTime() - a.validTo.getTime(),
  )
}

/** Lets a certificate rest for queries of the line: it got no response, or was not accepted. */
export async function noteTry(
  { db }: WithDatabase,
  line: { id: number },
  { workspaceId, certificateId }: Tried,
  restMs: number,
): Promise<void> {
  await sql`
    insert into capture_refusal (line_id, workspace_id, certificate_id, rests_until)
    values (${line.id}, ${workspaceId}, ${certificateId}, ${fromNow(restMs)})
    on conflict (line_id, workspace_id, certificate_id) do update
    set at = now(), rests_until = excluded.rests_until`.execute(db)
}

/** Forgets what `noteTry` noted: the authority accepted the certificate. */
export async function forgetTry({ db }: WithDatabase, line: { id: number }, tried: Tried): Promise<void> {
  await sql`
    delete from capture_refusal
     where line_id = ${line.id} and workspace_id = ${tried.workspaceId}
     and certificate_id = ${tried.certificateId}`.execute(db)
}
