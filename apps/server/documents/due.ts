import type { AnswerSubject, OwnAnswer } from '@vigia/dfe/families/family'
import { familyById, familyOf, keyOf } from '@vigia/dfe/families/lookup'
import { type RawBuilder, sql } from 'kysely'
import type { ServiceCode } from '../platform/service.ts'
import { all, type Criteria } from './list/filter.ts'
import type { DisplayedStanding, EventClaim } from './standing.ts'

// The answer that is due, as columns of the document: docs/decisions/0017-deadlines-and-details.md.

type Due = Pick<DisplayedStanding, 'answer_due_at' | 'answer_due'>

export interface Answerable extends Pick<AnswerSubject, 'roles' | 'status' | 'complete'> {
  chave: string
  authorized_at: Date | string | null
}

/** The answer that is due to a document. `own`: what left from here, and what `answersIn` finds. */
export function dueOf({ chave, authorized_at, ...rest }: Answerable, own: readonly OwnAnswer[], now: Date): Due {
  const { family, model } = keyOf(chave)
  const authorizedAt = authorized_at === null ? null : new Date(authorized_at)
  const due = familyById(family).open({ ...rest, model, authorizedAt, deadlineLifted: false, own }, now)
  return { answer_due_at: due?.until.toISOString() ?? null, answer_due: due?.tpEvento ?? null }
}

export type ReceivedEvent = Pick<EventClaim, 'tp_evento' | 'sequence' | 'rank' | 'status'> & { author: string | null }

/** Answers of the company among received events, without those that the status of the document tells. */
export function answersIn(events: readonly ReceivedEvent[], cnpj: string): OwnAnswer[] {
  return events
    .filter(({ author, rank, status }) => author === cnpj && rank > 0 && status === null)
    .map(({ tp_evento, sequence }) => ({ tpEvento: tp_evento, sequence, pending: false }))
}

/** The last instant for the answer that is due to a `document d`, or null. */
export const dueAt = (now: Date) => sql`(case when d.answer_due_at >= ${now}::timestamptz then d.answer_due_at end)`

/** The documents with an answer that can be given until `last` at most and not before `first`, as a condition on `document d`. */
export function dueUntil(
  workspaceId: number,
  type: ServiceCode,
  last: Date | null = null,
  first = new Date(),
): RawBuilder<unknown> {
  return all([
    sql`d.workspace_id = ${workspaceId} and d.type = ${type} and d.answer_due_at >= ${first}::timestamptz`,
    ...(last ? [sql`d.answer_due_at < ${last}::timestamptz`] : []),
  ])
}

const dayMs = 86_400_000
// São Paulo has been three hours behind since 2019.
const startOf = (day: string) => new Date(`${day}T00:00:00-03:00`)

/** The documents that a filter by deadline finds, as a condition on `document d`. */
export function dueCondition(
  workspaceId: number,
  { TipoDFe, PrazoDe, PrazoAte, PrazoPara }: Pick<Criteria, 'TipoDFe' | 'PrazoDe' | 'PrazoAte' | 'PrazoPara'>,
): RawBuilder<unknown> {
  const now = new Date()
  const last = PrazoAte === undefined ? null : new Date(startOf(PrazoAte).getTime() + dayMs)
  const first = PrazoDe === undefined || startOf(PrazoDe) < now ? now : startOf(PrazoDe)
  const kinds = familyOf(TipoDFe).answers.flatMap(({ tpEvento, due }) => (due === PrazoPara ? tpEvento : []))
  return all([
    dueUntil(workspaceId, TipoDFe, last, first),
    ...(PrazoPara === undefined ? [] : [sql`d.answer_due = any (${kinds}::int[])`]),
  ])
}
