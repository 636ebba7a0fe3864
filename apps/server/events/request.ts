import { setTimeout } from 'node:timers/promises'
import type { ManifestedDocument } from '@vigia/contract/manifestation'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { cartaCorrecao } from '@vigia/dfe/families/cte'
import { answerOf } from '@vigia/dfe/families/lookup'
import { ciencia, conclusive, nfe } from '@vigia/dfe/families/nfe'
import type { Correction } from '@vigia/sefaz/events'
import { sql } from 'kysely'
import { recordAudit } from '../accounts/audit/audit.ts'
import { eventName } from '../documents/list/rows.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { beyondLimit, companiesShown, inWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Session } from '../platform/http/session.ts'
import { createLimiter } from '../platform/limiter.ts'
import { holdLock } from '../platform/locks.ts'
import { announce } from '../platform/outbox.ts'
import { serviceCodes } from '../platform/service.ts'
import { type Asked, eventsText } from './announcements.ts'
import { type Candidate, decideRequests, type EventSelection, type EventText, findCandidates } from './candidates.ts'
import { correctionsOf } from './corrections.ts'
import { situations } from './history.ts'
import { outgoingText } from './justifications.ts'
import { findHoldups } from './queue.ts'
import { noteSettled, refreshDocuments } from './settle.ts'
import { endAsked, ofTwoPeople, readTwoFrom, waitsForSecond } from './two-people.ts'

type RequestContext = Pick<Context, 'db' | 'ids' | 'config'>

export interface ManifestationRequest extends EventSelection {
  justification: string
  /** Only for a Carta de Correção whose fields the person names, instead of writing a text. */
  corrections?: Correction[]
}

/** Queues the events that a person requests and waits a while for responses. Refusals are returned; an unknown id refuses the request. */
export async function requestEvents(
  shown: RequestContext,
  session: Session,
  request: ManifestationRequest,
  waitMs = 10_000,
): Promise<ManifestedDocument[]> {
  // Without the person's limit: what holds an event up may be of another company or workspace.
  const ctx = beyondLimit(shown)
  if (companiesShown(shown))
    await readWorkspace(shown, session.workspaceId, (ctx) => findCandidates(ctx, session.workspaceId, request))
  outgoingText(request.kind, request.justification)
  const corrections =
    request.kind.tpEvento === cartaCorrecao ? correctionsOf(request.justification, request.corrections) : null
  return awaitResponses(ctx, session.workspaceId, await place(ctx, session, { ...request, corrections }), waitMs)
}

// Requests of a workspace run one by one anyway: they must not hold connections while they wait.
const takeTurn = createLimiter({
  each: 1,
  waiting: 100,
  full: 'Há pedidos demais desta conta ao mesmo tempo. Este não foi feito; tente de novo em instantes.',
})

/** Requests of one workspace are placed one after the other, each seeing the rows of those before. */
export async function lockRequests({ db }: WithDatabase, workspaceId: number): Promise<void> {
  await holdLock({ db }, 'eventRequests', workspaceId)
}

/** A document of a request: the event that carries it out, which may have been there before, or why it is refused. */
type Placed = { candidate: Candidate } & ({ eventId: bigint; repeated: boolean } | { refusal: string })

interface PlacedRequest extends EventText, EventSelection {}

async function place(ctx: Pick<Context, 'db' | 'ids'>, session: Session, request: PlacedRequest): Promise<Placed[]> {
  const { workspaceId } = session
  using _ = await takeTurn(workspaceId)
  return inWorkspace(ctx, workspaceId, async (ctx) => {
    await lockRequests(ctx, workspaceId)
    const now = new Date()
    const candidates = await findCandidates(ctx, workspaceId, request)
    const decisions = await decideRequests(ctx, session, request, candidates, now)
    const numbered = decisions.filter((decision) => 'sequence' in decision)
    const written = numbered.length > 0 ? await writeRequests(ctx, session, request, numbered, now) : new Map()
    const placed: Placed[] = []
    for (const decision of decisions) {
      const { candidate } = decision
      if ('refusal' in decision) placed.push(decision)
      else if ('sequence' in decision)
        placed.push({ candidate, eventId: written.get(candidate.documentId)!, repeated: false })
      else {
        // Asking for it once more settles what the authority never told.
        const again = candidate.outgoing.some(({ id, unconfirmed }) => id === decision.before && unconfirmed)
        if (again) await requeue(ctx, session, candidate, decision.before)
        placed.push({ candidate, eventId: decision.before, repeated: !again })
      }
    }
    return placed
  })
}

