import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { cartaCorrecao } from '@vigia/dfe/families/cte'
import type { Answer } from '@vigia/dfe/families/family'
import { answerOf, familyById } from '@vigia/dfe/families/lookup'
import { ciencia, conclusive, nfe } from '@vigia/dfe/families/nfe'
import type { Correction } from '@vigia/sefaz/events'
import { type Insertable, sql } from 'kysely'
import { recordAudit } from '../accounts/audit/audit.ts'
import { eventName } from '../documents/list/rows.ts'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { beyondLimit, companiesShown, inWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Session } from '../platform/http/session.ts'
import { createLimiter } from '../platform/limiter.ts'
import { holdLock } from '../platform/locks.ts'
import { type Service, serviceCodes } from '../platform/service.ts'
import type { Tables } from '../platform/tables.ts'
import { correctionsOf } from './corrections.ts'
import { findHoldups } from './holdups.ts'
import { judge, type Verdict } from './rules.ts'
import { noteSettled, writeAnswers } from './settled.ts'
import { type Candidate, loadCandidates, loadNames, type Named, type Outgoing } from './subjects.ts'
import { findSuggestions } from './suggestions.ts'
import { numbersText, outgoingText } from './texts.ts'
import { ofTwoPeople, readTwoFrom, tellAsked, waitsForSecond } from './two-people.ts'

interface EventSelection {
  service: Service
  kind: Answer
  /** Public ids. */
  documents: string[]
}

export interface ManifestationRequest extends EventSelection {
  justification: string
  /** Only for a Carta de Correção whose fields the person names, instead of writing a text. */
  corrections?: Correction[]
}

export interface RequestOutcome {
  documentId: bigint
  chave: string
  number: number
  /** `asked`: it waits for a second person; `unconfirmed`: the authority does not tell whether it has it, or whether it stands. */
  state: 'registered' | 'sending' | 'refused' | 'asked' | 'unconfirmed'
  /** Status of the authority's response. */
  cStat: number | null
  message: string
}

/** Queues the events that a person requests and waits a while for responses. Refusals are returned; an unknown id refuses the request. */
export async function requestEvents(
  shown: Pick<Context, 'db' | 'ids' | 'config'>,
  session: Session,
  request: ManifestationRequest,
  waitMs = 10_000,
): Promise<RequestOutcome[]> {
  // Events sent by others about the same document count, too.
  const ctx = beyondLimit(shown)
  if (companiesShown(shown))
    await readWorkspace(shown, session.workspaceId, (ctx) => findCandidates(ctx, session.workspaceId, request))
  outgoingText(request.kind, request.justification)
  const corrections =
    request.kind.tpEvento === cartaCorrecao ? correctionsOf(request.justification, request.corrections) : null
  const placed = await placeInTurn(ctx, session, request, corrections)
  const results = await awaitResponses(ctx, session.workspaceId, placed, waitMs)
  return placed.map(({ candidate: { documentId, chave, number }, eventId, refusal, repeated }) => {
    const document = { documentId, chave, number }
    if (eventId === null) return { ...document, state: 'refused', cStat: null, message: refusal }
    const result = results.get(eventId)!
    const before = result.state === 'asked' ? 'Esta resposta já foi pedida.' : 'Este evento já estava em envio.'
    const message =
      repeated && ['sending', 'asked'].includes(result.state) ? `${before} ${result.message}` : result.message
    return { ...document, ...result, message }
  })
}

// Requests of a workspace run one by one anyway: they must not hold connections while they wait.
const takeTurn = createLimiter({
  each: 1,
  waiting: 100,
  full: 'Há pedidos demais desta conta ao mesmo tempo. Este não foi feito; tente de novo em instantes.',
})

async function placeInTurn(
  ctx: Pick<Context, 'db' | 'ids'>,
  session: Session,
  request: ManifestationRequest,
  corrections: Correction[] | null,
): Promise<Placed[]> {
  using _ = await takeTurn(session.workspaceId)
  return inWorkspace(ctx, session.workspaceId, async (ctx) => {
    await lockRequests(ctx, session.workspaceId)
    const candidates = await findCandidates(ctx, session.workspaceId, request)
    return place(ctx, session, request, corrections, candidates)
  })
}

