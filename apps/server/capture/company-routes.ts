import { type CaptureState, getCompany, listCompanies } from '@vigia/contract/companies'
import { formatBrasiliaDay, formatBrasiliaShortMoment, formatBrasiliaTime } from '@vigia/contract/text'
import { families } from '@vigia/dfe/families/all'
import { cte } from '@vigia/dfe/families/cte'
import { nfe } from '@vigia/dfe/families/nfe'
import { ufByCode } from '@vigia/dfe/uf'
import { pausedSentence, readPlan } from '../accounts/plans.ts'
import { readCertificateCard } from '../companies/certificate-card.ts'
import { noneAccepted } from '../companies/certificates.ts'
import { archivedSentence, withoutCertificate } from '../companies/companies.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { type DataOf, handle } from '../platform/http/http.ts'
import { nsuText, type Service, type ServiceCode, serviceOf } from '../platform/service.ts'
import { storageSentence } from '../platform/storage.ts'
import { findStandstill } from '../platform/trouble.ts'
import { findOutage, type Outage, outageSentence } from '../sefaz/circuit.ts'
import { distributionUrl } from './sources/call.ts'
import { getCapturedCompany, listCapturedCompanies } from './state.ts'

type ListedCompany = Awaited<ReturnType<typeof listCapturedCompanies>>[number]

const states = {
  waiting: 'aguardando',
  capturing: 'capturando',
  blocked: 'bloqueada',
  failed: 'falha',
  stopped: 'parada',
} as const

type CountRefused = (ctx: WithDatabase, workspaceId: number) => Promise<Map<number, number>>

/** The calls that show companies with their captures. `countRefused` reads events, which stand above. */
export const companyRoutes = (countRefused: CountRefused) => [
  handle(listCompanies, (ctx, { query, session: { workspaceId } }) =>
    readWorkspace(ctx, workspaceId, async (ctx) => {
      const rows = await listCapturedCompanies(ctx, workspaceId, query.busca)
      const trouble = await findTrouble(ctx, workspaceId, countRefused)
      return { data: rows.map((row) => toRow(row, trouble)) }
    }),
  ),

  handle(getCompany, (ctx, { query, session: { workspaceId } }) =>
    readWorkspace(ctx, workspaceId, async (ctx) => {
      const company = await getCapturedCompany(ctx, workspaceId, query.id)
      const card = await readCertificateCard(ctx, workspaceId, company.id)
      return { data: toDetail(company, card, await findTrouble(ctx, workspaceId, countRefused)) }
    }),
  ),
]

interface Trouble {
  /** By service. */
  outages: Map<number, Outage | null>
  /** Why nothing is asked for, of no company; null: it is. */
  standstill: string | null
  refusedCiencias: Map<number, number>
  /** Why the captures that are paused are so. */
  pausedBecause: string
}

// `ctx.db` is the transaction that reads the companies too.
async function findTrouble(
  ctx: Pick<Context, 'db' | 'config' | 'storage'>,
  workspaceId: number,
  countRefused: CountRefused,
): Promise<Trouble> {
  const plan = await readPlan(ctx, workspaceId)
  const outages = new Map<number, Outage | null>()
  for (const { code } of families) outages.set(code, await findOutage(ctx, distributionUrl(ctx, code)))
  return {
    standstill: ctx.storage.trouble ? storageSentence(ctx.storage.trouble) : await findStandstill(ctx),
    outages,
    refusedCiencias: await countRefused(ctx, workspaceId),
    pausedBecause: pausedSentence(plan, ctx.config),
  }
}

function toRow(company: ListedCompany, trouble: Trouble): DataOf<typeof listCompanies>[number] {
  const lastSuccess = (service: ServiceCode) => {
    const line = company.lines.find((line) => line.service === service)
    return line ? lastResponse(line) : null
  }
  return {
    id: company.public_id,
    razaoSocial: company.name,
    cnpj: company.cnpj,
    ativa: company.active,
    ultimaSincronizacaoNFe: lastSuccess(nfe.code),
    ultimaSincronizacaoCTe: lastSuccess(cte.code),
    validadeCertificadoA1: company.valid_to,
    sincronizacaoAutomatica: company.automatic,
    captura: company.lines.map((line) => toCapture(line, company, trouble)),
    documentosNoMes: company.documents,
  }
}

type Detail = Awaited<ReturnType<typeof getCapturedCompany>>
type Shown = DataOf<typeof getCompany>