// Returns the events by the documents that they are about.
async function writeRequests(
  { db }: WithDatabase,
  session: Session,
  { kind, service, justification, corrections }: PlacedRequest,
  numbered: readonly { candidate: Candidate; sequence: number }[],
  now: Date,
): Promise<Map<bigint, bigint>> {
  const { workspaceId, accountId, accountName } = session
  const candidates = numbered.map(({ candidate }) => candidate)
  const twoFrom = ofTwoPeople.includes(kind.tpEvento) ? await readTwoFrom({ db }, workspaceId) : null
  const asked = candidates.filter(({ amount }) => twoFrom !== null && amount >= Number(twoFrom))
  const why = `Pedida por ${accountName} em ${formatBrasiliaMoment(now)}`
  const rows = numbered.map(({ candidate, sequence }) => {
    const suggestion = candidate.suggestion?.tpEvento === kind.tpEvento ? candidate.suggestion : null
    return {
      workspace_id: workspaceId,
      company_id: candidate.companyId,
      document_id: candidate.documentId,
      type: serviceCodes[service],
      cnpj: candidate.cnpj,
      chave: candidate.chave,
      tp_evento: kind.tpEvento,
      sequence,
      ...(asked.includes(candidate)
        ? { state: 'asked' as const, message: waitsForSecond }
        : { message: 'Na fila de envio à SEFAZ.' }),
      justification,
      corrections: corrections && JSON.stringify(corrections),
      why: suggestion ? `${why}, como sugere a regra “${suggestion.rule}”.` : `${why}.`,
      rule_id: suggestion && BigInt(suggestion.ruleId),
      requested_by: accountId,
    }
  })
  // An answer that waits for a second person ends when somebody requests another one.
  const rivals = sql`document_id = any (${rows.map((row) => row.document_id)}::bigint[]) and tp_evento = any (${[...kind.rivals]}::int[])`
  const withdrawn = `Outra resposta foi pedida depois, por ${accountName}: esta não espera mais por uma segunda pessoa, e nada foi enviado.`
  await endAsked({ db }, workspaceId, rivals, withdrawn)
  const written = await db.insertInto('outgoing_event').values(rows).returning(['id', 'document_id', 'state']).execute()
  const leaving = written.filter(({ state }) => state === 'waiting')
  await replaceCiencias({ db }, workspaceId, kind.tpEvento, leaving)
  await refreshDocuments({ db }, workspaceId, candidates)
  for (const [companyId, { length: count }] of Map.groupBy(asked, (candidate) => candidate.companyId)) {
    const payload: Asked = { count, by: accountName }
    await announce({ db }, workspaceId, { what: 'resposta-aguarda', companyId, payload })
  }
  const numbers = candidates.map(({ number }) => number)
  const waits = asked.length > 0 ? ` À espera de uma segunda pessoa: ${asked.length}.` : ''
  const what = `Pediu ${eventsText(service, kind.tpEvento, numbers)}, com justificativa.${waits}`
  await recordAudit({ db }, session, 'manifestacao', what)
  return new Map(written.map((row) => [row.document_id, row.id]))
}

// The same bytes leave: the authority registers them once, or says that it has them.
async function requeue({ db }: WithDatabase, session: Session, candidate: Candidate, id: bigint) {
  const { type, number, outgoing } = candidate
  await sql`
    update outgoing_event
       set state = 'sending', message = 'Na fila de envio à SEFAZ, de novo.', next_at = now(), sent_at = null, failures = 0
     where workspace_id = ${session.workspaceId} and id = ${id} and state = 'unconfirmed'`.execute(db)
  await refreshDocuments({ db }, session.workspaceId, [candidate])
  const name = eventName(type, outgoing.find((event) => event.id === id)!.tpEvento)
  await recordAudit({ db }, session, 'manifestacao', `Enviou de novo ${name} do documento número ${number}.`)
}

const notUnconfirmed = 'Este evento não espera por um novo envio. Nada foi enviado; abra o documento de novo.'
const standsNow =
  'A SEFAZ já disse que outro sistema registrou esta resposta: enviar de novo não muda nada. Envie outra resposta, se for outra a que deve valer.'
const answeredSince =
  'Depois deste evento veio outra resposta para o mesmo documento, e enviá-lo agora tomaria o lugar dela. Nada foi enviado: peça a resposta que deve valer.'

/** Sends again, as the same bytes, an event of which the authority did not tell for a day whether it has it, and waits a while for the outcome. */
export async function requestAgain(
  shown: RequestContext,
  session: Session,
  { document, tpEvento, sequence }: { document: string; tpEvento: number; sequence: number },
  waitMs = 10_000,
): Promise<ManifestedDocument> {
  const { workspaceId } = session
  const find = async (ctx: Pick<Context, 'db' | 'ids'>) =>
    (await findCandidates(ctx, workspaceId, { documents: [document] }))[0]!
  if (companiesShown(shown)) await readWorkspace(shown, workspaceId, find)
  const ctx = beyondLimit(shown)
  const placed = await inWorkspace(ctx, workspaceId, async (ctx): Promise<Placed> => {
    await lockRequests(ctx, workspaceId)
    const candidate = await find(ctx)
    const event = candidate.outgoing.find((one) => one.tpEvento === tpEvento && one.sequence === sequence)
    if (!event?.unconfirmed) throw new AppError('conflict', notUnconfirmed)
    if (event.isAnswered) throw new AppError('conflict', standsNow)
    const rivals = answerOf(candidate.type, tpEvento)?.rivals.filter((rival) => rival !== tpEvento) ?? []
    if (candidate.outgoing.some((one) => rivals.includes(one.tpEvento) && one.id > event.id))
      throw new AppError('conflict', answeredSince)
    await requeue(ctx, session, candidate, event.id)
    return { candidate, eventId: event.id, repeated: false }
  })
  return (await awaitResponses(ctx, workspaceId, [placed], waitMs))[0]!
}

