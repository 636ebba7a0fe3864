import type { decideAsked, AskedAnswer as ListedAnswer } from '@vigia/contract/answer-rules'
import { askedMax } from '@vigia/contract/codes'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { answerOf, keyOf } from '@vigia/dfe/families/lookup'
import { status } from '@vigia/dfe/families/statuses'
import { sql } from 'kysely'
import { recordAudit } from '../accounts/audit/audit.ts'
import { readHiding, shownConditions } from '../companies/switches.ts'
import { eventName } from '../documents/list/rows.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { DataOf } from '../platform/http/http.ts'
import type { Session } from '../platform/http/session.ts'
import { announce } from '../platform/outbox.ts'
import { type ServiceCode, serviceOf } from '../platform/service.ts'
import { type AskedEnding, eventsText } from './announcements.ts'
import { loadCandidates, permit } from './candidates.ts'
import { lockRequests, replaceCiencias } from './request.ts'
import { refreshDocuments } from './settle.ts'
import { approvedMark, areTwo, endAsked, isLaterRequest, isRival, mayAnswerFor, personOf } from './two-people.ts'

/** An answer that waits for a second person, under the names of the contract. */
export interface AskedAnswer extends Omit<ListedAnswer, 'idPedido' | 'idDFe'> {
  id: bigint
  documentId: bigint
  tipoDFe: ServiceCode
}

/** Facts that decide whether the caller may approve. */
interface Approval {
  authorizedAt: Date | null
  /** The caller and the requester may answer for the company, and are two people. */
  areTwo: boolean
  requesterMay: boolean
  callerMay: boolean
  /** Another answer was requested, or registered, after it. */
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
  const requester = personOf(workspaceId, sql`o.requested_by`)
  const { rows } = await sql<Omit<AskedAnswer, 'descricao' | 'prazo' | 'impedimento'> & Approval & { total: number }>`
    select o.id, o.document_id as "documentId", o.type as "tipoDFe", o.chave, d.number::float8 as numero, s.name as emitente,
           c.public_id as "idEmpresa", c.name as empresa, d.amount::float8 as valor, o.tp_evento as "tpEvento", o.justification as justificativa,
           o.why as motivo, o.requested_at as "pedidaEm", coalesce(${requester} = ${accountId}::int, false) as minha,
           d.authorized_at as "authorizedAt", ${areTwo(workspaceId, sql`${accountId}::int`)} as "areTwo",
           ${mayAnswerFor(workspaceId, requester)} as "requesterMay", ${mayAnswerFor(workspaceId, sql`${accountId}::int`)} as "callerMay",
           exists (select from outgoing_event e where ${isLaterRequest(workspaceId)})
             or exists (select from document_event e where ${isRival(workspaceId)} and e.registered_at > o.requested_at) as overtaken,
           count(*) over ()::int as total
      from outgoing_event o join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
      join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
      join company c on c.workspace_id = o.workspace_id and c.id = o.company_id
     where ${sql.join(conditions, sql` and `)} order by o.requested_at, o.id limit ${askedMax}`.execute(db)
  const answers = rows.map(({ total: _, authorizedAt, areTwo, requesterMay, callerMay, overtaken, ...answer }) => ({
    ...answer,
    descricao: eventName(serviceOf(answer.tipoDFe), answer.tpEvento),
    prazo: deadlineOf({ ...answer, authorizedAt })?.toISOString() ?? null,
    impedimento: refusalOf(answer.minha, { areTwo, requesterMay, callerMay, overtaken }),
  }))
  return { total: rows[0]?.total ?? 0, answers }
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

// The last instant in which the answer may be registered; null when none is known.
function deadlineOf({
  tipoDFe,
  chave,
  tpEvento,
  authorizedAt,
}: Pick<AskedAnswer, 'tipoDFe' | 'chave' | 'tpEvento'> & Pick<Approval, 'authorizedAt'>): Date | null {
  const { model } = keyOf(chave)
  return answerOf(serviceOf(tipoDFe), tpEvento)?.until({ model, authorizedAt, deadlineLifted: false }) ?? null
}

function refusalOf(isOwn: boolean, approval: Omit<Approval, 'authorizedAt'>): string | null {
  if (approval.overtaken)
    return 'Depois deste pedido veio outra resposta para o mesmo documento. Recuse este, e peça de novo o que ainda vale.'
  if (isOwn)
    return 'Você mesmo pediu esta resposta, ou a pediu uma chave de API sua: quem aprova é outra pessoa. Você pode retirar o pedido.'
  if (!approval.callerMay) return 'Você não pode responder por esta empresa: aprova quem pode.'
  if (!approval.requesterMay)
    return 'Quem pediu esta resposta não pode mais responder por esta empresa. Recuse-a e peça de novo: então aprova outra pessoa.'
  return approval.areTwo ? null : 'Quem pediu esta resposta é você, com outro acesso: quem aprova é outra pessoa.'
}

/** Approves or refuses answers that wait, or takes back one's own; one that may not be sent waits on. Refuses the call for an unknown id. */
export async function settleAsked(
  { db, ids }: Pick<Context, 'db' | 'ids'>,
  session: Session,
  { chosen, reason }: { chosen: readonly string[]; reason: string | null },
): Promise<DataOf<typeof decideAsked>> {
  const { workspaceId } = session
  const wanted = new Set(chosen.map((id) => ids.decode(workspaceId, id) ?? 0n))
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    await lockRequests({ db }, workspaceId)
    const { answers } = await listAsked({ db }, session, [...wanted])
    if (answers.length < wanted.size)
      throw new AppError('not-found', 'Uma destas respostas não espera mais. Nada foi alterado; abra a página de novo.')
    const refusals =
      reason === null ? await approve({ db }, session, answers) : await refuse({ db }, session, answers, reason)
    await refreshDocuments({ db }, workspaceId, answers)
    const done = answers.filter(({ id }) => !refusals.has(id))
    // Answers requested together share one reason, which names the requester.
    for (const some of Map.groupBy(done, ({ tpEvento, motivo }) => `${tpEvento} ${motivo}`).values()) {
      const { tipoDFe, tpEvento, motivo } = some[0]!
      const numbers = some.map(({ numero }) => numero)
      const of = eventsText(serviceOf(tipoDFe), tpEvento, numbers)
      const what = reason === null ? `Aprovou ${of}.` : `Recusou ${of}, com o motivo “${reason}”`
      await recordAudit({ db }, session, 'manifestacao', `${what} ${motivo}`)
    }
    return {
      feitas: done.length,
      impedidas: answers.flatMap(({ id, numero }) => {
        const motivo = refusals.get(id)
        return motivo === undefined ? [] : { idPedido: ids.encode(workspaceId, id), numero, motivo }
      }),
    }
  })
}

