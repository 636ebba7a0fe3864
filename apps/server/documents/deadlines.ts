import { type RawBuilder, sql } from 'kysely'
import type { ServiceCode } from '../platform/service.ts'
import { all, type DueAnswer, type DueFilter } from './list/filter.ts'

/** Until when an event may be registered, counted from the authorisation of the document. */
interface DeadlineRule {
  tpEvento: readonly number[]
  hours: number
  /** Documents authorised from this day on (São Paulo) follow it; a later row of the same event takes its place. */
  since: string
  source: string
}

/** The first answer of the destinatário, which releases the whole note. */
export const ciencia = 210210
/** The answers of the destinatário of which the last one counts (NT 2020.001). */
export const conclusive: readonly number[] = [210200, 210220, 210240]
/** Those that release the whole note: Desconhecimento does not (NT 2014.002). */
export const releasing: readonly number[] = [ciencia, 210200, 210240]
/** Prestação em Desacordo and its cancellation. */
export const disagreement: readonly number[] = [610110, 610111]

const days = (count: number) => count * 24

/** Deadlines change by law: a change is a new row, and old documents keep theirs. The authority has the last word (cStat 596, 220, 787). */
export const deadlines: readonly DeadlineRule[] = [
  { tpEvento: [ciencia], hours: days(10), since: '2012-01-01', source: 'NT 2020.001' },
  { tpEvento: conclusive, hours: days(180), since: '2012-01-01', source: 'Ajuste SINIEF 44/20' },
  {
    tpEvento: conclusive,
    hours: days(90),
    since: '2026-06-01',
    source: 'Ajuste SINIEF 14/26; NT 2020.001 v1.60',
  },
  { tpEvento: [110111], hours: 168, since: '2012-01-01', source: 'MOC CT-e 4.00, regra 220' },
  { tpEvento: [610110], hours: days(45), since: '2022-01-01', source: 'MOC CT-e 4.00, regra 787' },
]

/** The last instant in which `tpEvento` may be registered for a document, or null when there is none. */
export function deadlineOf(
  tpEvento: number,
  authorizedAt: Date,
  table: readonly DeadlineRule[] = deadlines,
): Date | null {
  const day = new Date(authorizedAt.getTime() - 3 * 3_600_000).toISOString().slice(0, 10)
  const rows = table.filter((row) => row.tpEvento.includes(tpEvento) && row.since <= day)
  const row = rows.sort((a, b) => (a.since < b.since ? 1 : -1))[0]
  return row ? new Date(authorizedAt.getTime() + row.hours * 3_600_000) : null
}

export interface OwnAnswer {
  tpEvento: number
  sequence: number
  pending: boolean
}

export interface Answerable {
  type: ServiceCode
  chave: string
  /** Bit mask of participation codes. */
  roles: number
  /** As the filter knows it. */
  status: number
  authorized_at: Date | null
  complete: boolean
  /** What left from here, oldest first; of a CT-e also the disagreements that came from elsewhere. */
  own: OwnAnswer[]
}

interface AnswerDeadline {
  answer: DueAnswer
  until: Date
}

const [recipient, tomador] = [1 << 1, 1 << 7]
const ended = [3, 9]
const answeredStatuses = [4, 5, 6]
const acknowledgedStatus = 8
const gtv = '64'

/** The next answer whose deadline has not passed, or null. An event under way may be refused, so its answer stays due. */
export function dueAnswer(document: Answerable, now: Date): AnswerDeadline | null {
  const { type, chave, roles, status, authorized_at, complete, own } = document
  if (authorized_at === null || ended.includes(status)) return null
  const due = (answer: AnswerDeadline['answer'], tpEvento: number): AnswerDeadline | null => {
    const until = deadlineOf(tpEvento, authorized_at)
    return until && now <= until ? { answer, until } : null
  }
  if (type === 2) {
    if (!(roles & tomador) || chave.slice(20, 22) === gtv) return null
    const [made, withdrawn] = disagreement.map((tpEvento) => sequencesOf(tpEvento, own).size)
    return made! > withdrawn! ? null : due('desacordo', disagreement[0]!)
  }
  if (!(roles & recipient)) return null
  const finals = own.filter(({ tpEvento }) => conclusive.includes(tpEvento))
  if (answeredStatuses.includes(status) || finals.some(({ pending }) => !pending)) return null
  // The Ciência only releases the XML: when the whole note is here, the final answer is due, with or without a Ciência.
  const acknowledged = complete || status === acknowledgedStatus || sequencesOf(ciencia, own).size > 0
  return (acknowledged || finals.length > 0 ? null : due('ciencia', ciencia)) ?? due('manifestacao', conclusive[0]!)
}

// An event that we sent may be listed twice; count each sequence once.
function sequencesOf(tpEvento: number, own: OwnAnswer[]): Set<number> {
  return new Set(own.flatMap((event) => (event.tpEvento === tpEvento && !event.pending ? event.sequence : [])))
}

