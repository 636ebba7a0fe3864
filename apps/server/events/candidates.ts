import { isDeepStrictEqual } from 'node:util'
import type { previewManifestation } from '@vigia/contract/manifestation'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { cartaCorrecao } from '@vigia/dfe/families/cte'
import type { Answer, AnswerSubject, OwnAnswer } from '@vigia/dfe/families/family'
import type { FamilyId } from '@vigia/dfe/families/id'
import { answerOf, familyById, keyOf } from '@vigia/dfe/families/lookup'
import type { Correction } from '@vigia/sefaz/events'
import { sql } from 'kysely'
import { readHiding, shownConditions } from '../companies/switches.ts'
import type { Suggestion } from '../documents/list/rows.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { DataOf } from '../platform/http/http.ts'
import type { Session } from '../platform/http/session.ts'
import { type Service, type ServiceCode, serviceCodes, serviceOf } from '../platform/service.ts'

export interface EventSubject extends AnswerSubject {
  type: FamilyId
}

export type Permit = { sequence: number } | { refusal: string }

export interface Candidate extends EventSubject {
  documentId: bigint
  companyId: number
  /** The author of the event. */
  cnpj: string
  chave: string
  number: number
  issuerName: string
  /** In reais. */
  amount: number
  /** The answer that a rule suggests. */
  suggestion: Suggestion | null
  /** Events about it that left, are about to, or wait for a second person; rejected ones are left out. */
  outgoing: Outgoing[]
}

export interface Outgoing {
  id: bigint
  tpEvento: number
  sequence: number
  isAnswered: boolean
  /** The authority does not tell whether it has it, or whether it stands. */
  unconfirmed: boolean
  justification: string | null
  corrections: unknown
  requestedBy: number | null
  requestedAt: Date
  registeredAt: Date | null
  protocol: string | null
}

export interface EventSelection {
  service: Service
  kind: Answer
  /** Public ids. */
  documents: string[]
}

/** The documents of a selection in its order, each once. Refuses unknown ids. */
export async function findCandidates(
  ctx: Pick<Context, 'db' | 'ids'>,
  workspaceId: number,
  { documents, service }: Pick<EventSelection, 'documents'> & { service?: Service },
): Promise<Candidate[]> {
  const documentIds = [...new Set(documents)].map((id) => ctx.ids.decode(workspaceId, id) ?? 0n)
  const candidates = await loadCandidates(ctx, workspaceId, documentIds, service)
  if (candidates.length < documentIds.length) throw new AppError('not-found', 'Documento não encontrado.')
  return candidates
}

type SubjectRow = Omit<Candidate, 'type' | 'model' | 'deadlineLifted' | 'own' | 'outgoing'> & { type: ServiceCode }

interface RegisteredEventRow {
  companyId: number
  chave: string
  tpEvento: number
  sequence: number
  protocol: string | null
  at: Date
}

const lateCancellation = 240170
// The authority has another sender's letter with this number: ours needs the next number, and a cancellation is no longer possible.
const letterOfOthers = sql`(o.state = 'rejected' and o.tp_evento = 110110 and o.c_stat = 631)`

