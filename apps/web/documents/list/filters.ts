import type { Due } from '@vigia/contract/agenda'
import { dueAnswers } from '@vigia/contract/codes'
import { type ListOrder, listOrders, type marks, type reformFilters } from '@vigia/contract/documents'
import { type ReportSubject, reportLine } from '@vigia/contract/reports'
import { parseAmount } from '../../lib/amount.ts'
import type { DocumentKind } from '../../lib/kinds.ts'
import { monthPeriod, type Period, parseDay } from '../../ui/period/days.ts'

/** The filter of the list; an empty text means all. */
export interface Filters {
  search: string
  /** A company by its id, or `activeCompanies`. */
  company: string
  participation: string
  status: string
  /** Range of days (aaaa-MM-dd, inclusive) for the next deadline, and its answer. */
  dueFrom: string
  dueTo: string
  dueAnswer: Due['para'] | ''
  /** A mark set by people of the workspace. */
  mark: (typeof marks)[number] | ''
  /** An open alert, perhaps of one band. */
  alert: (typeof alertChoices)[number]['code'] | ''
  /** Presence of IBS and CBS. */
  reform: (typeof reformFilters)[number] | ''
  /** Contents: a product id, an NCM prefix, a CFOP. */
  product: string
  ncm: string
  cfop: string
  /** The report that a number counts, and (with it) the line. */
  counted: ReportSubject | ''
  line: string
  /** Null means any day. */
  period: Period | null
  /** Decimal text, both inclusive. */
  amountFrom: string
  amountTo: string
  order: ListOrder
  ascending: boolean
  /** Columns hidden by the address, overriding the person; empty: no setting, '-': none. */
  hidden: string
  page: number
}

/** In the place of a company: all that are not archived. */
export const activeCompanies = 'ativas' as const

/** The marks as choices; `ending` is that of the documents. */
export const markChoices = ({
  ending,
}: Pick<DocumentKind, 'ending'>): readonly { code: (typeof marks)[number]; label: string }[] => [
  { code: 'conferidas', label: `Conferid${ending}s` },
  { code: 'por-conferir', label: 'Por conferir' },
  { code: 'lancadas', label: `Lançad${ending}s` },
  { code: 'por-lancar', label: 'Por lançar' },
  { code: 'entregues', label: 'Entregues' },
  { code: 'mudaram-depois', label: 'Mudaram depois' },
  { code: 'com-observacao', label: 'Com observação' },
  { code: 'confirmacao-sugerida', label: 'Confirmação sugerida' },
  { code: 'desconhecimento-preparado', label: 'Desconhecimento preparado' },
  { code: 'aguardam-segunda-pessoa', label: 'Aguardam segunda pessoa' },
]

/** The alerts as choices. */
export const alertChoices = [
  { code: 'qualquer', label: 'Com alerta' },
  { code: 'critico', label: 'Com alerta crítico' },
  { code: 'alto', label: 'Com alerta alto' },
  { code: 'medio', label: 'Com alerta médio' },
] as const

/** Choices for the presence of IBS and CBS. */
export const reformChoices: readonly { code: (typeof reformFilters)[number]; label: string }[] = [
  { code: 'com', label: 'Com IBS/CBS' },
  { code: 'parcial', label: 'IBS/CBS em parte' },
  { code: 'sem', label: 'Sem IBS/CBS, regime normal' },
  { code: 'dispensado', label: 'Sem IBS/CBS, dispensado' },
  { code: 'achados', label: 'Com divergência de IBS/CBS' },
]

/** The choice with that name; empty if there is none. */
export function choiceOf<const Code extends string>(
  choices: readonly { code: Code }[],
  value: string | null | undefined,
): Code | '' {
  return choices.find(({ code }) => code === value)?.code ?? ''
}

/** The filter written in the address; missing and invalid values become the default. */
export function readFilters(params: URLSearchParams, kind: DocumentKind, today: Date): Filters {
  const hidden = params.get('ocultas') ?? ''
  const page = Number(params.get('pagina') ?? 1)
  const order = readOrder(params.get('ordem'))
  return {
    search: (params.get('busca') ?? '').trim(),
    company: params.get('empresa') ?? '',
    participation: known(params.get('participacao'), kind.participations),
    status: known(params.get('status'), kind.statuses),
    ...readDue(params),
    mark: choiceOf(markChoices(kind), params.get('marca')),
    alert: choiceOf(alertChoices, params.get('alerta')),
    reform: choiceOf(reformChoices, params.get('reforma')),
    product: digits(params.get('produto'), /^\d{1,10}$/),
    ncm: digits(params.get('ncm'), /^\d{2,8}$/),
    cfop: digits(params.get('cfop'), /^\d{4}$/),
    ...readCounted(params, kind),
    period: readPeriod(params, today),
    amountFrom: parseAmount(params.get('valorDe') ?? '') ?? '',
    amountTo: parseAmount(params.get('valorAte') ?? '') ?? '',
    order,
    ascending: (known(params.get('sentido'), [{ code: 'asc' }, { code: 'desc' }]) || listOrders[order]) === 'asc',
    hidden: /^(-|[a-z]+(\.[a-z]+)*)$/.test(hidden) ? hidden : '',
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  }
}

