import { formatBrasiliaMoment } from '@vigia/contract/text'
import type { AnswerSubject, OwnAnswer } from '@vigia/dfe/families/family'
import type { FamilyId } from '@vigia/dfe/families/id'
import { answerOf, familyById, keyOf } from '@vigia/dfe/families/lookup'
import { nfeRole } from '@vigia/dfe/families/nfe'
import { sql } from 'kysely'
import { readHiding, shownConditions } from '../companies/switches.ts'
import { eventName, type Suggestion } from '../documents/list/rows.ts'
import type { WithDatabase } from '../platform/context.ts'
import { type Service, type ServiceCode, serviceCodes, serviceOf } from '../platform/service.ts'

export interface EventSubject extends AnswerSubject {
  type: FamilyId
}

export type Permit = { sequence: number } | { refusal: string }

/** Bit of the destinatário, who answers an NF-e, in a mask of roles. */
export const recipient = 1 << nfeRole.destinatario

/** Whether an event may be sent now: what the authority would refuse is refused here, with the reason (NT 2020.001; MOC CT-e 4.00 §3.7). */
export function permit(tpEvento: number, subject: EventSubject, now: Date): Permit {
  const answer = answerOf(subject.type, tpEvento)
  if (!answer) return { refusal: `Este evento não existe para ${familyById(subject.type).name}.` }
  const permission = answer.may(subject)
  const until = answer.until(subject)
  if ('refusal' in permission || !until || now <= until) return permission
  return { refusal: `O prazo deste evento terminou em ${formatBrasiliaMoment(until)}.` }
}

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

const shownMax = 5

/** The first few of many numbers, and how many there are besides. */
export function numbersText(numbers: readonly number[]): string {
  const shown = numbers.slice(0, shownMax).join(', ')
  return numbers.length > shownMax ? `${shown} e mais ${numbers.length - shownMax}` : shown
}

/** An event of some documents, for the audit. */
export function eventsText(service: Service, tpEvento: number, numbers: readonly number[]): string {
  const which = `${numbers.length === 1 ? 'número' : 'números'} ${numbersText(numbers)}`
  return `${eventName(service, tpEvento)} de ${numbers.length} ${familyById(service).name} (${which})`
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