/** Documents with what decides which events may leave, in the order of the ids, without hidden ones; `ctx.db` is a transaction inside the workspace. */
export async function loadCandidates(
  { db }: WithDatabase,
  workspaceId: number,
  documentIds: bigint[],
  service?: Service,
): Promise<Candidate[]> {
  const conditions = [
    sql`d.workspace_id = ${workspaceId}`,
    sql`d.id = any (${documentIds}::bigint[])`,
    ...(service ? [sql`d.type = ${serviceCodes[service]}`] : []),
    ...shownConditions(await readHiding({ db }, workspaceId), 'd'),
  ]
  const { rows: documents } = await sql<SubjectRow>`
    select d.id as "documentId", d.company_id as "companyId", c.cnpj, d.chave, d.number::float8 as number, d.type, d.roles, d.status, d.complete,
           d.authorized_at as "authorizedAt", s.name as "issuerName", d.amount::float8 as amount, d.suggestion
      from document d join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
                      join company c on c.workspace_id = d.workspace_id and c.id = d.company_id
     where ${sql.join(conditions, sql` and `)} order by array_position(${documentIds}::bigint[], d.id)`.execute(db)
  const chaves = documents.map((document) => document.chave)
  const companyIds = [...new Set(documents.map((document) => document.companyId))]
  const about = (alias: string) => {
    const column = (name: string) => sql.ref(`${alias}.${name}`)
    return sql`${column('workspace_id')} = ${workspaceId} and ${column('company_id')} = any (${companyIds}::int[]) and ${column('chave')} = any (${chaves}::text[])`
  }
  const { rows: events } = await sql<RegisteredEventRow>`
    select e.company_id as "companyId", e.chave, e.tp_evento as "tpEvento", e.sequence, e.protocol, e.registered_at as at
      from document_event e join company c on c.workspace_id = e.workspace_id and c.id = e.company_id
     where ${about('e')} and e.rank > 0
       and (e.author = c.cnpj or e.tp_evento = ${lateCancellation})
     order by e.registered_at, protocol_number(e.protocol) nulls first`.execute(db)
  const { rows: outgoing } = await sql<
    Outgoing & { companyId: number; chave: string; rejected: boolean; asked: boolean }
  >`
    select o.company_id as "companyId", o.chave, o.id, o.tp_evento as "tpEvento", o.sequence,
           o.state in ('registered', 'rejected') or o.state = 'unconfirmed' and o.c_stat is not null as "isAnswered",
           o.state = 'unconfirmed' as unconfirmed, o.state = 'rejected' as rejected, o.state = 'asked' as asked, o.justification, o.corrections,
           o.requested_by as "requestedBy", o.requested_at as "requestedAt", o.registered_at as "registeredAt", o.protocol
      from outgoing_event o
     where ${about('o')} and (o.state <> 'rejected' or ${letterOfOthers})
     order by o.id`.execute(db)
  return documents.map((document) => {
    const ofDocument = (row: { companyId: number; chave: string }) =>
      row.companyId === document.companyId && row.chave === document.chave
    const received = events.filter(ofDocument)
    const sent = outgoing.filter(ofDocument)
    const { type, ...facts } = document
    return {
      ...facts,
      type: serviceOf(type),
      model: keyOf(document.chave).model,
      deadlineLifted: received.some((event) => event.tpEvento === lateCancellation),
      own: ownEvents(
        received.filter((event) => event.tpEvento !== lateCancellation),
        // Events that wait for a second person are no answer yet.
        sent.filter((event) => !event.asked),
      ),
      outgoing: sent.filter((event) => !event.rejected),
    }
  })
}

// An event that left from here is also among the received ones once it is registered.
function ownEvents(received: RegisteredEventRow[], sent: Outgoing[]): OwnAnswer[] {
  const events = new Map<string, OwnAnswer & { at: number }>()
  for (const { tpEvento, sequence, protocol, at } of received)
    events.set(`${tpEvento}/${sequence}`, { tpEvento, sequence, pending: false, protocol, at: at.getTime() })
  for (const { tpEvento, sequence, isAnswered, unconfirmed, registeredAt, requestedAt, protocol } of sent) {
    if (events.has(`${tpEvento}/${sequence}`)) continue
    // Events not registered yet count after all registered ones.
    const pending = !isAnswered && !unconfirmed
    const doubt = unconfirmed ? (isAnswered ? 'elsewhere' : 'untold') : null
    const at = !pending ? (registeredAt ?? requestedAt).getTime() : Number.MAX_SAFE_INTEGER
    events.set(`${tpEvento}/${sequence}`, { tpEvento, sequence, pending, doubt, protocol, at })
  }
  return [...events.values()].sort((a, b) => a.at - b.at)
}

export interface EventText {
  kind: Answer
  justification: string | null
  corrections: Correction[] | null
}

// Either the event that carries it out already, or the number to send with, or why it is not sent.
type RequestDecision = { candidate: Candidate } & ({ before: bigint } | Permit)

/** Decides about each document of a request. `ctx.db` is a transaction inside the workspace. */
export async function decideRequests(
  { db }: WithDatabase,
  session: Session,
  text: EventText,
  candidates: Candidate[],
  now: Date,
): Promise<RequestDecision[]> {
  const { tpEvento } = text.kind
  const exhausted = await listExhausted({ db }, session.workspaceId, tpEvento, candidates)
  return candidates.map((candidate) => {
    const before = alreadyAsked(candidate, session, text, now)
    if (before !== null) return { candidate, before }
    return { candidate, ...(exhausted.has(candidate.documentId) ? tooOften : permit(tpEvento, candidate, now)) }
  })
}

