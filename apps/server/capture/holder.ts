import { sql } from 'kysely'
import {
  listCertificates,
  noneAccepted,
  noteCertificateAccepted,
  noteCertificateRefused,
  openKey,
  UnreadableCertificate,
} from '../companies/companies.ts'
import type { Context } from '../platform/context.ts'
import { enterWorkspace, inCapture } from '../platform/database.ts'
import { serviceOf } from '../platform/service.ts'
import { fromNow, type Line, lockLine } from './lease.ts'
import { type Decision, noCertificate } from './rules.ts'

/** Who speaks for a CNPJ in a query. */
export interface Holder {
  workspaceId: number
  companyId: number
  /** The certificate was shown to be real before. */
  proved: boolean
  uf: number
  certificateId: number
  /** Something is written for the line against it, or against another certificate of its company, that an answer to it disproves. */
  doubted: boolean
  certificate: { key: string; certificate: string; chain: string[] }
}

/** What a certificate is taken out of the vault for, as its owner reads it. */
export type Purpose =
  | 'consultar documentos (distNSU)'
  | 'buscar documentos que faltam (consNSU)'
  | 'conferir o acesso (consNSU)'

const webServices = { nfe: 'NFeDistribuicaoDFe', cte: 'CTeDistribuicaoDFe' }

type HolderContext = Pick<Context, 'db' | 'config'>

/**
 * Of all certificates of this CNPJ, of its matriz or of another filial, in whatever workspace, the one to ask with; only its key is opened.
 * Null when none is valid any more, or all rest and nobody asked: a person's wish wakes one of them, once.
 */
export async function findHolder(
  ctx: HolderContext & Pick<Context, 'vault' | 'log'>,
  line: Pick<Line, 'id' | 'service' | 'cnpj' | 'wanted'>,
  purpose: Purpose,
): Promise<Holder | null> {
  const use = { service: webServices[serviceOf(line.service)], purpose }
  for (;;) {
    const candidates = await inCapture(ctx, (ctx) => listCandidates(ctx, line))
    const awake = candidates.filter(({ restsMs }) => restsMs <= 0)
    const woken = line.wanted ? candidates[0] : undefined
    const best = purpose === asking ? (awake[0] ?? woken) : (awake.find(({ proved }) => proved) ?? awake[0])
    if (!best) return null
    if (purpose === asking) line.wanted = false
    const { workspaceId, certificateId } = best
    try {
      const holder = await inCapture(ctx, async (ctx) => {
        await enterWorkspace(ctx, workspaceId)
        const opened = await openKey(ctx, workspaceId, certificateId, use)
        return opened && { ...best, certificate: opened.certificate }
      })
      if (holder) return holder
    } catch (error) {
      if (!(error instanceof UnreadableCertificate)) throw error
      ctx.log.error({ err: error, workspaceId, certificateId }, 'a certificate does not open; another is asked with')
      await setAside(ctx, line, best)
    }
  }
}

const asking: Purpose = 'consultar documentos (distNSU)'

/** A certificate with which a line may be asked about. */
type Candidate = Omit<Holder, 'certificate'> & {
  refusedLately: boolean
  validTo: Date
  /** When it last brought no answer. */
  triedAt: Date | null
  /** That was within a day. */
  triedLately: boolean
  /** How long it is not to be shown; 0 and less: it may be. */
  restsMs: number
}

/**
 * Every certificate that is valid now and of a workspace whose plan lasts, best first: before all others whoever has not been proved yet, because an answer of the authority
 * proves it; then the one that waited longest since it brought no answer, then the one that is valid longest. Who brought no answer or
 * was refused within a day comes after those who were not; and after everybody who is proved come all who are not, when one of them
 * brought no answer within a day: each may cost the line an hour, and anybody may bring many. `ctx.db` is a transaction of the capture.
 */
