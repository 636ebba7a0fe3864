import { cteRole, disagreement, disagreementTerms, gtv } from '@vigia/dfe/families/cte'
import type { AnswerSubject, DueAnswer, OwnAnswer } from '@vigia/dfe/families/family'
import type { FamilyId } from '@vigia/dfe/families/id'
import { familyOf, finalStatuses, keyOf } from '@vigia/dfe/families/lookup'
import { ciencia, cienciaTerms, conclusive, conclusiveTerms, nfe, nfeRole } from '@vigia/dfe/families/nfe'
import { status } from '@vigia/dfe/families/statuses'
import type { Term } from '@vigia/dfe/families/terms'
import { type RawBuilder, sql } from 'kysely'
import type { ServiceCode } from '../platform/service.ts'
import { all, type DueFilter } from './list/filter.ts'

export interface Answerable extends Pick<AnswerSubject, 'roles' | 'status' | 'complete'> {
  type: ServiceCode
  chave: string
  authorized_at: Date | null
  /** What left from here, oldest first; of a CT-e also the disagreements that came from elsewhere. */
  own: OwnAnswer[]
}

/** The next answer whose deadline has not passed, or null. */
export function dueAnswer({ type, chave, authorized_at, ...rest }: Answerable, now: Date): DueAnswer | null {
  const subject = { ...rest, model: keyOf(chave).model, authorizedAt: authorized_at, deadlineLifted: false }
  return familyOf(type).open(subject, now)
}

/** `open` of a family for a `document d`. */
interface DueInDatabase {
  /** The role that has to answer. */
  role: number
  terms: readonly Term[]
  /** Branches of a case: the last instant of the next answer. */
  until(workspaceId: number, now: Date): RawBuilder<unknown>
  /** Condition for a deadline between `first` and `last`, in the form that the indexes have. */
  near(first: Date, last: Date): RawBuilder<unknown>
}

// A family that is not here has no deadlines in lists. A test holds each to the `open` of its family.
const deadlines: Partial<Record<FamilyId, DueInDatabase>> = {
  nfe: {
    role: nfeRole.destinatario,
    terms: [...cienciaTerms, ...conclusiveTerms],
    until(workspaceId, now) {
      // Read once and kept as a set: most workspaces have few of them.
      const sent = (condition: RawBuilder<unknown>) =>
        sql`d.id in (select o.document_id from outgoing_event o where o.workspace_id = ${workspaceId} and o.type = ${nfe.code} and ${condition})`
      const answered = sent(sql`${isAnswered} and o.tp_evento ${is(conclusive)}`)
      const acknowledged = sent(
        sql`((o.state = 'registered' and o.tp_evento = ${ciencia}) or ((${isAnswered} or o.state in ('waiting', 'sending')) and o.tp_evento ${is(conclusive)}))`,
      )
      return sql`
    when d.status ${is([status.unknownOperation, status.notPerformed, status.confirmed])} or ${answered} then null
    else coalesce(case when not (d.complete or d.status = ${status.acknowledged} or ${acknowledged}) then ${endOf(cienciaTerms, now)} end, ${endOf(conclusiveTerms, now)})`
    },
    near: (first, last) =>
      sql`((not d.complete and ${within(cienciaTerms, first, last)}) or ${within(conclusiveTerms, first, last)})`,
  },
  cte: {
    role: cteRole.tomador,
    terms: disagreementTerms,
    until: (workspaceId, now) =>
      sql`when ${endOf(disagreementTerms, now)} is null or substr(d.chave, 21, 2) = ${gtv} or ${disputed(workspaceId)} then null else ${endOf(disagreementTerms, now)}`,
    near: (first, last) => within(disagreementTerms, first, last),
  },
} satisfies Record<FamilyId, DueInDatabase>

const deadlinesOf = (type: ServiceCode) => deadlines[familyOf(type).id]

/** The last instant of `dueAnswer` for a `document d`, for order and filter of lists; a test holds the two together. */
export function dueInDatabase(workspaceId: number, type: ServiceCode, now: Date): RawBuilder<unknown> {
  const of = deadlinesOf(type)
  if (!of) return sql`null::timestamptz`
  return sql`case when d.authorized_at is null or d.status ${is(finalStatuses)} or d.roles & ${1 << of.role} = 0 then null ${of.until(workspaceId, now)} end`
}