// The authority blocks the CNPJ for an hour when an event is refused for the twentieth time with the same code.
const rejectionsMax = 10
const tooOften = {
  refusal: `A SEFAZ recusou este evento ${rejectionsMax} vezes em um dia. Repetir agora bloquearia os envios da empresa: tente de novo amanhã, depois de resolver o motivo.`,
}

async function listExhausted(
  { db }: WithDatabase,
  workspaceId: number,
  tpEvento: number,
  candidates: Candidate[],
): Promise<Set<bigint>> {
  const { rows } = await sql<{ documentId: bigint }>`
    select document_id as "documentId" from outgoing_event
     where workspace_id = ${workspaceId} and document_id = any (${candidates.map((one) => one.documentId)}::bigint[])
       and tp_evento = ${tpEvento} and state = 'rejected' and c_stat is not null and answered_at > now() - interval '1 day'
     group by document_id having count(*) >= ${rejectionsMax}`.execute(db)
  return new Set(rows.map((row) => row.documentId))
}

// A client that lost the response repeats its request at once: that is no second Confirmação.
const sameRequestMs = 120_000

// The row that carries the request out already, or null. A, then B, then A again means A, unless a client repeats by itself.
function alreadyAsked(
  { outgoing, own: counting }: Candidate,
  { accountId }: Session,
  { kind: { tpEvento, rivals: contested }, justification, corrections }: EventText,
  now: Date,
): bigint | null {
  const sameText = (event: Outgoing) =>
    justification !== null && event.justification === justification && isDeepStrictEqual(event.corrections, corrections)
  const rivals = outgoing.filter((event) => contested.includes(event.tpEvento))
  const own = rivals.findLast((event) => event.requestedBy === accountId)
  if (own?.tpEvento === tpEvento && sameText(own) && now.getTime() - own.requestedAt.getTime() < sameRequestMs)
    return own.id
  const last = rivals.at(-1)
  if (last?.tpEvento !== tpEvento) return null
  if (tpEvento !== cartaCorrecao) return last.isAnswered ? null : last.id
  // The last letter counts: repeating its text changes nothing, however late, unless another letter came in between.
  const standing = counting.findLast((event) => event.tpEvento === tpEvento)
  return sameText(last) && standing?.sequence === last.sequence ? last.id : null
}

/** Whether an event may be sent now: what the authority would refuse is refused here, with the reason (NT 2020.001; MOC CT-e 4.00 §3.7). */
export function permit(tpEvento: number, subject: EventSubject, now: Date): Permit {
  const answer = answerOf(subject.type, tpEvento)
  if (!answer) return { refusal: `Este evento não existe para ${familyById(subject.type).name}.` }
  const permission = answer.may(subject)
  const until = answer.until(subject)
  if ('refusal' in permission || !until || now <= until) return permission
  return { refusal: `O prazo deste evento terminou em ${formatBrasiliaMoment(until)}.` }
}

/** Which requests would be refused now, and why, and the first deadline of the others. Writes nothing; unknown ids refuse the call. */
export async function previewEvents(
  ctx: Pick<Context, 'db' | 'ids'>,
  session: Session,
  selection: EventSelection,
): Promise<DataOf<typeof previewManifestation>> {
  const { workspaceId } = session
  return readWorkspace(ctx, workspaceId, async (ctx) => {
    const candidates = await findCandidates(ctx, workspaceId, selection)
    const text = { ...selection, justification: null, corrections: null }
    const decisions = await decideRequests(ctx, session, text, candidates, new Date())
    const permitted = decisions.flatMap((one) => ('refusal' in one ? [] : one.candidate))
    const deadlines = permitted.flatMap((one) => selection.kind.until(one) ?? [])
    const first = deadlines.toSorted((a, b) => a.getTime() - b.getTime())[0]
    const idOf = (documentId: bigint) => ctx.ids.encode(workspaceId, documentId)
    return {
      permitidos: permitted.map(({ documentId }) => idOf(documentId)),
      impedidos: decisions.flatMap((one) => {
        if (!('refusal' in one)) return []
        const { documentId, number, issuerName } = one.candidate
        return { idDfe: idOf(documentId), numero: number, emitente: issuerName, motivo: one.refusal }
      }),
      primeiroPrazo: first?.toISOString() ?? null,
    }
  })
}
