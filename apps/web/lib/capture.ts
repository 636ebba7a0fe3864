import { type CaptureState, type CompanyRow, lastSynchronizations } from '@vigia/contract/companies'
import { formatAtMoment, formatCount, formatMoment, formatRelative } from '@vigia/contract/text'

/** A certificate that ends within so many days is something to do. */
export const soonDays = 30

/** Reason why a company needs another certificate. */
export type CertificateState = 'vencido' | 'a-vencer'

/** Null: it holds for longer than `soonDays`, or the company has none or is archived. */
export function certificateState(
  { ativa, validadeCertificadoA1: validity }: Pick<CompanyRow, 'ativa' | 'validadeCertificadoA1'>,
  now: Date,
): CertificateState | null {
  if (!ativa) return null
  if (hasEnded(validity, now)) return 'vencido'
  const soon = new Date(now.getFullYear(), now.getMonth(), now.getDate() + soonDays + 1)
  return validity !== null && new Date(validity) < soon ? 'a-vencer' : null
}

/** A capture of the server; `desligada`: no query until a person requests one. */
export type Capture = Omit<CaptureState, 'estado'> & { estado: CaptureState['estado'] | 'desligada' }
type CaptureLamp = 'unlit' | 'steady' | 'waiting' | 'blocked' | 'stopped'

const lamps: Record<Capture['estado'], CaptureLamp> = {
  capturando: 'steady',
  aguardando: 'waiting',
  bloqueada: 'blocked',
  falha: 'stopped',
  parada: 'stopped',
  desligada: 'unlit',
}

// From the most urgent state to the least urgent one.
const severity: readonly Capture['estado'][] = ['parada', 'falha', 'bloqueada', 'capturando', 'aguardando', 'desligada']

const troubles: Partial<Record<Capture['estado'], [one: string, many: string]>> = {
  parada: ['empresa sem captura', 'empresas sem captura'],
  falha: ['empresa com falha', 'empresas com falha'],
  bloqueada: ['empresa bloqueada', 'empresas bloqueadas'],
}

/** Common cause of all companies in the words of the server, of one service or both; null: none. */
export function commonCauseOf(
  companies: readonly Captured[] | undefined,
  now: Date,
  service?: Capture['servico'],
): string | null {
  for (const company of companies ?? [])
    for (const { servico, causaComum } of capturesOf(company, now))
      if (causaComum && (service ?? servico) === servico) return causaComum
  return null
}

/** Whether its problem is common to all companies, and is shown once for all. */
export function isOfAll(capture: Capture): boolean {
  return Boolean(capture.causaComum)
}

type Captured = Pick<CompanyRow, 'sincronizacaoAutomatica' | 'validadeCertificadoA1' | 'captura'> & {
  ativa?: boolean
}

/**
 * The captures of a company as every screen counts and shows them. Without a valid certificate a capture is stopped, also while the server
 * still tells the time of its next query. Empty when the server tells nothing of captures, and for an archived company.
 */
export function capturesOf({ captura, ativa, ...company }: Captured, now: Date): Capture[] {
  if (ativa === false) return []
  const { validadeCertificadoA1: validity } = company
  const why = validity === null ? withoutCertificate : hasEnded(validity, now) ? endedCertificate : null
  return (captura ?? []).map((capture) => {
    if (isTroubled(capture)) return capture
    if (why) return { ...capture, ...withoutCapture(why) }
    const asksNothing = capture.estado === 'aguardando' && capture.proximaConsulta === null
    return asksNothing && company.sincronizacaoAutomatica === false ? { ...capture, estado: 'desligada' } : capture
  })
}

const withoutCertificate =
  'Sem certificado digital a SEFAZ não é consultada em nome da empresa. Os documentos já guardados estão seguros; envie um certificado (arquivo .pfx ou .p12) na edição da empresa.'
const endedCertificate =
  'O certificado digital venceu. Os documentos já guardados estão seguros; envie um certificado novo para a captura continuar.'

function withoutCapture(mensagem: string) {
  return { estado: 'parada', mensagem, proximaConsulta: null, causaComum: null, providencia: 'certificado' } as const
}

export function hasEnded(validity: string | null, now: Date): boolean {
  return validity !== null && new Date(validity) < now
}

export function lampOf(capture: Capture): CaptureLamp {
  return isOfAll(capture) ? 'waiting' : lamps[capture.estado]
}

/** Documents do not arrive for a reason of this company. */
export function isTroubled(capture: Capture): boolean {
  return lampOf(capture) === 'stopped' || lampOf(capture) === 'blocked'
}

