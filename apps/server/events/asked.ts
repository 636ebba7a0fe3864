import { askedMax } from '@vigia/contract/codes'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { answerOf, familyOf, keyOf } from '@vigia/dfe/families/lookup'
import { conclusive } from '@vigia/dfe/families/nfe'
import { status } from '@vigia/dfe/families/statuses'
import { sql } from 'kysely'
import { recordAudit } from '../accounts/audit/audit.ts'
import { readHiding, shownConditions } from '../companies/switches.ts'
import { eventName } from '../documents/list/rows.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Session } from '../platform/http/session.ts'
import { announce } from '../platform/outbox.ts'
import { type ServiceCode, serviceOf } from '../platform/service.ts'
import type { AskedEnding } from './announcements.ts'
import { lockRequests, replaceCiencias } from './requests.ts'
import { judge } from './rules.ts'
import { noteSettled, writeAnswers } from './settled.ts'
import { type Candidate, loadCandidates } from './subjects.ts'
import { numbersText } from './texts.ts'
import { approvedMark, areTwo, isLaterRequest, isRival, mayAnswerFor, personOf } from './two-people.ts'

export interface AskedAnswer {
  id: bigint
  documentId: bigint
  companyId: number
  company: string
  companyPublicId: string
  type: ServiceCode
  chave: string
  number: number
  issuer: string
  amount: number
  tpEvento: number
  justification: string | null
  why: string
  requestedAt: Date
  authorizedAt: Date | null
  /** The one who asks is the one who asked, or a key of theirs. */
  own: boolean
  approvable: boolean
  /** The requester may still answer for the company. */
  askerMay: boolean
  mayAnswer: boolean
  /** Another answer was asked for, or registered, after it. */
  overtaken: boolean
}

/** Answers that wait for a second person, the longest first; names only companies that the caller may see. */
export async function listAsked(
  { db }: WithDatabase,
  { workspaceId, accountId, companies }: Pick<Session, 'workspaceId' | 'accountId' | 'companies'>,
  ids?: readonly bigint[],
): Promise<{ total: number; answers: AskedAnswer[] }> {
  const conditions = [
    sql`o.workspace_id = ${workspaceId} and o.state = 'asked'`,
    ...(companies ? [sql`o.company_id = any (${companies}::int[])`] : []),
    ...(ids ? [sql`o.id = any (${ids}::bigint[])`] : []),
    ...shownConditions(await readHiding({ db }, workspaceId), 'd'),
  ]
  const { rows } = await sql<AskedAnswer & { total: number }>`
    select o.id, o.document_id as "documentId", o.company_id as "companyId", c.name as company, c.public_id as "companyPublicId", o.type, o.chave, d.number::float8 as number, s.name as issuer,
           d.amount::float8 as amount, o.tp_evento as "tpEvento", o.justification, o.why, o.requested_at as "requestedAt",
           d.authorized_at as "authorizedAt", coalesce(${personOf(workspaceId, sql`o.requested_by`)} = ${accountId}::int, false) as own,
           ${areTwo(workspaceId, sql`${accountId}::int`)} as approvable, ${mayAnswerFor(workspaceId, personOf(workspaceId, sql`o.requested_by`))} as "askerMay",
           ${mayAnswerFor(workspaceId, sql`${accountId}::int`)} as "mayAnswer",
           exists (select from outgoing_event e where ${isLaterRequest(workspaceId)})
             or exists (select from document_event e where ${isRival(workspaceId)} and e.registered_at > o.requested_at) as overtaken, count(*) over ()::int as total
      from outgoing_event o join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
      join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
      join company c on c.workspace_id = o.workspace_id and c.id = o.company_id
     where ${sql.join(conditions, sql` and `)} order by o.requested_at, o.id limit ${askedMax}`.execute(db)
  return { total: rows[0]?.total ?? 0, answers: rows }
}