// Returns why answers were not approved.
async function approve(
  { db }: WithDatabase,
  session: Session,
  answers: readonly AskedAnswer[],
): Promise<Map<bigint, string>> {
  const { workspaceId, accountId, accountName } = session
  const now = new Date()
  const documentIds = answers.map(({ documentId }) => documentId)
  const candidates = await loadCandidates({ db }, workspaceId, documentIds)
  const refusals = new Map<bigint, string>()
  for (const { id, documentId, tpEvento, motivo, impedimento } of answers) {
    const candidate = candidates.find((one) => one.documentId === documentId)!
    const permission = impedimento === null ? permit(tpEvento, candidate, now) : { refusal: impedimento }
    if ('refusal' in permission) {
      refusals.set(id, permission.refusal)
      continue
    }
    const why = `${motivo.replace(/\.$/, '')}${approvedMark}${accountName} em ${formatBrasiliaMoment(now)}.`
    await sql`
      update outgoing_event
         set state = 'waiting', sequence = ${permission.sequence}, message = 'Na fila de envio à SEFAZ.', why = ${why},
             approved_by = ${accountId}, next_at = ${now}
       where workspace_id = ${workspaceId} and id = ${id} and state = 'asked'`.execute(db)
    await replaceCiencias({ db }, workspaceId, tpEvento, [{ id, document_id: documentId }])
  }
  return refusals
}

async function refuse(
  { db }: WithDatabase,
  { workspaceId, accountName }: Session,
  answers: readonly AskedAnswer[],
  reason: string,
): Promise<Map<bigint, string>> {
  const by = `por ${accountName} em ${formatBrasiliaMoment(new Date())}: ${reason} Nada foi enviado.`
  for (const { id, minha } of answers)
    await endAsked({ db }, workspaceId, sql`id = ${id}`, `${minha ? 'Retirada' : 'Recusada'} ${by}`)
  return new Map()
}

const toldHours = 3 * 24
// The withdrawal of a desacordo has no deadline of its own.
const withoutDeadlineMs = 45 * 24 * 3_600_000

interface Waiting extends Omit<AskedEnding, 'until'> {
  id: bigint
  tipoDFe: ServiceCode
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
  await inWorkspace({ db: ctx.db }, workspaceId, async ({ db }) => {
    await lockRequests({ db }, workspaceId)
    const { rows } = await sql<Waiting>`
      select o.id, o.type as "tipoDFe", o.document_id as "documentId", o.company_id as "companyId", o.chave, d.number::float8 as number, s.name as issuer, o.tp_evento as "tpEvento",
             o.requested_at as "requestedAt", d.authorized_at as "authorizedAt",
             case when d.status = ${status.cancelled} then 'O documento foi cancelado enquanto a resposta esperava: nada foi enviado.'
                  when d.status = ${status.denied} then 'O uso do documento foi denegado: nada foi enviado.'
                  when not c.active then 'A empresa foi arquivada enquanto a resposta esperava: nada foi enviado.' end as over
        from outgoing_event o join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
        join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
        join company c on c.workspace_id = o.workspace_id and c.id = o.company_id
       where o.workspace_id = ${workspaceId} and o.state = 'asked' order by o.id`.execute(db)
    const now = Date.now()
    const ended: { documentId: bigint }[] = []
    for (const { id, tipoDFe, documentId, companyId, tpEvento, requestedAt, authorizedAt, over, ...note } of rows) {
      const until =
        deadlineOf({ tipoDFe, chave: note.chave, tpEvento, authorizedAt }) ??
        new Date(requestedAt.getTime() + withoutDeadlineMs)
      const isLate = until.getTime() <= now
      if (over !== null || isLate) {
        const late = `O prazo terminou em ${formatBrasiliaMoment(until)} sem a aprovação de uma segunda pessoa: nada foi enviado.`
        await endAsked({ db }, workspaceId, sql`id = ${id}`, over ?? late)
        ended.push({ documentId })
        continue
      }
      if (until.getTime() > now + toldHours * 3_600_000) continue
      const { rows: first } = await sql`
        insert into notice (workspace_id, key) values (${workspaceId}, ${`resposta-aguarda:${id}`})
            on conflict do nothing returning key`.execute(db)
      const payload: AskedEnding = { ...note, until: until.toISOString() }
      if (first.length > 0) await announce({ db }, workspaceId, { what: 'resposta-aguarda-prazo', companyId, payload })
    }
    await refreshDocuments({ db }, workspaceId, ended)
  })
}
