import { sql } from 'kysely'
import {
  listCertificates,
  noneAccepted,
  noteCertificateAccepted,
  noteCertificateRefused,
} from '../companies/certificates.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { enterWorkspace, inCapture } from '../platform/database.ts'
import { fromNow } from '../platform/jobs/claim.ts'
import { serviceOf } from '../platform/service.ts'
import { type OpenedCertificate, UnreadableCertificate } from '../platform/signer/signer.ts'
import { type CaptureLine, lockLine } from './lease.ts'
import { type Decision, noCertificate } from './rules.ts'

/** The company and the certificate with which a query is sent. */
export interface Holder {
  workspaceId: number
  companyId: number
  /** The certificate is proved: by its chain, or by a response of the authority. */
  proved: boolean
  uf: number
  certificateId: number
  /** The line has a recorded refusal of it, or of another certificate of its company; a response clears it. */
  doubted: boolean
  certificate: OpenedCertificate
}

/** Why a certificate is opened; its owner can read this. */
type Purpose =
  | 'consultar documentos (distNSU)'
  | 'buscar documentos que faltam (consNSU, consChNFe)'
  | 'conferir o acesso (consNSU)'

const webServices = { nfe: 'NFeDistribuicaoDFe', cte: 'CTeDistribuicaoDFe' }

type HolderContext = Pick<Context, 'db' | 'config'>

/**
 * Chooses the certificate for the next query among all of this CNPJ, of its matriz and of its filiais, in all workspaces; only its key is
 * opened. Null when none is valid, or when all rest and no person has requested a query: a request wakes one of them, once.
 */
