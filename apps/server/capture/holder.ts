import { sql } from 'kysely'
import { noneAccepted, noteCertificateAnswer } from '../companies/certificates.ts'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { serviceOf } from '../platform/service.ts'
import { type OpenedCertificate, UnreadableCertificate } from '../platform/signer/signer.ts'
import {
  type CertificateCandidate,
  type Choice,
  forgetTry,
  noteTry,
  rankCertificates,
  type Subscription,
} from '../sefaz/certificate-choice.ts'
import { type CaptureLine, lockLine } from './lease.ts'
import { type Decision, noCertificate } from './rules.ts'
import { sources } from './sources.ts'

/** The company and the certificate with which a query is sent. */
export interface Holder extends Choice {
  certificate: OpenedCertificate
}

type Purpose = 'Consultar documentos' | 'Buscar documentos que faltam' | 'Conferir o acesso'

type HolderContext = WithConfig

/** Chooses a certificate of this CNPJ's base. Null when none is valid, or all rest and no person asked: a request wakes one, once. */
export async function findHolder(
  ctx: HolderContext & Pick<Context, 'signer' | 'log'>,
  line: Pick<CaptureLine, 'id' | 'service' | 'cnpj' | 'wanted'>,
  purpose: Purpose,
): Promise<Holder | null> {
  const use = { service: sources[serviceOf(line.service)].webService, purpose }
  for (let mayWake = line.wanted; ; mayWake = false) {
    const candidates = await inCapture(ctx, (ctx) => listCandidates(ctx, line))
    const awake = candidates.filter(({ restsMs }) => restsMs <= 0)
    const woken = mayWake ? candidates[0] : undefined
    const best = purpose === asking ? (awake[0] ?? woken) : (awake.find(({ proved }) => proved) ?? awake[0])
    if (!best) return null
    const { workspaceId, certificateId } = best
    try {
      const certificate = await ctx.signer.open(workspaceId, certificateId, use)
      if (certificate) return { ...best, certificate }
    } catch (error) {
      if (!(error instanceof UnreadableCertificate)) throw error
      ctx.log.error({ err: error, workspaceId, certificateId }, 'a certificate does not open; another is used')
      await setAside(ctx, line, best)
    }
  }
}

const asking: Purpose = 'Consultar documentos'

/** Every valid certificate of a workspace whose plan lasts, best first. `ctx.db` is a transaction of the capture. */
async function listCandidates(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id' | 'cnpj'>,
): Promise<CertificateCandidate[]> {
  const { rows } = await sql<Subscription>`
    select workspace_id as "workspaceId", company_id as "companyId", proved_at is not null as proved, refused is not null as refused
      from capture_subscription where line_id = ${line.id} and not paused`.execute(db)
  return rankCertificates({ db }, line, rows)
}

/** The authority's response proves this certificate: its company may receive. `ctx.db` is a transaction of the capture. */
export async function proveHolder(ctx: WithDatabase, line: Pick<CaptureLine, 'id'>, holder: Choice): Promise<void> {
  if (holder.proved && !holder.doubted) return
  const { workspaceId, companyId, certificateId } = holder
  // Locks in the order of an upload: certificate, line, subscription.
  await noteCertificateAnswer(ctx, workspaceId, certificateId, 'accepted')
  await lockLine(ctx, line)
  await sql`
    update capture_subscription set proved_at = coalesce(proved_at, now()), refused = null, last_failure = null
     where line_id = ${line.id} and workspace_id = ${workspaceId} and company_id = ${companyId}`.execute(ctx.db)
  await forgetTry(ctx, line, holder)
}

/** Puts a certificate that was not accepted behind the others. The line rests only when there is no other. In the transaction of `ctx`. */
export async function makeWay(
  ctx: HolderContext,
  line: CaptureLine,
  holder: Holder,
  decision: Decision,
): Promise<Decision> {
  const { workspaceId, certificateId } = holder
  // Locks in the order of an upload: certificate, line, subscription. What was uploaded during this query is seen below.
  if (decision.certificateRefused) await noteCertificateAnswer(ctx, workspaceId, certificateId, 'refused')
  await lockLine(ctx, line)
  if (!decision.certificateRefused) {
    await noteTry(ctx, line, holder, 0)
    return decision
  }
  await noteTry(ctx, line, holder, decision.nextInMs === null ? 24 * ctx.config.sefaz.hourMs : decision.allowedInMs)
  await noteRefusal(ctx, line, holder, decision.message)
  return orNext(ctx, line, { ...decision, message: noneAccepted })
}

export async function noteFailureOfUnproved(
  ctx: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  { workspaceId, companyId }: Pick<Holder, 'workspaceId' | 'companyId'>,
  why: string,
): Promise<void> {
  await lockLine(ctx, line)
  await sql`
    update capture_subscription set last_failure = ${why}
     where line_id = ${line.id} and workspace_id = ${workspaceId} and company_id = ${companyId}`.execute(ctx.db)
}

export async function hasCandidates(ctx: WithDatabase, line: Pick<CaptureLine, 'id' | 'cnpj'>): Promise<boolean> {
  return (await listCandidates(ctx, line)).length > 0
}

/** Decision for a line without a usable certificate; `ctx.db` is the transaction that writes it. */
export async function withoutHolder(ctx: HolderContext, line: CaptureLine): Promise<Decision> {
  await lockLine(ctx, line)
  const candidates = await listCandidates(ctx, line)
  // A certificate may become valid; checking that sends no query.
  if (candidates.length === 0) return { ...noCertificate, nextInMs: ctx.config.sefaz.hourMs }
  return orNext(ctx, line, { ...noCertificate, message: noneAccepted })
}

// A refused certificate may be accepted later, so no line waits for ever.
async function orNext(ctx: HolderContext, line: CaptureLine, decision: Decision): Promise<Decision> {
  const { pagePauseMs } = ctx.config.sefaz
  const rests = (await listCandidates(ctx, line)).map((candidate) => candidate.restsMs)
  if (rests.some((ms) => ms <= 0))
    return { ...decision, keepsState: true, nextInMs: pagePauseMs, allowedInMs: pagePauseMs }
  return decision.nextInMs === null && rests.length > 0 ? { ...decision, nextInMs: Math.min(...rests) } : decision
}

const unreadable =
  'O certificado digital guardado não pôde ser aberto. Os documentos já guardados estão seguros; envie o certificado de novo.'

export async function setAside(
  ctx: HolderContext,
  line: Pick<CaptureLine, 'id'>,
  holder: Pick<Holder, 'workspaceId' | 'companyId' | 'certificateId'>,
): Promise<void> {
  await inCapture(ctx, async (ctx) => {
    await noteTry(ctx, line, holder, ctx.config.sefaz.hourMs)
    await noteRefusal(ctx, line, holder, unreadable)
  })
}

async function noteRefusal(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  { workspaceId, companyId }: Pick<Holder, 'workspaceId' | 'companyId'>,
  why: string,
): Promise<void> {
  await sql`
    update capture_subscription set refused = ${why}
     where line_id = ${line.id} and workspace_id = ${workspaceId} and company_id = ${companyId}`.execute(db)
}