function toDetail(company: Detail, certificado: Shown['certificado'], trouble: Trouble): Shown {
  const inNfe = (role: number) => (company.shown.nfe & (1 << role)) !== 0
  const inCte = (role: number) => (company.shown.cte & (1 << role)) !== 0
  const captura = company.lines.map((line) => toCapture(line, company, trouble))
  const capture = (service: Service) => {
    const { ultimoNsu, mensagem } = captura.find(({ servico }) => servico === service) ?? {
      ultimoNsu: nsuText(0n),
      mensagem: '',
    }
    return { ultimoNsu, mensagemSincronizacao: mensagem }
  }
  return {
    razaoSocial: company.name,
    cnpj: company.cnpj,
    email: company.email ?? '',
    sincronizacaoAutomatica: company.automatic,
    empresaUf: { codUf: company.uf, uf: ufByCode(company.uf)?.uf ?? '' },
    dataValidadeCertificadoDigital: company.valid_to && formatBrasiliaDay(company.valid_to),
    configuracaoNFe: {
      emitenteNFe: inNfe(0),
      destinatarioNFe: inNfe(1),
      transportadorNFe: inNfe(2),
      terceiroNFe: inNfe(3),
      manifestarCienciaAutomaticamente: company.acknowledges_since !== null,
      ...capture(nfe.id),
    },
    configuracaoCTe: {
      emitenteCTe: inCte(0),
      remetenteCTe: inCte(4),
      destinatarioCTe: inCte(1),
      expedidorCTe: inCte(5),
      recebedorCTe: inCte(6),
      tomadorCTe: inCte(7),
      terceiroCTe: inCte(3),
      ...capture(cte.id),
    },
    ativa: company.active,
    captura,
    certificado,
    cienciaAutomatica: company.acknowledges_since && {
      desde: company.acknowledges_since,
      por: company.acknowledges_by ?? 'Alguém que não tem mais conta',
    },
    temLogo: company.has_logo,
  }
}

type ListedLine = ListedCompany['lines'][number]

function toCapture(
  line: ListedLine,
  { archived_at, automatic, valid_to }: Pick<ListedCompany, 'archived_at' | 'automatic' | 'valid_to'>,
  { outages, standstill, refusedCiencias, pausedBecause }: Trouble,
): CaptureState {
  const outage = outages.get(line.service) ?? null
  // A company without automatic capture has a next query only after a request.
  const isWanted = automatic || line.wanted
  const isLate = isWanted && !line.leased && !outage && line.state !== 'stopped'
  const lateSince = isLate ? line.late_since : null
  const byHand = automatic ? [] : [notAutomatic]
  const told = {
    servico: serviceOf(line.service),
    proximaConsulta: null,
    // A workspace whose certificate is not proved does not learn what other workspaces captured for the same CNPJ, nor when.
    ultimoNsu: nsuText(line.proved ? line.last_nsu : 0n),
    maxNsu: nsuText(line.proved ? line.max_nsu : 0n),
    ultimaResposta: lastResponse(line),
    causaComum: null,
    providencia: null,
  }
  if (archived_at) return { ...told, estado: 'parada', mensagem: archivedSentence(archived_at) }
  if (line.paused) return { ...told, estado: 'parada', mensagem: pausedBecause, providencia: 'plano' }
  if (standstill !== null && line.state !== 'stopped')
    return { ...told, estado: 'falha', mensagem: standstill, causaComum: standstill }
  if (valid_to === null && line.state === 'stopped' && !line.leased)
    return { ...told, estado: 'parada', mensagem: withoutCertificate, providencia: 'certificado' }
  if (!line.proved) {
    const { sentences, ...state } = unprovedState(line, outage, lateSince)
    return { ...told, ...state, mensagem: [...sentences, ...byHand].join(' ') }
  }
  // Nothing is in order while documents are known to be missing.
  const isFailing = lateSince !== null || (line.state === 'waiting' && (outage !== null || line.missing > 0))
  const isRunning = line.state === 'waiting' || line.state === 'failed'
  const isOutageAlone = outage && isRunning && !line.leased && line.missing === 0 && line.refused === null
  const hasEnded = valid_to !== null && valid_to.getTime() <= Date.now()
  const isOfCertificate = line.refused !== null || line.message === noneAccepted || (hasEnded && !isRunning)
  return {
    ...told,
    estado: line.leased ? 'capturando' : isFailing ? 'falha' : states[line.state],
    mensagem: [
      messageOf(line, outage, lateSince),
      ...(line.refused && line.refused !== line.message ? [`O seu certificado não foi aceito: ${line.refused}`] : []),
      ...(line.service === nfe.code ? refusedSentence(refusedCiencias.get(line.company_id)) : []),
      ...byHand,
    ].join(' '),
    proximaConsulta: isWanted && line.next_at ? line.next_at.toISOString() : null,
    causaComum: isOutageAlone ? outageSentence(outage) : null,
    providencia: isOfCertificate ? 'certificado' : null,
  }
}

