import { sql } from 'kysely'
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
import type { CaptureLine } from './lease.ts'
import type { CertificateChange } from './situation.ts'
import { sources } from './sources.ts'

/** The company and the certificate with which a query is sent. */
export interface Holder extends Choice {
  certificate: OpenedCertificate
}

type Purpose = 'Consultar documentos' | 'Buscar documentos que faltam' | 'Conferir o acesso'

/** Chooses a certificate of this CNPJ's base. Null when none is valid, or all rest and no person asked: a request wakes one, once. */
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

export async function hasCertificates(ctx: WithDatabase, line: Pick<CaptureLine, 'id' | 'cnpj'>): Promise<boolean> {
  return (await listCandidates(ctx, line)).length > 0
}

/** For how many milliseconds each certificate of a line rests, besides `shown`; 0 or less: it may be used. `ctx.db` is a transaction of the capture. */
export async function listRests(
  ctx: WithDatabase,
  line: Pick<CaptureLine, 'id' | 'cnpj'>,
  shown: Choice | null,
): Promise<number[]> {
  const isShown = ({ workspaceId, certificateId }: Choice) =>
    workspaceId === shown?.workspaceId && certificateId === shown.certificateId
  return (await listCandidates(ctx, line)).filter((one) => !isShown(one)).map(({ restsMs }) => restsMs)
}

/** Writes what an answer said of the certificate that was shown. `ctx.db` is a transaction of the capture that holds the line. */
export async function noteCertificate(
  ctx: WithConfig,
  line: Pick<CaptureLine, 'id'>,
  holder: Choice,
  change: CertificateChange,
): Promise<void> {
  if (change.kind === 'proved') {
    await noteOf(ctx, line, holder, sql`proved_at = coalesce(proved_at, now()), refused = null, last_failure = null`)
    await forgetTry(ctx, line, holder)
  } else if (change.kind === 'refused') {
    const { restMs, why, isSilent } = change
    await noteTry(ctx, line, holder, restMs)
    await noteOf(ctx, line, holder, isSilent ? sql`refused = ${why}, last_failure = ${why}` : sql`refused = ${why}`)
  } else {
    if (change.isTried) await noteTry(ctx, line, holder, 0)
    if (change.why !== null) await noteOf(ctx, line, holder, sql`last_failure = ${change.why}`)
  }
}

async function noteOf(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  { workspaceId, companyId }: Pick<Choice, 'workspaceId' | 'companyId'>,
  change: ReturnType<typeof sql>,
): Promise<void> {
  await sql`
    update capture_subscription set ${change}
     where line_id = ${line.id} and workspace_id = ${workspaceId} and company_id = ${companyId}`.execute(db)
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
  await inCapture(ctx, (ctx) => noteCertificate(ctx, line, choice, change))
}