/** Why a new request would be refused now, or null, and the last instant for it. Writes nothing; unknown ids refuse the call. */
export async function previewEvents(
  ctx: Pick<Context, 'db' | 'ids'>,
  session: Session,
  selection: EventSelection,
): Promise<{ candidate: Named; refusal: string | null; deadline: Date | null }[]> {
  return readWorkspace(ctx, session.workspaceId, async (ctx) => {
    const documentIds = decodeIds(ctx, session.workspaceId, selection.documents)
    const candidates = await loadCandidates(ctx, session.workspaceId, documentIds, selection.service)
    const shown = new Set(candidates.map(({ documentId }) => documentId))
    const missing = documentIds.filter((id) => !shown.has(id))
    const hidden = missing.length > 0 ? await loadNames(ctx, session.workspaceId, missing, selection.service) : []
    if (hidden.length < missing.length) throw documentNotFound()
    const text = { ...selection, justification: null, corrections: null }
    const decisions = await decideRequests(ctx, session, text, candidates, new Date())
    const previewed = [
      ...decisions.map((decision) => ({
        candidate: decision.candidate,
        refusal: 'refusal' in decision ? decision.refusal : null,
        deadline: selection.kind.until(decision.candidate),
      })),
      ...hidden.map((candidate) => ({ candidate, refusal: hiddenMeanwhile, deadline: null })),
    ]
    const order = new Map(documentIds.map((id, index) => [id, index]))
    return previewed.sort((a, b) => order.get(a.candidate.documentId)! - order.get(b.candidate.documentId)!)
  })
}

const hiddenMeanwhile =
  'Este documento não aparece mais para as suas empresas: as configurações mudaram. Ele continua guardado.'
const documentNotFound = () => new AppError('not-found', 'Documento não encontrado.')

function decodeIds({ ids }: Pick<Context, 'ids'>, workspaceId: number, documents: string[]): bigint[] {
  return [...new Set(documents)].map((id) => {
    const decoded = ids.decode(workspaceId, id)
    if (decoded === null) throw documentNotFound()
    return decoded
  })
}

// In the order of the request, each once.
async function findCandidates(
  ctx: Pick<Context, 'db' | 'ids'>,
  workspaceId: number,
  { documents, service }: EventSelection,
): Promise<Candidate[]> {
  const documentIds = decodeIds(ctx, workspaceId, documents)
  const candidates = await loadCandidates(ctx, workspaceId, documentIds, service)
  if (candidates.length < documentIds.length) throw documentNotFound()
  return candidates
}

/** Requests of one workspace are placed one after the other, each seeing the rows of those before. */
export async function lockRequests({ db }: WithDatabase, workspaceId: number): Promise<void> {
  await holdLock({ db }, 'eventRequests', workspaceId)
}

// Either the row that carries it out already, or the number to send with, or why it is not sent.
type RequestDecision = { candidate: Candidate } & ({ before: bigint } | Verdict)

interface EventText {
  kind: Answer
  justification: string | null
  corrections: Correction[] | null
}

async function decideRequests(
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
    return { candidate, ...(exhausted.has(candidate.documentId) ? tooOften : judge(tpEvento, candidate, now)) }
  })
}

interface Placed {
  candidate: Candidate
  /** Id of the event row; null: refused. */
  eventId: bigint | null
  refusal: string
  /** The row was there already. */
  repeated: boolean
}

async function place(
  { db }: WithDatabase,
  session: Session,
  request: ManifestationRequest,
  corrections: Correction[] | null,
  candidates: Candidate[],
): Promise<Placed[]> {
  const { kind, service, justification } = request
  const now = new Date()
  const placed: Placed[] = []
  const rows: (Insertable<Tables['outgoing_event']> & { document_id: bigint })[] = []
  const decisions = await decideRequests({ db }, session, { kind, justification, corrections }, candidates, now)
  const twoFrom = ofTwoPeople.includes(kind.tpEvento) ? await readTwoFrom({ db }, session.workspaceId) : null
  const suggestions = await findSuggestions({ db }, session.workspaceId, kind.tpEvento, candidates)
  const why = `Pedida por ${session.accountName} em ${formatBrasiliaMoment(now)}`
  const asked: Candidate[] = []
  for (const decision of decisions) {
    const { candidate } = decision
    const before = 'before' in decision ? decision.before : null
    // Asking for it once more settles what the authority never told.
    const again = before !== null && candidate.outgoing.some(({ id, unconfirmed }) => id === before && unconfirmed)
    if (again) await sendAgain({ db }, session, candidate, before)
    placed.push({
      candidate,
      eventId: before,
      refusal: 'refusal' in decision ? decision.refusal : '',
      repeated: before !== null && !again,
    })
    if (!('sequence' in decision)) continue
    const isAsked = twoFrom !== null && candidate.amount >= Number(twoFrom)
    if (isAsked) asked.push(candidate)
    const suggestion = suggestions.get(candidate.documentId)
    rows.push({
      workspace_id: session.workspaceId,
      company_id: candidate.companyId,
      document_id: candidate.documentId,
      type: serviceCodes[service],
      cnpj: candidate.cnpj,
      chave: candidate.chave,
      tp_evento: kind.tpEvento,
      sequence: decision.sequence,
      ...(isAsked ? { state: 'asked' as const, message: waitsForSecond } : { message: 'Na fila de envio à SEFAZ.' }),
      justification,
      corrections: corrections && JSON.stringify(corrections),
      why: suggestion ? `${why}, como sugere a regra “${suggestion.rule}”.` : `${why}.`,
      rule_id: suggestion?.ruleId ?? null,
      requested_by: session.accountId,
    })
  }
  if (rows.length === 0) return placed
  await withdrawAsked({ db }, session, kind, rows)
  const written = await db.insertInto('outgoing_event').values(rows).returning(['id', 'document_id', 'state']).execute()
  const leaving = written.filter(({ state }) => state === 'waiting')
  if (conclusive.includes(kind.tpEvento)) await replaceCiencias({ db }, session.workspaceId, kind.tpEvento, leaving)
  await writeAnswers({ db }, session.workspaceId, candidates)
  await tellAsked({ db }, session, asked)
  const idOf = new Map(written.map((row) => [row.document_id, row.id]))
  const placedNow = candidates.filter(({ documentId }) => idOf.has(documentId))
  const waits = asked.length > 0 ? ` À espera de uma segunda pessoa: ${asked.length}.` : ''
  await recordAudit({ db }, session, 'manifestacao', `${auditText(request, placedNow)}${waits}`)
  return placed.map((one) => ({ ...one, eventId: one.eventId ?? idOf.get(one.candidate.documentId) ?? null }))
}