async function listCandidates({ db }: Pick<Context, 'db'>, line: Pick<Line, 'id' | 'cnpj'>): Promise<Candidate[]> {
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
  const found: Candidate[] = []
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

/** The authority answered to this certificate: its holder may receive. `ctx.db` is a transaction of the capture. */
export async function proveHolder(ctx: Pick<Context, 'db'>, line: Pick<Line, 'id'>, holder: Holder): Promise<void> {
  if (holder.proved && !holder.doubted) return
  const { workspaceId, companyId, certificateId } = holder
  // Certificate, line, subscription: in the order of whoever uploads one.
  await noteCertificateAccepted(ctx, workspaceId, certificateId)
  await lockLine(ctx, line)
  await ctx.db
    .updateTable('capture_subscription')
    .set({ proved_at: sql<Date>`coalesce(proved_at, now())`, refused: null, refused_at: null })
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
 * A certificate brought no answer, or was not accepted: it makes way for the others. Returns what follows for the line: the next one asks
 * at once, and only when there is none the line itself rests. `ctx.db` is the transaction that writes it.
 */
export async function makeWay(ctx: HolderContext, line: Line, holder: Holder, decision: Decision): Promise<Decision> {
  const { workspaceId, certificateId } = holder
  if (!decision.certificateRefused) {
    await noteTry(ctx, line, holder, 0)
    return decision
  }
  // Certificate, line, subscription: in the order of whoever uploads one.
  await noteCertificateRefused(ctx, workspaceId, certificateId)
  // What was uploaded while this query was under way is seen by what follows.
  await lockLine(ctx, line)
  await noteTry(ctx, line, holder, decision.nextInMs === null ? 24 * ctx.config.sefaz.hourMs : decision.allowedInMs)
  await noteRefusal(ctx, line, holder, decision.message)
  return orNext(ctx, line, { ...decision, message: noneAccepted })
}

/** Whether somebody has a certificate with which a line may be asked about, now or later. `ctx.db` is a transaction of the capture. */
export async function hasCandidates(ctx: Pick<Context, 'db'>, line: Pick<Line, 'id' | 'cnpj'>): Promise<boolean> {
  return (await listCandidates(ctx, line)).length > 0
}

/** What follows for a line that nobody could ask about; `ctx.db` is the transaction that writes it. */
export async function withoutHolder(ctx: HolderContext, line: Line): Promise<Decision> {
  await lockLine(ctx, line)
  const candidates = await listCandidates(ctx, line)
  return candidates.length === 0 ? noCertificate : orNext(ctx, line, { ...noCertificate, message: noneAccepted })
}

// A person may upload another certificate, and one that was refused may be accepted again: no line waits for ever.
async function orNext(ctx: HolderContext, line: Line, decision: Decision): Promise<Decision> {
  const { pagePauseMs } = ctx.config.sefaz
  const rests = (await listCandidates(ctx, line)).map((candidate) => candidate.restsMs)
  if (rests.some((ms) => ms <= 0)) return { ...decision, untold: true, nextInMs: pagePauseMs, allowedInMs: pagePauseMs }
  return decision.nextInMs === null && rests.length > 0 ? { ...decision, nextInMs: Math.min(...rests) } : decision
}

const unreadable =
  'O certificado digital guardado não pôde ser aberto. Os documentos já guardados estão seguros; envie o certificado de novo.'

/** A certificate cannot even be shown. */
export async function setAside(
  ctx: HolderContext,
  line: Pick<Line, 'id'>,
  holder: Pick<Holder, 'workspaceId' | 'companyId' | 'certificateId'>,
): Promise<void> {
  await inCapture(ctx, async (ctx) => {
    await noteTry(ctx, line, holder, ctx.config.sefaz.hourMs)
    await noteRefusal(ctx, line, holder, unreadable)
  })
}

async function noteTry(
  { db }: Pick<Context, 'db'>,
  line: Pick<Line, 'id'>,
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
  { db }: Pick<Context, 'db'>,
  line: Pick<Line, 'id'>,
  { workspaceId, companyId }: Pick<Holder, 'workspaceId' | 'companyId'>,
  why: string,
): Promise<void> {
  await db
    .updateTable('capture_subscription')
    .set({ refused: why, refused_at: sql<Date>`now()` })
    .where('line_id', '=', line.id)
    .where('workspace_id', '=', workspaceId)
    .where('company_id', '=', companyId)
    .execute()
}