/** The last instant of `dueAnswer` for a `document d`, for order and filter of lists; a test holds the two together. */
export function dueInDatabase(workspaceId: number, type: ServiceCode, now: Date): RawBuilder<unknown> {
  const until = (tpEvento: number | undefined) => untilInDatabase(tpEvento!, now)
  const open = (rest: RawBuilder<unknown>) =>
    sql`case when d.authorized_at is null or d.status ${is(ended)} or d.roles & ${type === 2 ? tomador : recipient} = 0 then null ${rest} end`
  if (type === 2)
    return open(
      sql`when ${until(disagreement[0])} is null or substr(d.chave, 21, 2) = ${gtv} or ${disputed(workspaceId)} then null else ${until(disagreement[0])}`,
    )
  // Read once and kept as a set: most workspaces have few of them.
  const sent = (condition: RawBuilder<unknown>) =>
    sql`d.id in (select o.document_id from outgoing_event o where o.workspace_id = ${workspaceId} and o.type = ${type} and ${condition})`
  const answered = sent(sql`${isAnswered} and o.tp_evento ${is(conclusive)}`)
  const acknowledged = sent(
    sql`((o.state = 'registered' and o.tp_evento = ${ciencia}) or ((${isAnswered} or o.state in ('waiting', 'sending')) and o.tp_evento ${is(conclusive)}))`,
  )
  return open(sql`
    when d.status ${is(answeredStatuses)} or ${answered} then null
    else coalesce(case when not (d.complete or d.status = ${acknowledgedStatus} or ${acknowledged}) then ${until(ciencia)} end, ${until(conclusive[0])})`)
}

/** Condition of the `document d` whose `dueAnswer` can be given until `last` at most; with `first`, not before it either. */
export function dueUntil(
  workspaceId: number,
  type: ServiceCode,
  now: Date,
  last: Date,
  first: Date = now,
): RawBuilder<unknown> {
  const windows = (answers: readonly number[]) => authorizedFor(hoursOf(answers), first, last)
  const near =
    type === 2
      ? windows(disagreement.slice(0, 1))
      : sql`((not d.complete and ${windows([ciencia])}) or ${windows(conclusive)})`
  return sql`d.workspace_id = ${workspaceId} and d.type = ${type} and ${isOpen} and ${near}
    and ${dueInDatabase(workspaceId, type, now)} < ${last}::timestamptz`
}

/** Whether the next answer that `dueInDatabase` is about is the Ciência. */
export const isCienciaDue = (workspaceId: number, type: ServiceCode, now: Date): RawBuilder<unknown> =>
  sql`extract(epoch from ${dueInDatabase(workspaceId, type, now)} - d.authorized_at)::int / 3600 = any (${hoursOf([ciencia])}::int[])`

const dayMs = 86_400_000
// São Paulo has been three hours behind since 2019.
const startOf = (day: string) => new Date(`${day}T00:00:00-03:00`)

/** The documents that a filter by deadline finds, as a condition on `document d`. */
export function dueCondition(
  workspaceId: number,
  type: ServiceCode,
  { from, to, answer }: DueFilter,
): RawBuilder<unknown> {
  if (answer !== undefined && (answer === 'desacordo') !== (type === 2)) return sql`false`
  const now = new Date()
  const beyondAll = new Date(now.getTime() + Math.max(...answerHours(type)) * 3_600_000 + dayMs)
  const last = to === undefined ? beyondAll : new Date(startOf(to).getTime() + dayMs)
  const first = from === undefined || startOf(from) < now ? now : startOf(from)
  return all([
    dueUntil(workspaceId, type, now, last, first),
    ...(first === now ? [] : [sql`${dueInDatabase(workspaceId, type, now)} >= ${first}::timestamptz`]),
    ...(answer === 'ciencia' ? [isCienciaDue(workspaceId, type, now)] : []),
    ...(answer === 'manifestacao' ? [sql`not ${isCienciaDue(workspaceId, type, now)}`] : []),
  ])
}

// In the words of the indexes.
const isOpen = sql`d.status not in (${sql.join(ended.map((one) => sql.lit(one)))})`

// Those of which a deadline of so many hours is between the two.
function authorizedFor(hours: Iterable<number>, first: Date, last: Date): RawBuilder<unknown> {
  const within = [...hours].map((hours) => {
    const [from, until] = [first, last].map((time) => new Date(time.getTime() - hours * 3_600_000))
    return sql`d.authorized_at between ${from}::timestamptz and ${until}::timestamptz`
  })
  return sql`(${sql.join(within, sql` or `)})`
}

// How long after the authorisation the answers to documents of a type may be due.
function answerHours(type: ServiceCode): number[] {
  return hoursOf(type === 2 ? disagreement.slice(0, 1) : [ciencia, ...conclusive])
}

const hoursOf = (answers: readonly number[]) => [
  ...new Set(
    deadlines.filter(({ tpEvento }) => tpEvento.some((one) => answers.includes(one))).map(({ hours }) => hours),
  ),
]

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

// `deadlineOf`, or null when it is over.
function untilInDatabase(tpEvento: number, now: Date): RawBuilder<unknown> {
  const rows = deadlines.filter((row) => row.tpEvento.includes(tpEvento)).sort((a, b) => (a.since < b.since ? 1 : -1))
  const cases = rows.map(
    ({ hours, since }) =>
      sql`when d.authorized_at >= ${`${since}T00:00:00-03:00`}::timestamptz then
            case when d.authorized_at >= ${new Date(now.getTime() - hours * 3_600_000)}::timestamptz then d.authorized_at + ${`${hours} hours`}::interval end`,
  )
  return sql`(case ${sql.join(cases, sql` `)} end)`
}