// The same bytes leave: the authority registers them once, or says that it has them.
async function sendAgain({ db }: WithDatabase, session: Session, candidate: Candidate, id: bigint) {
  const { type, number, outgoing } = candidate
  await sql`
    update outgoing_event
       set state = 'sending', message = 'Na fila de envio à SEFAZ, de novo.', next_at = now(), sent_at = null, failures = 0
     where workspace_id = ${session.workspaceId} and id = ${id} and state = 'unconfirmed'`.execute(db)
  await writeAnswers({ db }, session.workspaceId, [candidate])
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
  shown: Pick<Context, 'db' | 'ids' | 'config'>,
  session: Session,
  { document, tpEvento, sequence }: { document: string; tpEvento: number; sequence: number },
  waitMs = 10_000,
): Promise<RequestOutcome> {
  const { workspaceId } = session
  const find = async (ctx: Pick<Context, 'db' | 'ids'>) => {
    const [candidate] = await loadCandidates(ctx, workspaceId, decodeIds(ctx, workspaceId, [document]))
    if (!candidate) throw documentNotFound()
    return candidate
  }
  if (companiesShown(shown)) await readWorkspace(shown, workspaceId, find)
  const ctx = beyondLimit(shown)
  const placed = await inWorkspace(ctx, workspaceId, async (ctx): Promise<Placed> => {
    await lockRequests(ctx, workspaceId)
    const candidate = await find(ctx)
    const event = candidate.outgoing.find((one) => one.tpEvento === tpEvento && one.sequence === sequence)
    if (!event?.unconfirmed) throw new AppError('conflict', notUnconfirmed)
    if (event.settled) throw new AppError('conflict', standsNow)
    const rivals = answerOf(candidate.type, tpEvento)?.rivals.filter((rival) => rival !== tpEvento) ?? []
    if (candidate.outgoing.some((one) => rivals.includes(one.tpEvento) && one.id > event.id))
      throw new AppError('conflict', answeredSince)
    await sendAgain(ctx, session, candidate, event.id)
    return { candidate, eventId: event.id, refusal: '', repeated: false }
  })
  const results = await awaitResponses(ctx, workspaceId, [placed], waitMs)
  const { documentId, chave, number } = placed.candidate
  return { documentId, chave, number, ...results.get(placed.eventId!)! }
}

function auditText({ kind, service }: ManifestationRequest, asked: Candidate[]): string {
  const numbers = `${asked.length === 1 ? 'número' : 'números'} ${numbersText(asked.map(({ number }) => number))}`
  return `Pediu ${eventName(service, kind.tpEvento)} de ${asked.length} ${familyById(service).name} (${numbers}), com justificativa.`
}

