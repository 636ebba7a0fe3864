import { sql } from 'kysely'
import { listCertificates } from '../companies/certificates.ts'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { enterWorkspace, inCapture } from '../platform/database.ts'
import { fromNow } from '../platform/jobs/claim.ts'
import { serviceOf } from '../platform/service.ts'
import { type OpenedCertificate, UnreadableCertificate } from '../platform/signer/signer.ts'
import type { CaptureLine } from './lease.ts'
import type { CertificateChange } from './situation.ts'
import { sources } from './sources.ts'

/** The company and the certificate with which the authority is asked. */
interface Choice {
  workspaceId: number
  companyId: number
  /** The certificate is proved: by its chain, or by a response of the authority. */
  proved: boolean
  uf: number
  certificateId: number
  /** The line has a recorded refusal of it, or of another certificate of its company; a response clears it. */
  doubted: boolean
}

/** A choice whose certificate is open: with it a query is sent. */
export interface Holder extends Choice {
  certificate: OpenedCertificate
}

/** A certificate that a query for the line may show. */
interface Candidate extends Choice {
  refusedLately: boolean
  validTo: Date
  /** When a query with it last got no response. */
  triedAt: Date | null
  /** Whether `triedAt` is within the last day. */
  triedLately: boolean
  /** Milliseconds until it may be used again; 0 or less: now. */
  restsMs: number
}

type Purpose = 'Consultar documentos' | 'Buscar documentos que faltam' | 'Conferir o acesso'

/**
 * Chooses a certificate of this CNPJ's base and opens its key. Null when none is valid, or all rest
 * and no person asked: a request wakes one, once.
 */
export async function findCertificate(
  ctx: WithConfig & Pick<Context, 'signer' | 'log'>,
  line: Pick<CaptureLine, 'id' | 'service' | 'cnpj' | 'wanted'>,
  purpose: Purpose,
): Promise<Holder | null> {
  const use = { service: sources[serviceOf(line.service)].webService, purpose }
  for (let mayWake = line.wanted; ; mayWake = false) {
    const candidates = await inCapture(ctx, (ctx) => listCandidates(ctx, line))
    const awake = candidates.filter(({ restsMs }) => restsMs <= 0)
    const woken = mayWake ? candidates[0] : undefined
    const isForPages = purpose === 'Consultar documentos'
    const best = isForPages ? (awake[0] ?? woken) : (awake.find(({ proved }) => proved) ?? awake[0])
    if (!best) return null
    try {
      const certificate = await ctx.signer.open(best.workspaceId, best.certificateId, use)
      if (certificate) return { ...best, certificate }
    } catch (error) {
      await setAside(ctx, line, best, error)
    }
  }
}

/**
 * Every valid certificate of the companies that receive what a line brings, best first. Unproved ones come first, because a response proves them; then the one
 * whose last query without a response is longest ago; then the one that is valid longest. Those that got no response or were refused within
 * a day come after those that were not. When an unproved one got no response within a day, all unproved ones come after all proved ones:
 * each may cost the line an hour, and anybody may upload many. `ctx.db` is a transaction of the capture.
 */