/** Condition of the `document d` whose `dueAnswer` can be given until `last` at most; with `first`, not before it either. */
export function dueUntil(
  workspaceId: number,
  type: ServiceCode,
  now: Date,
  last: Date,
  first: Date = now,
): RawBuilder<unknown> {
  const of = deadlinesOf(type)
  if (!of) return sql`false`
  return sql`d.workspace_id = ${workspaceId} and d.type = ${type} and ${isOpen} and ${of.near(first, last)}
    and ${dueInDatabase(workspaceId, type, now)} < ${last}::timestamptz`
}

/** Whether the next answer that `dueInDatabase` is about is the Ciência. */
export const isCienciaDue = (workspaceId: number, type: ServiceCode, now: Date): RawBuilder<unknown> =>
  type === nfe.code
    ? sql`extract(epoch from ${dueInDatabase(workspaceId, type, now)} - d.authorized_at)::int / 3600 = any (${cienciaTerms.map(({ hours }) => hours)}::int[])`
    : sql`false`

const dayMs = 86_400_000
// São Paulo has been three hours behind since 2019.
const startOf = (day: string) => new Date(`${day}T00:00:00-03:00`)

/** The documents that a filter by deadline finds, as a condition on `document d`. */
export function dueCondition(
  workspaceId: number,
  type: ServiceCode,
  { from, to, answer }: DueFilter,
): RawBuilder<unknown> {
  const of = deadlinesOf(type)
  if (!of || (answer !== undefined && familyOf(type).answers.every(({ due }) => due !== answer))) return sql`false`
  const now = new Date()
  const beyondAll = new Date(now.getTime() + Math.max(...of.terms.map(({ hours }) => hours)) * 3_600_000 + dayMs)
  const last = to === undefined ? beyondAll : new Date(startOf(to).getTime() + dayMs)
  const first = from === undefined || startOf(from) < now ? now : startOf(from)
  return all([
    dueUntil(workspaceId, type, now, last, first),
    ...(first === now ? [] : [sql`${dueInDatabase(workspaceId, type, now)} >= ${first}::timestamptz`]),
    ...(answer === 'ciencia' ? [isCienciaDue(workspaceId, type, now)] : []),
    ...(answer === 'manifestacao' ? [sql`not ${isCienciaDue(workspaceId, type, now)}`] : []),
  ])
}

/** Condition for a `document d` whose status is not final, in the form that the indexes have. */
export const isOpen = sql`d.status not in (${sql.join(finalStatuses.map((one) => sql.lit(one)))})`

// Condition for a term that ends between `first` and `last`.
function within(terms: readonly Term[], first: Date, last: Date): RawBuilder<unknown> {
  const each = terms.map(({ hours }) => {
    const [from, until] = [first, last].map((time) => new Date(time.getTime() - hours * 3_600_000))
    return sql`d.authorized_at between ${from}::timestamptz and ${until}::timestamptz`
  })
  return sql`(${sql.join(each, sql` or `)})`
}

/** Whether the outgoing event `o` is registered. Of one that is another system's the authority does not tell whether it stands, but some final answer does. */
export const isAnswered = sql<boolean>`(o.state = 'registered' or o.state = 'unconfirmed' and o.c_stat is not null)`

const is = (codes: readonly number[]) => sql`= any (${sql.lit(`{${codes.join()}}`)}::int[])`

const distinctOf = (tpEvento: number) => sql`count(distinct e.sequence) filter (where e.tp_evento = ${tpEvento})`
// Both the number and the column: of several servers one is asked where all of a statement names the workspace, and none refuses where a part does not.
const disputed = (workspaceId: number) => sql`(
  select ${sql.join(disagreement.map(distinctOf), sql` > `)} from (
    select o.tp_evento, o.sequence from outgoing_event o
     where o.workspace_id = ${workspaceId} and o.workspace_id = d.workspace_id and o.document_id = d.id and o.state = 'registered'
    union all
    select e.tp_evento, e.sequence from document_event e
      join company c on c.workspace_id = e.workspace_id and c.id = e.company_id and c.cnpj = e.author
     where e.workspace_id = ${workspaceId} and e.workspace_id = d.workspace_id and e.company_id = d.company_id and e.chave = d.chave and e.rank > 0) e)`

// `termEnd` in SQL; null when the term is over.
function endOf(terms: readonly Term[], now: Date): RawBuilder<unknown> {
  const cases = terms.toReversed().map(
    ({ hours, since }) =>
      sql`when d.authorized_at >= ${`${since}T00:00:00-03:00`}::timestamptz then
            case when d.authorized_at >= ${new Date(now.getTime() - hours * 3_600_000)}::timestamptz then d.authorized_at + ${`${hours} hours`}::interval end`,
  )
  return sql`(case ${sql.join(cases, sql` `)} end)`
}