/** A final answer replaces a Ciência that was not sent yet, also one that a hold turned to `sending`; other answers replace none. */
export async function replaceCiencias(
  { db }: WithDatabase,
  workspaceId: number,
  tpEvento: number,
  answers: { id: bigint; document_id: bigint }[],
): Promise<void> {
  if (!conclusive.includes(tpEvento)) return
  const documentIds = answers.map((answer) => answer.document_id)
  const message = `Substituída pela resposta pedida depois (${eventName(nfe.id, tpEvento)}): a Ciência não foi enviada.`
  // Skip locked: it is being sent now. The pause after 656 or 678 is stored in the waiting row; copy it to the new one.
  const { rows } = await sql<{ id: bigint; documentId: bigint; companyId: number }>`
    with replaced as (
    update outgoing_event set state = 'rejected', message = ${message}, lease_by = null, lease_until = null,
           c_stat = null, x_motivo = null, answered_at = null
     where workspace_id = ${workspaceId} and id in (
       select id from outgoing_event
        where workspace_id = ${workspaceId} and document_id = any (${documentIds}::bigint[]) and tp_evento = ${ciencia}
          and (state = 'waiting' or state = 'sending' and signed_xml is null)
          for update skip locked)
    returning id, document_id, company_id, old.c_stat, old.next_at),
    paused as (
    update outgoing_event o set c_stat = r.c_stat, next_at = r.next_at from replaced r
     where o.workspace_id = ${workspaceId} and o.id = any (${answers.map(({ id }) => id)}::bigint[]) and o.document_id = r.document_id
       and r.c_stat in (656, 678) and r.next_at > now())
    select id, document_id as "documentId", company_id as "companyId" from replaced`.execute(db)
  noteSettled({ db }, workspaceId, rows)
}

const lookEveryMs = 150

// Stops early when nothing more can happen before the time-out.
async function awaitResponses(
  ctx: RequestContext,
  workspaceId: number,
  placed: readonly Placed[],
  waitMs: number,
): Promise<ManifestedDocument[]> {
  const ids = placed.flatMap((one) => ('eventId' in one ? one.eventId : []))
  const waitsUntil = Date.now() + waitMs
  for (;;) {
    const rows = ids.length > 0 ? await readRows(ctx, workspaceId, ids) : new Map<bigint, EventRow>()
    const isLater = ({ leavesAt }: EventRow) => leavesAt === null || leavesAt.getTime() > waitsUntil
    if (Date.now() >= waitsUntil || [...rows.values()].every(isLater))
      return placed.map((one) => manifested(ctx, workspaceId, one, rows))
    await setTimeout(lookEveryMs)
  }
}

function manifested(
  { ids }: Pick<Context, 'ids'>,
  workspaceId: number,
  one: Placed,
  rows: ReadonlyMap<bigint, EventRow>,
): ManifestedDocument {
  const { documentId, chave, number } = one.candidate
  const document = { idDfe: ids.encode(workspaceId, documentId), chave, numero: number }
  if ('refusal' in one) return { ...document, situacao: 'recusada', mensagem: one.refusal }
  const { state, cStat, message } = rows.get(one.eventId)!
  const situacao = situations[state]
  const before =
    state === 'asked'
      ? 'Esta resposta já foi pedida.'
      : situacao === 'enviando'
        ? 'Este evento já estava em envio.'
        : ''
  const mensagem = one.repeated && before ? `${before} ${message}` : message
  return { ...document, situacao, ...(cStat !== null && { codigo: cStat }), mensagem }
}

interface EventRow {
  id: bigint
  state: keyof typeof situations
  cStat: number | null
  message: string
  /** Null when it is settled. */
  leavesAt: Date | null
}

async function readRows(ctx: RequestContext, workspaceId: number, ids: bigint[]): Promise<Map<bigint, EventRow>> {
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<EventRow>`
      select id, state, c_stat as "cStat", message, case when state in ('waiting', 'sending') then next_at end as "leavesAt"
        from outgoing_event where workspace_id = ${workspaceId} and id = any (${ids}::bigint[])`.execute(db),
  )
  const open = rows.flatMap(({ id, leavesAt }) => (leavesAt === null ? [] : id))
  const holdups = await findHoldups(ctx, workspaceId, open)
  return new Map(
    rows.map((row) => {
      const holdup = holdups.get(row.id)
      return [row.id, holdup ? { ...row, leavesAt: holdup.until, message: holdup.message } : row]
    }),
  )
}
