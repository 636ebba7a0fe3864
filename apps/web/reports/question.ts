import {
  groupsOf,
  monthsBetween,
  type ReportGroup,
  type ReportRow,
  type ReportSubject,
  reportGroups,
  reportMonthsMax,
  reportSubjects,
} from '@vigia/contract/reports'
import { subjectPath } from '../lib/kinds.ts'
import { monthPeriod } from '../ui/period/days.ts'
import { moveMonth, readMonths } from '../ui/period/months.ts'

/** Parameters of a report, as kept in the address. */
export interface ReportQuestion {
  subject: ReportSubject
  group: ReportGroup
  /** Months (`aaaa-MM`), both included. */
  from: string
  to: string
  company: string
  search: string
  page: number
  /** Taxes instead of values and comparisons. */
  taxes: boolean
}

/** The months of a report for which no one chose any: the last whole one, by month the last twelve. */
export function usualPeriod(group: ReportGroup, today: Date): Pick<ReportQuestion, 'from' | 'to'> {
  const to = monthPeriod(today, -1).from.slice(0, 7)
  return { from: group === 'mes' ? moveMonth(to, -11) : to, to }
}

/** Reads the parameters of an address; defaults to the usual period by supplier. */
export function readQuestion(params: URLSearchParams, today: Date): ReportQuestion {
  const subject = reportSubjects.find((one) => one === params.get('tipo')) ?? 'compras'
  const asked = reportGroups.find((one) => one === params.get('por'))
  const group = asked && groupsOf[subject].includes(asked) ? asked : 'participante'
  const page = Number(params.get('pagina') ?? 1)
  const period = readMonths(params.get('de'), params.get('ate'), reportMonthsMax)
  return {
    subject,
    group,
    ...(period ?? usualPeriod(group, today)),
    company: params.get('empresa') ?? '',
    search: (params.get('busca') ?? '').trim().slice(0, 100),
    page: Number.isSafeInteger(page) && page > 0 && page < 1_000_000 ? page : 1,
    taxes: params.get('ver') === 'impostos' && group !== 'produto',
  }
}

/** Writes a question to an address, always with the period: its readers see the same. */
export function writeQuestion({
  subject,
  group,
  from,
  to,
  company,
  search,
  page,
  taxes,
}: ReportQuestion): URLSearchParams {
  const params = new URLSearchParams({ tipo: subject, por: group, de: from, ate: to })
  if (company) params.set('empresa', company)
  if (search) params.set('busca', search)
  if (taxes && group !== 'produto') params.set('ver', 'impostos')
  if (page > 1) params.set('pagina', String(page))
  return params
}

export type Compared = 'now' | 'before' | 'yearBefore'

/** The months of a question, or the months of a comparison. */
export function periodOf(
  { from, to }: Pick<ReportQuestion, 'from' | 'to'>,
  which: Compared,
): { from: string; to: string } {
  const by = { now: 0, before: -monthsBetween(from, to), yearBefore: -12 }[which]
  return { from: moveMonth(from, by), to: moveMonth(to, by) }
}

/** Address of the documents behind a number of one row, or of all rows. */
export function documentsOf(question: ReportQuestion, row: Pick<ReportRow, 'chave'> | null, which: Compared): string {
  const { subject, group, company } = question
  const isMonth = row && group === 'mes'
  const { from, to } = periodOf(isMonth ? { from: row.chave, to: row.chave } : question, which)
  const params = new URLSearchParams()
  params.set('contaComo', subject)
  if (row && !isMonth) params.set('linha', `${group}:${row.chave}`)
  if (company) params.set('empresa', company)
  params.set('de', `${from}-01`)
  params.set('ate', monthPeriod(new Date(Number(to.slice(0, 4)), Number(to.slice(5)) - 1, 1)).to)
  return `${subjectPath(subject)}?${params}`
}

/** "+12%", "−3%", "igual"; null: there was nothing to compare with. */
export function changeText(now: number, then: number): string | null {
  if (then === 0) return null
  const percent = ((now - then) / Math.abs(then)) * 100
  if (Math.abs(percent) >= 1000) return percent > 0 ? 'mais de 10×' : null
  const rounded = Math.round(percent)
  if (rounded === 0) return 'igual'
  return `${rounded > 0 ? '+' : '−'}${Math.abs(rounded)}%`
}