async function listCandidates({ db }: WithDatabase, line: Pick<CaptureLine, 'id' | 'cnpj'>): Promise<Candidate[]> {
  const { rows: subscriptions } = await sql<
    Pick<Choice, 'workspaceId' | 'companyId' | 'proved'> & { refused: boolean }
  >`
    select workspace_id as "workspaceId", company_id as "companyId", proved_at is not null as proved, refused is not null as refused
      from capture_subscription where line_id = ${line.id} and not paused`.execute(db)
  const { rows: tries } = await sql<
    Pick<Candidate, 'workspaceId' | 'certificateId' | 'triedAt' | 'triedLately' | 'restsMs'>
  >`
    select workspace_id as "workspaceId", certificate_id as "certificateId", at as "triedAt", at > now() - interval '1 day' as "triedLately",
           (extract(epoch from rests_until - now()) * 1000)::float8 as "restsMs"
      from capture_refusal where line_id = ${line.id}`.execute(db)
  const untried = { triedAt: null, triedLately: false, restsMs: 0 }
  const found: Candidate[] = []
  for (const { refused, ...subscription } of subscriptions) {
    const { workspaceId, companyId } = subscription
    await enterWorkspace({ db }, workspaceId)
    const { rows } = await sql<{ uf: number }>`
      select uf from company where workspace_id = ${workspaceId} and id = ${companyId}`.execute(db)
    const { uf } = rows[0]!
    for (const { id, validTo, refusedLately } of await listCertificates({ db }, workspaceId, line.cnpj)) {
      const tried = tries.find((row) => row.workspaceId === workspaceId && row.certificateId === id)
      const doubted = refused || tried !== undefined
      found.push({ ...untried, ...tried, ...subscription, uf, certificateId: id, validTo, refusedLately, doubted })
    }
  }
  const strangerFailed = found.some(({ proved, triedLately }) => !proved && triedLately)
  const rank = ({ proved, triedLately, refusedLately }: Candidate) =>
    strangerFailed && !proved ? 2 : Number(triedLately || refusedLately)
  return found.sort(
    (a, b) =>
      rank(a) - rank(b) ||
      Number(a.proved) - Number(b.proved) ||
      (a.triedAt?.getTime() ?? 0) - (b.triedAt?.getTime() ?? 0) ||
      b.validTo.getTime() - a.validTo.getTime(),
  )
}

/** For how many milliseconds each certificate of a line rests, besides `shown`; 0 or less: it may be used. `ctx.db` is a transaction of the capture. */
export async function listRests(
  ctx: WithDatabase,
  line: Pick<CaptureLine, 'id' | 'cnpj'>,
  shown: Choice | null = null,
): Promise<number[]> {
  const isShown = ({ workspaceId, certificateId }: Choice) =>
    workspaceId === shown?.workspaceId && certificateId === shown.certificateId
  return (await listCandidates(ctx, line)).filter((one) => !isShown(one)).map(({ restsMs }) => restsMs)
}

/** Writes for this line, which `ctx.db` holds, what an answer said of the certificate shown to it. */
export async function noteCertificateOnLine(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  { workspaceId, companyId, certificateId }: Pick<Choice, 'workspaceId' | 'companyId' | 'certificateId'>,
  change: CertificateChange,
): Promise<void> {
  const noteOf = (columns: ReturnType<typeof sql>) =>
    sql`
      update capture_subscription set ${columns}
       where line_id = ${line.id} and workspace_id = ${workspaceId} and company_id = ${companyId}`.execute(db)
  if (change.kind === 'proved') {
    await noteOf(sql`proved_at = coalesce(proved_at, now()), refused = null, last_failure = null`)
    await sql`
      delete from capture_refusal
       where line_id = ${line.id} and workspace_id = ${workspaceId} and certificate_id = ${certificateId}`.execute(db)
    return
  }
  // Others go before it, and it is not shown again before it has rested.
  if (change.kind === 'refused' || change.isTried)
    await sql`
      insert into capture_refusal (line_id, workspace_id, certificate_id, rests_until)
      values (${line.id}, ${workspaceId}, ${certificateId}, ${fromNow(change.kind === 'refused' ? change.restMs : 0)})
      on conflict (line_id, workspace_id, certificate_id) do update
      set at = now(), rests_until = excluded.rests_until`.execute(db)
  const { why } = change
  if (change.kind === 'refused')
    await noteOf(change.isSilent ? sql`refused = ${why}, last_failure = ${why}` : sql`refused = ${why}`)
  else if (why !== null) await noteOf(sql`last_failure = ${why}`)
}

const unreadable =
  'O certificado digital guardado não pôde ser aberto. Os documentos já guardados estão seguros; envie o certificado de novo.'

/** Lets a certificate rest that cannot be opened; throws any other `error`. */
export async function setAside(
  ctx: WithConfig & Pick<Context, 'log'>,
  line: Pick<CaptureLine, 'id'>,
  choice: Choice,
  error: unknown,
): Promise<void> {
  if (!(error instanceof UnreadableCertificate)) throw error
  const { workspaceId, certificateId } = choice
  ctx.log.error({ err: error, workspaceId, certificateId }, 'a certificate does not open; another is used')
  const change = { kind: 'refused' as const, restMs: ctx.config.sefaz.hourMs, why: unreadable, isSilent: false }
  await inCapture(ctx, (ctx) => noteCertificateOnLine(ctx, line, choice, change))
}