// Responses to the certificate of another workspace stay hidden until this workspace has proved its own.
function lastResponse({ proved, last_success_at }: ListedLine): string | null {
  return proved ? (last_success_at?.toISOString() ?? null) : null
}

function unprovedState(
  line: ListedLine,
  outage: Outage | null,
  lateSince: Date | null,
): Pick<CaptureState, 'estado'> & Partial<Pick<CaptureState, 'causaComum' | 'providencia'>> & { sentences: string[] } {
  if (line.refused) return { estado: 'parada', providencia: 'certificado', sentences: [line.refused] }
  // An outage concerns all workspaces and is no secret.
  if (outage) {
    const sentence = outageSentence(outage)
    return { estado: 'falha', causaComum: sentence, sentences: [sentence] }
  }
  if (line.state === 'stopped') return { estado: 'parada', providencia: 'certificado', sentences: [stoppedBefore] }
  if (lateSince) return { estado: 'falha', sentences: [notYet, checkWorker] }
  if (line.failures > 0)
    return { estado: 'falha', sentences: line.last_failure ? [line.last_failure] : [notYet, checkAccess] }
  return {
    estado: 'aguardando',
    sentences: ['A primeira consulta com este certificado confirma que ele é aceito pela SEFAZ.'],
  }
}

const notYet =
  'Ainda não conseguimos fazer a primeira consulta com este certificado. A captura tenta de novo sozinha e nada se perde por isso.'
const checkWorker =
  'Se não mudar em uma hora, quem administra o sistema confere se o programa de captura (worker) está em execução.'
const checkAccess =
  'Se não mudar em um dia, quem administra o sistema confere o acesso à SEFAZ com npm run sefaz -- check.'
const stoppedBefore =
  'A captura parou antes da primeira consulta com este certificado. Envie um certificado válido na edição da empresa para ela continuar.'

const notAutomatic =
  'A sincronização automática está desligada: nada é capturado sozinho. A SEFAZ guarda cada documento por 90 dias apenas e, depois de 60 dias sem nenhuma consulta, deixa de numerar os novos, que assim não chegam mais. Peça a sincronização de tempos em tempos ou ligue a automática nas configurações da empresa.'

function messageOf(line: ListedLine, outage: Outage | null, lateSince: Date | null): string {
  const { state, missing, passed, lost, unread } = line
  const lead = leadOf(line, outage, lateSince)
  const sentences = [missing > 0 ? lead.replace(/^Em dia\. /, '') : lead]
  if (passed > 0) {
    sentences.push(
      `A SEFAZ avançou ${count(passed, 'posição', 'posições')} sem entregar documento: a captura pergunta por elas uma a uma, até vinte por hora.`,
    )
  }
  if (missing > 0 && state !== 'blocked') {
    sentences.push(
      missing === 1
        ? 'Falta 1 documento, que será buscado quando a SEFAZ permitir.'
        : `Faltam ${missing} documentos, que são buscados um a um, até vinte por hora.`,
    )
  }
  if (lost > 0) {
    sentences.push(
      `${count(lost, 'posição que faltava não está', 'posições que faltavam não estão')} mais na SEFAZ: a completude mostra quais. Se um documento fizer falta, peça o arquivo a quem o emitiu.`,
    )
  }
  if (unread > 0) {
    sentences.push(
      `${count(unread, 'arquivo recebido não pôde ser lido e está guardado', 'arquivos recebidos não puderam ser lidos e estão guardados')}: a completude mostra quais.`,
    )
  }
  return sentences.join(' ')
}

function leadOf({ message, state, next_at }: ListedLine, outage: Outage | null, lateSince: Date | null): string {
  if (lateSince) {
    const when = formatBrasiliaShortMoment(lateSince)
    return `A captura está atrasada desde ${when}. Os documentos já guardados estão seguros e ela continua de onde parou. ${checkWorker}`
  }
  if (state === 'blocked' && next_at) return `${message} A captura volta sozinha às ${formatBrasiliaTime(next_at)}.`
  // An outage is shown to all workspaces, not only to those whose queries failed.
  return outage && state !== 'stopped' && state !== 'blocked' ? outageSentence(outage) : message
}

function refusedSentence(n = 0): string[] {
  if (n === 0) return []
  return [
    `${count(n, 'ciência automática foi recusada', 'ciências automáticas foram recusadas')} nos últimos 30 dias: o motivo está em cada nota.`,
  ]
}

const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`