export async function countAsked({ db }: WithDatabase, workspaceId: number): Promise<number> {
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from outgoing_event o join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
     where ${sql.join([sql`o.workspace_id = ${workspaceId}`, sql`o.state = 'asked'`, ...shown], sql` and `)}`.execute(
    db,
  )
  return rows[0]!.n
}

/** The last instant in which the answer may be registered; null when none is known. */
export function deadlineOf({
  type,
  chave,
  tpEvento,
  authorizedAt,
}: Pick<AskedAnswer, 'type' | 'chave' | 'tpEvento' | 'authorizedAt'>): Date | null {
  const { model } = keyOf(chave)
  return answerOf(serviceOf(type), tpEvento)?.until({ model, authorizedAt, deadlineLifted: false }) ?? null
}

const ofOwn =
  'Você mesmo pediu esta resposta, ou a pediu uma chave de API sua: quem aprova é outra pessoa. Você pode retirar o pedido.'
const notTwo =
  'Quem pediu esta resposta não pode mais responder por esta empresa. Recuse-a e peça de novo: então aprova outra pessoa.'

const notYou = 'Você não pode responder por esta empresa: aprova quem pode.'
const sameHome = 'Quem pediu esta resposta é você, com outro acesso: quem aprova é outra pessoa.'
const overtakenLater =
  'Depois deste pedido veio outra resposta para o mesmo documento. Recuse este, e peça de novo o que ainda vale.'

export function refusalOf(answer: AskedAnswer): string | null {
  if (answer.overtaken) return overtakenLater
  if (answer.own) return ofOwn
  if (!answer.mayAnswer) return notYou
  if (!answer.askerMay) return notTwo
  return answer.approvable ? null : sameHome
}

export interface AskedOutcome {
  answer: AskedAnswer
  /** Null: it was done. */
  refusal: string | null
}

/** Approves or refuses answers that wait, or takes back one's own; one that may not be sent waits on. Refuses the call for an unknown id. */
export async function decideAsked(
  { db, ids }: Pick<Context, 'db' | 'ids'>,
  session: Session,
  { chosen, reason }: { chosen: readonly string[]; reason: string | null },
): Promise<AskedOutcome[]> {
  const { workspaceId } = session
  const wanted = new Set(chosen.map((id) => ids.decode(workspaceId, id) ?? 0n))
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    await lockRequests({ db }, workspaceId)
    const { answers } = await listAsked({ db }, session, [...wanted])
    if (answers.length < wanted.size)
      throw new AppError('not-found', 'Uma destas respostas não espera mais. Nada foi alterado; abra a página de novo.')
    const outcomes =
      reason === null ? await approve({ db }, session, answers) : await refuse({ db }, session, answers, reason)
    const done = outcomes.flatMap(({ answer, refusal }) => (refusal === null ? answer : []))
    // Answers requested together share one reason, which names the requester.
    for (const some of Map.groupBy(done, ({ tpEvento, why }) => `${tpEvento} ${why}`).values()) {
      const [{ type, tpEvento, why }] = some as [AskedAnswer]
      const numbers = `${some.length === 1 ? 'número' : 'números'} ${numbersText(some.map(({ number }) => number))}`
      const of = `${eventName(serviceOf(type), tpEvento)} de ${some.length} ${familyOf(type).name} (${numbers})`
      const what = reason === null ? `Aprovou ${of}.` : `Recusou ${of}, com o motivo “${reason}”`
      await recordAudit({ db }, session, 'manifestacao', `${what} ${why}`)
    }
    return outcomes
  })
}

async function approve(
  { db }: WithDatabase,
  session: Session,
  answers: readonly AskedAnswer[],
): Promise<AskedOutcome[]> {
  const { workspaceId, accountId, accountName } = session
  const now = new Date()
  const loaded = await loadCandidates(
    { db },
    workspaceId,
    answers.map(({ documentId }) => documentId),
  )
  const candidates = new Map<bigint, Candidate>(loaded.map((candidate) => [candidate.documentId, candidate]))
  const outcomes: AskedOutcome[] = []
  const approved = new Map<number, { id: bigint; document_id: bigint }[]>()
  for (const answer of answers) {
    const candidate = candidates.get(answer.documentId)
    const verdict = candidate && judge(answer.tpEvento, candidate, now)
    const refusal = refusalOf(answer) ?? (verdict && 'refusal' in verdict ? verdict.refusal : null)
    if (refusal === null && verdict && 'sequence' in verdict) {
      const why = `${answer.why.replace(/\.$/, '')}${approvedMark}${accountName} em ${formatBrasiliaMoment(now)}.`
      await sql`
        update outgoing_event
           set state = 'waiting', sequence = ${verdict.sequence}, message = 'Na fila de envio à SEFAZ.', why = ${why},
               approved_by = ${accountId}, next_at = ${now}
         where workspace_id = ${workspaceId} and id = ${answer.id} and state = 'asked'`.execute(db)
      const some = approved.get(answer.tpEvento) ?? []
      approved.set(answer.tpEvento, [...some, { id: answer.id, document_id: answer.documentId }])
    }
    outcomes.push({ answer, refusal })
  }
  for (const [tpEvento, some] of approved)
    if (conclusive.includes(tpEvento)) await replaceCiencias({ db }, workspaceId, tpEvento, some)
  await writeAnswers({ db }, workspaceId, answers)
  return outcomes
}

async function refuse(
  { db }: WithDatabase,
  session: Session,
  answers: readonly AskedAnswer[],
  reason: string,
): Promise<AskedOutcome[]> {
  const by = `por ${session.accountName} em ${formatBrasiliaMoment(new Date())}`
  for (const { id, documentId, own } of answers)
    await end(
      { db },
      session.workspaceId,
      { id, documentId },
      `${own ? 'Retirada' : 'Recusada'} ${by}: ${reason} Nada foi enviado.`,
    )
  await writeAnswers({ db }, session.workspaceId, answers)
  return answers.map((answer) => ({ answer, refusal: null }))
}

async function end(
  { db }: WithDatabase,
  workspaceId: number,
  { id, documentId }: Pick<AskedAnswer, 'id' | 'documentId'>,
  message: string,
): Promise<void> {
  await sql`
    update outgoing_event set state = 'rejected', message = ${message}, approved_by = null
     where workspace_id = ${workspaceId} and id = ${id} and state = 'asked'`.execute(db)
  noteSettled({ db }, workspaceId, [{ id, documentId }])
}

const toldHours = 3 * 24
// The withdrawal of a desacordo has no deadline of its own.
const withoutDeadlineMs = 45 * 24 * 3_600_000
const reviewedMax = 500

interface Waiting extends Omit<AskedEnding, 'until'> {
  id: bigint
  type: ServiceCode
  documentId: bigint
  companyId: number
  tpEvento: number
  requestedAt: Date
  authorizedAt: Date | null
  /** Why nobody can answer it any more. */
  over: string | null
}

/** Ends the answers that nobody can send any more while they wait for a second person, and tells, once, of each that has three days left. */
export async function reviewAsked(ctx: WithDatabase, workspaceId: number): Promise<void> {
  for (let after: bigint | null = 0n; after !== null; ) after = await reviewSome(ctx, workspaceId, after)
}

async function reviewSome(ctx: WithDatabase, workspaceId: number, after: bigint): Promise<bigint | null> {
  return inWorkspace({ db: ctx.db }, workspaceId, async ({ db }) => {
    await lockRequests({ db }, workspaceId)
    const { rows } = await sql<Waiting>`
      select o.id, o.type, o.document_id as "documentId", o.company_id as "companyId", o.chave, d.number::float8 as number, s.name as issuer, o.tp_evento as "tpEvento",
             o.requested_at as "requestedAt", d.authorized_at as "authorizedAt",
             case when d.status = ${status.cancelled} then 'O documento foi cancelado enquanto a resposta esperava: nada foi enviado.'
                  when d.status = ${status.denied} then 'O uso do documento foi denegado: nada foi enviado.'
                  when not c.active then 'A empresa foi arquivada enquanto a resposta esperava: nada foi enviado.' end as over
        from outgoing_event o join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
        join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
        join company c on c.workspace_id = o.workspace_id and c.id = o.company_id
       where o.workspace_id = ${workspaceId} and o.state = 'asked' and o.id > ${after}
       order by o.id limit ${reviewedMax}`.execute(db)
    const now = Date.now()
    const ended: { documentId: bigint }[] = []
    for (const { id, type, documentId, companyId, tpEvento, requestedAt, authorizedAt, over, ...note } of rows) {
      if (over !== null) {
        await end({ db }, workspaceId, { id, documentId }, over)
        ended.push({ documentId })
        continue
      }
      const until =
        deadlineOf({ type, chave: note.chave, tpEvento, authorizedAt }) ??
        new Date(requestedAt.getTime() + withoutDeadlineMs)
      if (until.getTime() > now + toldHours * 3_600_000) continue
      if (until.getTime() <= now) {
        const message = `O prazo terminou em ${formatBrasiliaMoment(until)} sem a aprovação de uma segunda pessoa: nada foi enviado.`
        await end({ db }, workspaceId, { id, documentId }, message)
        ended.push({ documentId })
        continue
      }
      const { rows: first } = await sql`
        insert into notice (workspace_id, key) values (${workspaceId}, ${`resposta-aguarda:${id}`})
            on conflict do nothing returning key`.execute(db)
      const payload: AskedEnding = { ...note, until: until.toISOString() }
      if (first.length > 0) await announce({ db }, workspaceId, { what: 'resposta-aguarda-prazo', companyId, payload })
    }
    await writeAnswers({ db }, workspaceId, ended)
    return rows.length < reviewedMax ? null : rows.at(-1)!.id
  })
}
