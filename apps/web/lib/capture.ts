import type { CompanyRow } from '@vigia/contract/companies'
import { formatAtMoment, formatCount, formatMoment, formatRelative } from './format.ts'

export type Capture = CompanyRow['captura'][number]
export type CaptureLamp = 'steady' | 'waiting' | 'blocked' | 'stopped'

const lamps: Record<Capture['estado'], CaptureLamp> = {
  capturando: 'steady',
  aguardando: 'waiting',
  bloqueada: 'blocked',
  falha: 'stopped',
  parada: 'stopped',
}

// From the state that asks most for a person to the one that asks least.
const severity: readonly Capture['estado'][] = ['parada', 'falha', 'bloqueada', 'capturando', 'aguardando']

const troubles: Partial<Record<Capture['estado'], [one: string, many: string]>> = {
  parada: ['empresa sem captura', 'empresas sem captura'],
  falha: ['empresa com falha', 'empresas com falha'],
  bloqueada: ['empresa bloqueada', 'empresas bloqueadas'],
}

export function lampOf(capture: Capture): CaptureLamp {
  return lamps[capture.estado]
}

/** Percent of the authority's sequence already received, or null when there is nothing left to go through. */
export function captureProgress({ ultimoNsu, maxNsu }: Capture): number | null {
  const last = Number(ultimoNsu)
  const total = Number(maxNsu)
  return last < total ? Math.floor((last / total) * 100) : null
}

/** What the capture of one service is doing, or when it does it next. */
export function captureSentence(capture: Capture, now: Date): string {
  const next = capture.proximaConsulta ?? ''
  switch (capture.estado) {
    case 'capturando': {
      const progress = captureProgress(capture)
      return progress === null ? 'Capturando agora' : `Capturando agora: ${progress}%`
    }
    case 'aguardando':
      return next ? `Próxima consulta ${formatAtMoment(next, now)}` : 'Aguardando a próxima consulta'
    case 'bloqueada':
      return next ? `Bloqueada pela SEFAZ até ${formatMoment(next, now)}` : 'Bloqueada pela SEFAZ'
    case 'falha':
      return next ? `Falhou. Nova tentativa ${formatAtMoment(next, now)}` : 'Falhou'
    case 'parada':
      return 'Captura parada'
  }
}

export interface Watch {
  lamp: CaptureLamp
  /** Nothing asks for a person. */
  healthy: boolean
  title: string
  detail: string
}

/** Whether somebody is watching, over all companies: the worst state speaks. Null while there is no company. */
export function watchOf(companies: readonly CompanyRow[], now: Date): Watch | null {
  if (companies.length === 0) return null
  const captures = companies.flatMap((company) => company.captura)
  const state = severity.find((estado) => captures.some((capture) => capture.estado === estado)) ?? 'parada'
  const lamp = lamps[state]
  const trouble = troubles[state]
  if (trouble) {
    const touched = companies.filter((company) => company.captura.some((capture) => capture.estado === state))
    const detail = captures.find((capture) => capture.estado === state && capture.mensagem)?.mensagem ?? ''
    return { lamp, healthy: false, title: formatCount(touched.length, ...trouble), detail }
  }
  const detail = `${lastNews(companies, now)}${nextQuery(captures, now)}`
  return { lamp, healthy: true, title: state === 'capturando' ? 'Capturando agora' : 'Captura em dia', detail }
}

function lastNews(companies: readonly CompanyRow[], now: Date): string {
  const last = validInOrder(
    companies.flatMap((company) => [company.ultimaSincronizacaoNFe, company.ultimaSincronizacaoCTe]),
  ).at(-1)
  return last ? `Atualizado ${formatRelative(last, now)}` : 'Ainda sem a primeira consulta'
}

function nextQuery(captures: readonly Capture[], now: Date): string {
  const next = validInOrder(captures.map((capture) => capture.proximaConsulta))[0]
  return next ? ` • próxima consulta ${formatAtMoment(next, now)}` : ''
}

function validInOrder(instants: readonly (string | null)[]): string[] {
  return instants.filter((instant) => instant !== null && !Number.isNaN(Date.parse(instant))).sort() as string[]
}