/** Percent of the authority's sequence received; null when nothing is left. */
export function captureProgress({ ultimoNsu, maxNsu }: Capture): number | null {
  const last = Number(ultimoNsu)
  const total = Number(maxNsu)
  return last < total ? Math.floor((last / total) * 100) : null
}

/** Current activity of a capture, or time of the next one. */
export function captureSentence(capture: Capture, now: Date): string {
  const next = capture.proximaConsulta ?? ''
  if (isOfAll(capture)) return next ? `Em espera. Nova tentativa ${formatAtMoment(next, now)}` : 'Em espera'
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
    case 'desligada':
      return 'Automática desligada: peça quando quiser'
  }
}

export interface Watch {
  lamp: CaptureLamp
  /** Needs a person; queries planned; none planned; or not reported by the server. */
  state: 'trouble' | 'well' | 'off' | 'untold'
  title: string
  detail: string
}

/** State of the captures of all companies: the worst one. Null if none is in use. */
export function watchOf(all: readonly CompanyRow[], now: Date): Watch | null {
  const companies = all.filter(({ ativa }) => ativa)
  if (companies.length === 0) return null
  const each = companies.map((company) => capturesOf(company, now))
  const captures = each.flat()
  const ofAll = captures.find(isOfAll)
  const own = captures.filter((capture) => !isOfAll(capture))
  const worst = severity.find((estado) => own.some((capture) => capture.estado === estado))
  if (ofAll && !(worst && worst in troubles))
    return { lamp: 'blocked', state: 'trouble', title: 'Captura em espera', detail: ofAll.causaComum ?? '' }
  const state = worst ?? (companies.some(({ captura }) => captura) ? 'parada' : undefined)
  if (!state)
    return { lamp: 'unlit', state: 'untold', title: 'Andamento não informado', detail: lastNews(companies, now) }
  const lamp = lamps[state]
  const trouble = troubles[state]
  if (trouble) {
    const touched = each.filter((ofOne) => ofOne.some((capture) => capture.estado === state && !isOfAll(capture)))
    const detail = own.find((capture) => capture.estado === state && capture.mensagem)?.mensagem ?? ''
    return { lamp, state: 'trouble', title: formatCount(touched.length, ...trouble), detail }
  }
  const detail = `${lastNews(companies, now)}${nextQuery(captures, now)}`
  if (state === 'desligada') return { lamp, state: 'off', title: 'Sincronização automática desligada', detail }
  return { lamp, state: 'well', title: state === 'capturando' ? 'Capturando agora' : 'Captura em dia', detail }
}

/** The synchronization of all companies in a word; only trouble changes it. */
export function synchronizationOf(companies: readonly CompanyRow[], now: Date) {
  const captures = companies.flatMap((company) => capturesOf(company, now))
  const troubled = captures.filter(isTroubled).length
  const waiting = captures.filter(isOfAll).length
  const off = captures.filter(({ estado }) => estado === 'desligada').length
  const planned = captures.length - off
  const active = (detail: string) => ({ state: 'unlit', value: 'Ativa', detail }) as const
  if (companies.length === 0) return active('Nenhuma consulta por enquanto')
  if (captures.length === 0) return active('Ver a lista')
  if (planned === 0) return active('Automática desligada em todas as empresas')
  if (troubled > 0)
    return {
      state: 'stopped',
      value: 'Com pendências',
      detail: `${troubled} de ${captures.length} consultas com problema`,
    } as const
  if (waiting > 0)
    return {
      state: 'unlit',
      value: 'Em espera',
      detail: `${waiting} de ${captures.length} consultas em espera`,
    } as const
  const rest = off > 0 ? `, ${formatCount(off, 'desligada', 'desligadas')}` : ''
  return {
    state: 'waiting',
    value: 'Ativa',
    detail: `${formatCount(planned, 'consulta programada', 'consultas programadas')}${rest}`,
  } as const
}

function lastNews(companies: readonly CompanyRow[], now: Date): string {
  const last = validInOrder(companies.flatMap((company) => Object.values(lastSynchronizations(company)))).at(-1)
  return last ? `Atualizado ${formatRelative(last, now)}` : 'Ainda sem a primeira consulta'
}

function nextQuery(captures: readonly Capture[], now: Date): string {
  const next = validInOrder(captures.map((capture) => capture.proximaConsulta))[0]
  return next ? ` • próxima consulta ${formatAtMoment(next, now)}` : ''
}

function validInOrder(instants: readonly (string | null)[]): string[] {
  return instants.filter((instant) => instant !== null && !Number.isNaN(Date.parse(instant))).sort() as string[]
}