// An answer that waits for a second person ends when somebody requests another one.
async function withdrawAsked(
  { db }: WithDatabase,
  { workspaceId, accountName }: Session,
  { rivals }: Answer,
  answers: readonly { document_id: bigint }[],
): Promise<void> {
  const ids = answers.map((answer) => answer.document_id)
  const message = `Outra resposta foi pedida depois, por ${accountName}: esta não espera mais por uma segunda pessoa, e nada foi enviado.`
  const { rows } = await sql<{ id: bigint; documentId: bigint }>`
    update outgoing_event set state = 'rejected', message = ${message}
     where workspace_id = ${workspaceId} and document_id = any (${ids}::bigint[]) and state = 'asked'
       and tp_evento = any (${[...rivals]}::int[])
    returning id, document_id as "documentId"`.execute(db)
  noteSettled({ db }, workspaceId, rows)
}

/** A final answer replaces a Ciência that was not sent yet, also one that a hold turned to `sending`. */
export async function replaceCiencias(
  { db }: WithDatabase,
  workspaceId: number,
  tpEvento: number,
  answers: { id: bigint; document_id: bigint }[],
): Promise<void> {
  const ids = answers.map((answer) => answer.document_id)
  const message = `Substituída pela resposta pedida depois (${eventName(nfe.id, tpEvento)}): a Ciência não foi enviada.`
  // Skip locked: it is being sent now. The pause after 656 or 678 is stored in the waiting row; copy it to the new one.
  const { rows } = await sql<{ id: bigint; documentId: bigint; cStat: number; nextAt: Date; paused: boolean }>`
    with replaced as (
    update outgoing_event set state = 'rejected', message = ${message}, lease_by = null, lease_until = null,
           c_stat = null, x_motivo = null, answered_at = null
     where workspace_id = ${workspaceId} and id in (
       select id from outgoing_event
        where workspace_id = ${workspaceId} and document_id = any (${ids}::bigint[]) and tp_evento = ${ciencia}
          and (state = 'waiting' or state = 'sending' and signed_xml is null)
          for update skip locked)
    returning id, document_id, old.c_stat, old.next_at)
    select id, document_id as "documentId", c_stat as "cStat", next_at as "nextAt", coalesce(c_stat in (656, 678) and next_at > now(), false) as paused
      from replaced`.execute(db)
  noteSettled({ db }, workspaceId, rows)
  for (const { documentId, cStat, nextAt } of rows.filter(({ paused }) => paused)) {
    const { id } = answers.find((answer) => answer.document_id === documentId)!
    await sql`
      update outgoing_event set c_stat = ${cStat}, next_at = ${nextAt}
       where workspace_id = ${workspaceId} and id = ${id}`.execute(db)
  }
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
  if (tpEvento !== cartaCorrecao) return last.settled ? null : last.id
  // The last letter counts: repeating its text changes nothing, however late, unless another letter came in between.
  const standing = counting.findLast((event) => event.tpEvento === tpEvento)
  return sameText(last) && standing?.sequence === last.sequence ? last.id : null
}

const lookEveryMs = 150

// Until all are settled, or until the rest are scheduled after the time-out.
async function awaitResponses(
  ctx: WithConfig,
  workspaceId: number,
  placed: Placed[],
  waitMs: number,
): Promise<Map<bigint, Pick<RequestOutcome, 'state' | 'cStat' | 'message'>>> {
  const ids = placed.flatMap(({ eventId }) => eventId ?? [])
  const waitsUntil = Date.now() + waitMs
  for (;;) {
    const rows = await readRows(ctx, workspaceId, ids)
    if (rows.every(({ leavesAt }) => leavesAt === null || leavesAt.getTime() > waitsUntil) || Date.now() >= waitsUntil)
      return new Map(rows.map(({ id, state, cStat, message }) => [id, { state, cStat, message }]))
    await setTimeout(lookEveryMs)
  }
}

interface AskedRow {
  id: bigint
  state: RequestOutcome['state']
  cStat: number | null
  message: string
  /** Null when it is settled. */
  leavesAt: Date | null
}

async function readRows(ctx: WithConfig, workspaceId: number, ids: bigint[]): Promise<AskedRow[]> {
  if (ids.length === 0) return []
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<AskedRow>`
      select id, case when state in ('registered', 'asked', 'unconfirmed') then state when state = 'rejected' then 'refused' else 'sending' end as state,
             c_stat as "cStat", message,
             case when state in ('waiting', 'sending') then next_at end as "leavesAt"
        from outgoing_event where workspace_id = ${workspaceId} and id = any (${ids}::bigint[])`.execute(db),
  )
  const open = rows.filter((row) => row.leavesAt !== null)
  const holdups = await findHoldups(
    ctx,
    workspaceId,
    open.map((row) => row.id),
  )
  return rows.map((row) => {
    const holdup = holdups.get(row.id)
    return holdup ? { ...row, leavesAt: holdup.until, message: holdup.message } : row
  })
}