/** Writes a filter without defaults to an address: "this month" must stay valid next month. */
export function writeFilters(filters: Filters, today: Date): URLSearchParams {
  const params = new URLSearchParams()
  if (filters.search) params.set('busca', filters.search)
  if (filters.company) params.set('empresa', filters.company)
  if (filters.participation) params.set('participacao', filters.participation)
  if (filters.status) params.set('status', filters.status)
  if (filters.dueFrom) params.set('prazoDe', filters.dueFrom)
  if (filters.dueTo) params.set('prazoAte', filters.dueTo)
  if (filters.dueAnswer) params.set('prazoPara', filters.dueAnswer)
  if (filters.mark) params.set('marca', filters.mark)
  if (filters.alert) params.set('alerta', filters.alert)
  if (filters.reform) params.set('reforma', filters.reform)
  if (filters.product) params.set('produto', filters.product)
  if (filters.ncm) params.set('ncm', filters.ncm)
  if (filters.cfop) params.set('cfop', filters.cfop)
  if (filters.counted) params.set('contaComo', filters.counted)
  if (filters.counted && filters.line) params.set('linha', filters.line)
  if (!filters.period) params.set('periodo', 'todos')
  else if (!isCurrentMonth(filters.period, today)) {
    params.set('de', filters.period.from)
    params.set('ate', filters.period.to)
  }
  if (filters.amountFrom) params.set('valorDe', filters.amountFrom)
  if (filters.amountTo) params.set('valorAte', filters.amountTo)
  if (filters.order !== usualOrder) params.set('ordem', filters.order)
  if (filters.ascending !== beginsAscending(filters.order)) params.set('sentido', direction(filters))
  if (filters.hidden) params.set('ocultas', filters.hidden)
  if (filters.page > 1) params.set('pagina', String(filters.page))
  return params
}

/** The page that the list asks for (section 7). */
export function toQuery(filters: Filters, kind: DocumentKind) {
  return { ...toSelection(filters, kind), PaginaAtual: filters.page }
}

/** The whole filter in the order of the list. */
export function toSelection(filters: Filters, kind: DocumentKind) {
  const usual = filters.order === usualOrder && !filters.ascending
  return { ...toFilter(filters, kind), ...(!usual && { Ordem: filters.order, Sentido: direction(filters) }) }
}

/** The filter as a query of the calls (section 7); unset filters are omitted. */
export function toFilter(filters: Filters, kind: DocumentKind) {
  return {
    TipoDFe: kind.tipoDFe,
    CampoPesquisa: filters.search || undefined,
    IdEmpresa: (filters.company !== activeCompanies && filters.company) || undefined,
    Empresas: filters.company === activeCompanies ? activeCompanies : undefined,
    Status: filters.status || undefined,
    PrazoDe: filters.dueFrom || undefined,
    PrazoAte: filters.dueTo || undefined,
    PrazoPara: filters.dueAnswer || undefined,
    Marca: filters.mark || undefined,
    Alerta: filters.alert || undefined,
    Reforma: filters.reform || undefined,
    Produto: filters.product || undefined,
    NCM: filters.ncm || undefined,
    CFOP: filters.cfop || undefined,
    ContaComo: filters.counted || undefined,
    LinhaDoRelatorio: (filters.counted && filters.line) || undefined,
    TipoParticipacao: filters.participation || undefined,
    DataDe: filters.period ? `${filters.period.from}T00:00:00` : undefined,
    DataAte: filters.period ? `${filters.period.to}T23:59:59` : undefined,
    ValorDe: filters.amountFrom || undefined,
    ValorAte: filters.amountTo || undefined,
  }
}

export function defaultFilters(today: Date): Filters {
  return {
    search: '',
    company: '',
    participation: '',
    status: '',
    dueFrom: '',
    dueTo: '',
    dueAnswer: '',
    mark: '',
    alert: '',
    reform: '',
    product: '',
    ncm: '',
    cfop: '',
    counted: '',
    line: '',
    period: monthPeriod(today),
    amountFrom: '',
    amountTo: '',
    order: usualOrder,
    ascending: false,
    hidden: '',
    page: 1,
  }
}

/** Whether anything but the period narrows the list. */
export function isNarrowed({ period, order, ascending, hidden, page, ...choices }: Filters): boolean {
  return Object.values(choices).some((choice) => choice !== '')
}

const usualOrder: ListOrder = 'data'

export const beginsAscending = (order: ListOrder): boolean => listOrders[order] === 'asc'

const direction = ({ ascending }: Filters): 'asc' | 'desc' => (ascending ? 'asc' : 'desc')

function readOrder(value: string | null): ListOrder {
  return value !== null && Object.hasOwn(listOrders, value) ? (value as ListOrder) : usualOrder
}

export function isCurrentMonth(period: Period, today: Date): boolean {
  const month = monthPeriod(today)
  return period.from === month.from && period.to === month.to
}

function readDue(params: URLSearchParams): Pick<Filters, 'dueFrom' | 'dueTo' | 'dueAnswer'> {
  const [from = '', to = ''] = ['prazoDe', 'prazoAte'].map((name) => parseDay(params.get(name) ?? '') ?? '')
  const dueAnswer = dueAnswers.find((one) => one === params.get('prazoPara')) ?? ''
  return from && to && from > to ? { dueFrom: '', dueTo: '', dueAnswer } : { dueFrom: from, dueTo: to, dueAnswer }
}

function readPeriod(params: URLSearchParams, today: Date): Period | null {
  if (params.get('periodo') === 'todos') return null
  const from = parseDay(params.get('de') ?? '')
  const to = parseDay(params.get('ate') ?? '')
  return from && to && from <= to ? { from, to } : monthPeriod(today)
}

function readCounted(params: URLSearchParams, kind: DocumentKind): Pick<Filters, 'counted' | 'line'> {
  const counted = choiceOf(kind.counted, params.get('contaComo'))
  const line = params.get('linha') ?? ''
  return { counted, line: counted && reportLine(line) ? line : '' }
}

const digits = (value: string | null, shape: RegExp): string => (value !== null && shape.test(value) ? value : '')

function known(value: string | null, codes: readonly { code: number | string }[]): string {
  return codes.some(({ code }) => String(code) === value) ? String(value) : ''
}
