import type { ServiceCode } from '../platform/service.ts'

/** Until when an event may be registered, counted from the authorisation of the document. */
interface DeadlineRule {
  tpEvento: readonly number[]
  hours: number
  /** Documents authorised from this day on (São Paulo) follow it; a later row of the same event takes its place. */
  since: string
  /** The act that says so. */
  source: string
}

/** The first answer of the destinatário, which releases the whole note. */
export const ciencia = 210210
/** The answers of the destinatário of which the last one counts (NT 2020.001). */
export const conclusive: readonly number[] = [210200, 210220, 210240]
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

/** An event of the company about a document, registered or on its way. */
export interface OwnAnswer {
  tpEvento: number
  sequence: number
  pending: boolean
}

/** What decides which answer of the company is due. */
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

/** The answer that a document waits for, and the last instant for it. */
interface AnswerDeadline {
  answer: 'ciencia' | 'manifestacao' | 'desacordo'
  until: Date
}

const [recipient, tomador] = [1 << 1, 1 << 7]
const ended = [3, 9]
const answeredStatuses = [4, 5, 6]
const acknowledgedStatus = 8
const gtv = '64'

/**
 * The next answer whose deadline has not passed, or null. An event under way does not count yet: it may be refused, and the deadline runs on.
 * manifestation/rules.ts decides whether an event may be sent now.
 */
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
