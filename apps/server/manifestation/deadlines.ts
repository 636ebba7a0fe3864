/** Until when an event may be registered, counted from the authorisation of the document. */
export interface Deadline {
  tpEvento: readonly number[]
  hours: number
  /** Documents authorised from this day on (São Paulo) follow it; a later row of the same event takes its place. */
  since: string
  /** The act that says so. */
  source: string
}

const days = (count: number) => count * 24

/** Deadlines change by law: a change is a new row, and old documents keep theirs. The authority has the last word (cStat 596, 220, 787). */
export const deadlines: readonly Deadline[] = [
  { tpEvento: [210210], hours: days(10), since: '2012-01-01', source: 'NT 2020.001' },
  { tpEvento: [210200, 210220, 210240], hours: days(180), since: '2012-01-01', source: 'Ajuste SINIEF 44/20' },
  {
    tpEvento: [210200, 210220, 210240],
    hours: days(90),
    since: '2026-06-01',
    source: 'Ajuste SINIEF 14/26; NT 2020.001 v1.60',
  },
  { tpEvento: [110111], hours: 168, since: '2012-01-01', source: 'MOC CT-e 4.00, regra 220' },
  { tpEvento: [610110], hours: days(45), since: '2022-01-01', source: 'MOC CT-e 4.00, regra 787' },
]

/** The last instant in which `tpEvento` may be registered for a document, or null when there is none. */
export function deadlineOf(tpEvento: number, authorizedAt: Date, table: readonly Deadline[] = deadlines): Date | null {
  const day = new Date(authorizedAt.getTime() - 3 * 3_600_000).toISOString().slice(0, 10)
  const rows = table.filter((row) => row.tpEvento.includes(tpEvento) && row.since <= day)
  const row = rows.sort((a, b) => (a.since < b.since ? 1 : -1))[0]
  return row ? new Date(authorizedAt.getTime() + row.hours * 3_600_000) : null
}
