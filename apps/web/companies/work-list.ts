import { type CompanyDetail, type CompanyRow, lastSynchronizations } from '@vigia/contract/companies'
import { formatCount } from '@vigia/contract/text'
import { type Capture, capturesOf, certificateState, hasEnded, isOfAll, isTroubled } from '../lib/capture.ts'

/** How the list can be sorted, by the value in the address. The first is the default. */
export const orders = [
  ['problema', 'Problemas primeiro'],
  ['nome', 'Nome'],
  ['certificado', 'Certificado que vence antes'],
  ['sincronizacao', 'Sincronização mais antiga'],
] as const
type Order = (typeof orders)[number][0]

/** Filters of the list, by their value in the address. */
export const narrowings = [
  ['problema', 'Com problema'],
  ['a-vencer', 'Certificado vence em 30 dias'],
  ['vencido', 'Certificado vencido'],
  ['certificado', 'Precisam de certificado'],
  ['inativas', 'Inativas'],
] as const
export type Narrowing = (typeof narrowings)[number][0]

/** The part of the page of a company where its certificate is sent, in the address. */
export const certificateSection = 'certificado'

/** The heading of the captures on that page. */
export const captureHeading = 'captura'

/** The list of companies on its page. */
export const companiesList = 'empresas'

export interface View {
  order: Order
  narrowing: Narrowing | null
}

export function readView(params: URLSearchParams): View {
  const order = orders.find(([word]) => word === params.get('ordem'))?.[0]
  return { order: order ?? 'problema', narrowing: narrowings.find(([word]) => word === params.get('so'))?.[0] ?? null }
}

/** Calendar days until a certificate expires; negative after that, null if unknown. */
export function daysLeft(validity: string | null, now: Date): number | null {
  const end = new Date(validity ?? Number.NaN)
  if (Number.isNaN(end.getTime())) return null
  const day = (date: Date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate())
  return Math.round((day(end) - day(now)) / 86_400_000)
}

/** "Vence em 12 dias", "Vencido há 3 dias". */
export function validityText(validity: string, now: Date): string {
  const days = daysLeft(validity, now) ?? 0
  if (hasEnded(validity, now)) return days === 0 ? 'Vencido hoje' : `Vencido há ${count(-days)}`
  return days === 0 ? 'Vence hoje' : `Vence em ${count(days)}`
}

const count = (days: number) => formatCount(days, 'dia', 'dias')

/** Expiry of a certificate: an instant, or the end of a known day; null if unknown. */
export function validityOf({ certificado, dataValidadeCertificadoDigital }: CompanyDetail): string | null {
  if (certificado !== undefined) return certificado?.validoAte ?? null
  const [, day, month, year] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(dataValidadeCertificadoDigital ?? '') ?? []
  return year ? new Date(Number(year), Number(month) - 1, Number(day), 23, 59, 59).toISOString() : null
}

type ListedCertificate = Pick<CompanyRow, 'ativa' | 'validadeCertificadoA1'>

/** Whether the certificate of a company in use ends soon or has ended: it needs another one. */
export function endsSoon(company: ListedCertificate, now: Date): boolean {
  return certificateState(company, now) !== null
}

// Most of the time the same reason stops both services; it is shown once.
export function problemsOf(company: CompanyRow, now: Date): Capture[] {
  const troubled = capturesOf(company, now).filter(isTroubled)
  return troubled.filter(({ mensagem }, index) => troubled.findIndex((other) => other.mensagem === mensagem) === index)
}

// The most urgent first.
function urgency(company: CompanyRow, now: Date): number {
  const states = capturesOf(company, now).flatMap((capture) => (isOfAll(capture) ? [] : [capture.estado]))
  if (states.includes('parada')) return 0
  if (states.includes('falha')) return 1
  if (states.includes('bloqueada')) return 2
  if (endsSoon(company, now)) return 3
  if (states.includes('desligada')) return 4
  return company.ativa ? 5 : 6
}

const isIn: Record<Narrowing, (company: CompanyRow, now: Date) => boolean> = {
  problema: (company, now) => problemsOf(company, now).length > 0,
  certificado: endsSoon,
  vencido: (company, now) => certificateState(company, now) === 'vencido',
  'a-vencer': (company, now) => certificateState(company, now) === 'a-vencer',
  inativas: ({ ativa }) => !ativa,
}

export function countOf(narrowing: Narrowing, companies: readonly CompanyRow[], now: Date): number {
  return companies.filter((company) => isIn[narrowing](company, now)).length
}

/** Whether the list offers it: rare ones only where there are such companies, or it is chosen. */
export function isOffered(word: Narrowing, { narrowing }: View, companies: readonly CompanyRow[], now: Date): boolean {
  if (word === narrowing || word === 'problema' || word === 'a-vencer' || word === 'inativas') return true
  return word !== 'certificado' && countOf(word, companies, now) > 0
}

/** The companies to show, in display order; equal ones in the order of the server, by name. */
export function arrange(companies: readonly CompanyRow[], { order, narrowing }: View, now: Date): CompanyRow[] {
  const shown = narrowing ? companies.filter((company) => isIn[narrowing](company, now)) : companies
  if (order === 'nome') return [...shown]
  const keys = new Map(shown.map((company) => [company.id, keyOf(company, order, now)]))
  const key = ({ id }: CompanyRow) => keys.get(id) ?? []
  return shown.toSorted((one, other) => compare(key(one), key(other)))
}

// Unknown values come first, because they need attention.
function keyOf(company: CompanyRow, order: Order, now: Date): number[] {
  const validity = instant(company.validadeCertificadoA1)
  if (order === 'certificado') return [validity]
  if (order === 'sincronizacao') return [Math.min(...Object.values(lastSynchronizations(company)).map(instant))]
  const rank = urgency(company, now)
  return rank === 3 ? [rank, validity] : [rank]
}

const instant = (text: string | null) => {
  const time = new Date(text ?? Number.NaN).getTime()
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time
}

/** A percentage: 100 only when `part` is the whole, 0 only when it is zero; 0 of 0 is 100. */
export function percentText(part: number, whole: number): string {
  if (part === whole) return '100%'
  if (part === 0) return '0%'
  return `${Math.min(99, Math.max(1, Math.round((part / whole) * 100)))}%`
}

/** Share of working synchronizations, with the specification's note unless there is a problem. */
export function monitoringOf(companies: readonly CompanyRow[], now: Date): { percent: string; note: string } {
  const captures = companies.flatMap((company) => capturesOf(company, now))
  const troubled = captures.filter(isTroubled).length
  const waiting = captures.filter(isOfAll).length
  const off = captures.filter(({ estado }) => estado === 'desligada').length
  const planned = captures.length - off
  const parts = [
    troubled > 0 && formatCount(troubled, 'consulta com problema', 'consultas com problema'),
    waiting > 0 &&
      (troubled > 0 ? `${waiting} em espera` : formatCount(waiting, 'consulta em espera', 'consultas em espera')),
    troubled + waiting === 0 && 'Monitoramento ativo',
    off > 0 &&
      (troubled + waiting > 0
        ? formatCount(off, 'desligada', 'desligadas')
        : formatCount(off, 'consulta desligada', 'consultas desligadas')),
  ]
  return { percent: percentText(planned - troubled - waiting, planned), note: parts.filter(Boolean).join(', ') }
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (const [index, value] of one.entries()) {
    const rest = other[index] ?? 0
    if (value !== rest) return value < rest ? -1 : 1
  }
  return 0
}