export async function findHolder(
  ctx: HolderContext & Pick<Context, 'signer' | 'log'>,
  line: Pick<CaptureLine, 'id' | 'service' | 'cnpj' | 'wanted'>,
  purpose: Purpose,
): Promise<Holder | null> {
  const use = { service: webServices[serviceOf(line.service)], purpose }
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

const asking: Purpose = 'consultar documentos (distNSU)'

/** A certificate that a query for the line may show. */
type CertificateCandidate = Omit<Holder, 'certificate'> & {
  refusedLately: boolean
  validTo: Date
  /** When a query with it last got no response. */
  triedAt: Date | null
  /** That was within a day. */
  triedLately: boolean
  /** For how long it is not used; 0 or less: it may be used. */
  restsMs: number
}

/**
 * Every valid certificate of a workspace whose plan lasts, best first. Unproved ones come first, because a response proves them; then the one
 * whose last query without a response is longest ago; then the one that is valid longest. Those that got no response or were refused within
 * a day come after those that were not. When an unproved one got no response within a day, all unproved ones come after all proved ones:
 * each may cost the line an hour, and anybody may upload many. `ctx.db` is a transaction of the capture.
 */
async function listCandidates(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id' | 'cnpj'>,
): Promise<CertificateCandidate[]> {
  const { rows: tries } = await sql<{
    workspaceId: number
    certificateId: number
    triedAt: Date
    triedLately: boolean
    restsMs: number
  }>`
    select workspace_id as "workspaceId", certificate_id as "certificateId", at as "triedAt", at > now() - interval '1 day' as "triedLately",
           (extract(epoch from rests_until - now()) * 1000)::float8 as "restsMs"
      from capture_refusal where line_id = ${line.id}`.execute(db)
  const subscriptions = await db
    .selectFrom('capture_subscription')
    .select(['workspace_id as workspaceId', 'company_id as companyId'])
    .select(sql<boolean>`proved_at is not null`.as('proved'))
    .select(sql<boolean>`refused is not null`.as('refused'))
    .where('line_id', '=', line.id)
    .where('paused', '=', false)
    .execute()
  const found: CertificateCandidate[] = []
  for (const { refused, ...subscription } of subscriptions) {
    const { workspaceId, companyId } = subscription
    await enterWorkspace({ db }, workspaceId)
    const { uf } = await db
      .selectFrom('company')
      .select('uf')
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', companyId)
      .executeTakeFirstOrThrow()
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

/** The authority's response proves this certificate: its company may receive. `ctx.db` is a transaction of the capture. */
export async function proveHolder(
  ctx: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  holder: Omit<Holder, 'certificate'>,
): Promise<void> {
  if (holder.proved && !holder.doubted) return
  const { workspaceId, companyId, certificateId } = holder
  // Locks in the order of an upload: certificate, line, subscription.
  await noteCertificateAccepted(ctx, workspaceId, certificateId)
  await lockLine(ctx, line)
  await ctx.db
    .updateTable('capture_subscription')
    .set({ proved_at: sql<Date>`coalesce(proved_at, now())`, refused: null, last_failure: null })
    .where('line_id', '=', line.id)
    .where('workspace_id', '=', workspaceId)
    .where('company_id', '=', companyId)
    .execute()
  await ctx.db
    .deleteFrom('capture_refusal')
    .where('line_id', '=', line.id)
    .where('workspace_id', '=', workspaceId)
    .where('certificate_id', '=', certificateId)
    .execute()
}

/**
 * Puts a certificate that got no response, or was not accepted, behind the others. Returns what follows for the line: the next certificate
 * is used at once, and only when there is none the line itself rests. `ctx.db` is the transaction that writes it.
 */
export async function makeWay(
  ctx: HolderContext,
  line: CaptureLine,
  holder: Holder,
  decision: Decision,
): Promise<Decision> {
  const { workspaceId, certificateId } = holder
  // Locks in the order of an upload: certificate, line, subscription. What was uploaded during this query is seen below.
  if (decision.certificateRefused) await noteCertificateRefused(ctx, workspaceId, certificateId)
  await lockLine(ctx, line)
  if (!decision.certificateRefused) {
    await noteTry(ctx, line, holder, 0)
    return decision
  }
  await noteTry(ctx, line, holder, decision.nextInMs === null ? 24 * ctx.config.sefaz.hourMs : decision.allowedInMs)
  await noteRefusal(ctx, line, holder, decision.message)
  return orNext(ctx, line, { ...decision, message: noneAccepted })
}

/** Notes for the people of an unproved certificate why its query got no response. `ctx.db` is the transaction that writes it. */
export async function noteFailureOfUnproved(
  ctx: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  { workspaceId, companyId }: Pick<Holder, 'workspaceId' | 'companyId'>,
  why: string,
): Promise<void> {
  await lockLine(ctx, line)
  await ctx.db
    .updateTable('capture_subscription')
    .set({ last_failure: why })
    .where('line_id', '=', line.id)
    .where('workspace_id', '=', workspaceId)
    .where('company_id', '=', companyId)
    .execute()
}

/** Whether there is a certificate for queries of the line, now or later. `ctx.db` is a transaction of the capture. */
export async function hasCandidates(ctx: WithDatabase, line: Pick<CaptureLine, 'id' | 'cnpj'>): Promise<boolean> {
  return (await listCandidates(ctx, line)).length > 0
}

/** What follows for a line without a usable certificate; `ctx.db` is the transaction that writes it. */
export async function withoutHolder(ctx: HolderContext, line: CaptureLine): Promise<Decision> {
  await lockLine(ctx, line)
  const candidates = await listCandidates(ctx, line)
  // A certificate may become valid; looking asks nobody.
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

/** Lets a certificate rest that cannot even be opened. */
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

async function noteTry(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  { workspaceId, certificateId }: Pick<Holder, 'workspaceId' | 'certificateId'>,
  restMs: number,
): Promise<void> {
  await db
    .insertInto('capture_refusal')
    .values({
      line_id: line.id,
      workspace_id: workspaceId,
      certificate_id: certificateId,
      rests_until: fromNow(restMs),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['line_id', 'workspace_id', 'certificate_id'])
        .doUpdateSet({ at: sql<Date>`now()`, rests_until: fromNow(restMs) }),
    )
    .execute()
}

async function noteRefusal(
  { db }: WithDatabase,
  line: Pick<CaptureLine, 'id'>,
  { workspaceId, companyId }: Pick<Holder, 'workspaceId' | 'companyId'>,
  why: string,
): Promise<void> {
  await db
    .updateTable('capture_subscription')
    .set({ refused: why })
    .where('line_id', '=', line.id)
    .where('workspace_id', '=', workspaceId)
    .where('company_id', '=', companyId)
    .execute()
}
