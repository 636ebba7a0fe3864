import { isDeepStrictEqual } from 'node:util'
import type { previewManifestation } from '@vigia/contract/manifestation'
import { cartaCorrecao } from '@vigia/dfe/families/cte'
import type { Answer } from '@vigia/dfe/families/family'
import type { Correction } from '@vigia/sefaz/events'
import { sql } from 'kysely'
import type { Context, WithDatabase } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { DataOf } from '../platform/http/http.ts'
import type { Session } from '../platform/http/session.ts'
import type { Service } from '../platform/service.ts'
import { type Candidate, loadCandidates, type Outgoing, type Permit, permit } from './subjects.ts'

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
