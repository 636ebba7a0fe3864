import { getAccount, health, listSessions } from '@vigia/contract/accounts'
import {
  type CompanyRow as ContractCompany,
  type CompanyDetail as ContractCompanyDetail,
  getBatch,
  getCompany,
  getCompleteness,
  listBatches,
  listCompanies,
} from '@vigia/contract/companies'
import {
  type DocumentRow as ContractDocument,
  countOutsidePeriod,
  getDocument,
  listDocuments,
  listExports,
  listViews,
  selectDocuments,
  suggestIssuers,
} from '@vigia/contract/documents'
import {
  getTwoPeople,
  listAnswerRules,
  listAsked,
  listHeldEvents,
  listManifestations,
  listManifestationTexts,
  previewManifestation,
} from '@vigia/contract/manifestation'
import type { RouteData, RouteDefinition } from '@vigia/contract/route'
import {
  type Dashboard as ContractDashboard,
  countAlerts,
  getAlert,
  getAlertSettings,
  getAlertTest,
  getCalendar,
  getDashboard,
  getFreight,
  getInvitation,
  getLetterChoice,
  getPlan,
  getPrices,
  getReformSheet,
  getReport,
  getSupplier,
  getTeam,
  listAlertHabits,
  listAlertRules,
  listAlerts,
  listAnnouncements,
  listDue,
  listFreight,
  listInstallments,
  listKeys,
  listKnownAlerts,
  listMonthlyReports,
  listSupplierProducts,
  listWebhookDeliveries,
  listWebhooks,
  listWorkspaces,
  selectInstallments,
  sumInstallments,
} from '@vigia/contract/workspace'
import { ApiError } from './api.ts'

// The screens work with a server that knows only the fields of the specification. This is the one place where the data of a response becomes
// what a screen shows: fields of our own are null where the server does not tell them.

/** A call that reads, and what becomes of its data. */
export interface ScreenQuery extends RouteDefinition {
  adapt: (data: unknown) => unknown
}

export const companiesQuery = query(listCompanies, (data) => list<ContractCompany>(data).map(toCompany))
export const companyQuery = query(getCompany, (data) => toCompanyDetail(object(data)))
export const documentsQuery = query(listDocuments, (data) => toDocumentPage(object(data)))
export const dashboardQuery = query(getDashboard, (data) => toDashboard(object(data)))

// Calls of our own: a server that responds with something else does not know them.
export const answerRulesQuery = ownQuery(listAnswerRules, { regras: [], comCienciaParaTodas: [] })
export const askedQuery = ownQuery(listAsked, { items: [], totalDeItens: 0 })
export const heldEventsQuery = ownQuery(listHeldEvents, { desde: null, items: [], totalDeItens: 0, impedimento: null })
export const twoPeopleQuery = ownQuery(getTwoPeople, { empresasSemSegunda: [] })
export const dueQuery = ownQuery(listDue, [])
export const supplierQuery = ownQuery(getSupplier, { raiz: '', nome: '', meses: [], situacoes: [], recentes: {} })
export const supplierProductsQuery = ownQuery(listSupplierProducts, {
  items: [],
  totalDeItens: 0,
  totalDePaginas: 0,
  incompleto: false,
})
export const installmentsQuery = ownQuery(listInstallments, { items: [], proximo: null })
export const installmentSumsQuery = ownQuery(sumInstallments, {
  total: {},
  vencidas: {},
  grupos: [],
  desde: '',
  faltaLer: 0,
  totalDeGrupos: 0,
})
export const installmentSelectionQuery = ownQuery(selectInstallments, { idsParcelas: [] })
export const alertsQuery = ownQuery(listAlerts, { items: [], proximo: null, totalDeItens: 0 })
export const alertQuery = ownQuery(getAlert, { motivos: [], anteriores: [] })
export const alertCountsQuery = ownQuery(countAlerts, { abertos: {}, emAprendizado: 0, situacao: '', mensagem: '' })
export const alertTestQuery = ownQuery(getAlertTest, { situacao: '', maisFortes: [] })
export const alertRulesQuery = ownQuery(listAlertRules, [])
export const alertHabitsQuery = ownQuery(listAlertHabits, { silencios: [], digitos: [] })
export const alertSettingsQuery = ownQuery(getAlertSettings, { grupos: [] })
export const knownAlertsQuery = ownQuery(listKnownAlerts, [])
export const reformSheetQuery = ownQuery(getReformSheet, { total: [], fornecedores: [], semGrupos: [], achados: [] })
export const calendarQuery = ownQuery(getCalendar, {})
export const letterChoiceQuery = ownQuery(getLetterChoice, { alertas: '', prazos: '' })
export const reportQuery = ownQuery(getReport, { linhas: [], total: {}, totalDePaginas: 0 })
export const freightQuery = ownQuery(listFreight, { items: [], proximo: null, somas: [], total: {} })
export const freightOfQuery = ownQuery(getFreight, [])
export const pricesQuery = ownQuery(getPrices, { produto: { meses: [] }, iguais: [] })
export const monthlyReportsQuery = ownQuery(listMonthlyReports, [])
export const planQuery = ownQuery(getPlan, { situacao: '', mensagem: '', empresas: {}, documentosNoMes: {} })
export const accountQuery = ownQuery(getAccount, { nome: '', email: '' })
export const teamQuery = ownQuery(getTeam, { nome: '', pessoas: [], convites: [] })
export const workspacesQuery = ownQuery(listWorkspaces, [])
export const invitationQuery = ownQuery(getInvitation, { workspace: '', email: '', papel: '' })
export const sessionsQuery = ownQuery(listSessions, [])
export const announcementsQuery = ownQuery(listAnnouncements, { items: [], temMais: false, naoLidos: 0 })
export const completenessQuery = ownQuery(getCompleteness, [])
export const documentQuery = ownQuery(getDocument, {
  documento: {},
  nome: '',
  secoes: [],
  itens: [],
  relacionados: [],
  anotacoes: [],
  historico: [],
})
export const outsidePeriodQuery = ownQuery(countOutsidePeriod, { totalDeItens: 0, meses: [] })
export const suggestionsQuery = ownQuery(suggestIssuers, { emitentes: [] })
export type SavedView = RouteData<typeof listViews>[number]
export const viewsQuery = ownQuery(listViews, [])
export const selectionQuery = ownQuery(selectDocuments, { ids: [] })
export const manifestationsQuery = ownQuery(listManifestations, { eventos: [], opcoes: [] })
export const manifestationTextsQuery = ownQuery(listManifestationTexts, { modelos: [] })
export const previewQuery = ownQuery(previewManifestation, { permitidos: [], impedidos: [] })
export const exportsQuery = ownQuery(listExports, [])
export const batchesQuery = ownQuery(listBatches, [])
export const batchQuery = ownQuery(getBatch, { totalDeArquivos: 0, arquivos: [], encerrado: false })
export const keysQuery = ownQuery(listKeys, { chaves: [] })
export const webhooksQuery = ownQuery(listWebhooks, { webhooks: [] })
export const deliveriesQuery = ownQuery(listWebhookDeliveries, { entregas: [] })
export const healthQuery = query(health, (data) => data)

type OrNull<T, K extends keyof T> = Omit<T, K> & { [P in K]: T[P] | null }

/** A company of the list. */
export type CompanyRow = OrNull<ContractCompany, 'sincronizacaoAutomatica' | 'captura' | 'documentosNoMes'>

function toCompany(row: Received<ContractCompany>): CompanyRow {
  return {
    id: String(row.id ?? ''),
    razaoSocial: row.razaoSocial ?? '',
    cnpj: row.cnpj ?? '',
    ativa: row.ativa ?? false,
    ultimaSincronizacaoNFe: row.ultimaSincronizacaoNFe ?? null,
    ultimaSincronizacaoCTe: row.ultimaSincronizacaoCTe ?? null,
    validadeCertificadoA1: endOfDay(row.validadeCertificadoA1 ?? null),
    sincronizacaoAutomatica: row.sincronizacaoAutomatica ?? null,
    captura: row.captura ?? null,
    documentosNoMes: row.documentosNoMes ?? null,
  }
}

// A date without a time means the end of that day in the time zone of the person; as an instant it would be over before the day begins there.
function endOfDay(validity: string | null): string | null {
  return validity && /^\d{4}-\d{2}-\d{2}$/.test(validity) ? `${validity}T23:59:59` : validity
}

type NfeSettings = ContractCompanyDetail['configuracaoNFe']
type CteSettings = ContractCompanyDetail['configuracaoCTe']
type QueryTexts = 'ultimoNsu' | 'mensagemSincronizacao'

/** A company to edit. */
export interface CompanyDetail
  extends Omit<
    OrNull<ContractCompanyDetail, 'sincronizacaoAutomatica' | 'ativa' | 'captura' | 'temLogo'>,
    'configuracaoNFe' | 'configuracaoCTe' | 'certificado'
  > {
  configuracaoNFe: OrNull<NfeSettings, Exclude<keyof NfeSettings, QueryTexts>>
  configuracaoCTe: OrNull<CteSettings, Exclude<keyof CteSettings, QueryTexts>>
  /** Null: there is none. Undefined: the server tells only until when it is valid. */
  certificado: ContractCompanyDetail['certificado'] | undefined
}

const defaultUf = { codUf: 35, uf: 'SP' }

function toCompanyDetail(company: Received<ContractCompanyDetail>): CompanyDetail {
  return {
    razaoSocial: company.razaoSocial ?? '',
    cnpj: company.cnpj ?? '',
    email: company.email ?? '',
    sincronizacaoAutomatica: company.sincronizacaoAutomatica ?? null,
    empresaUf: {
      codUf: company.empresaUf?.codUf ?? defaultUf.codUf,
      uf: company.empresaUf?.uf ?? defaultUf.uf,
    },
    dataValidadeCertificadoDigital: company.dataValidadeCertificadoDigital ?? null,
    configuracaoNFe: toNfeSettings(company.configuracaoNFe ?? {}),
    configuracaoCTe: toCteSettings(company.configuracaoCTe ?? {}),
    ativa: company.ativa ?? null,
    captura: company.captura ?? null,
    certificado: company.certificado,
    cienciaAutomatica: company.cienciaAutomatica ?? null,
    temLogo: company.temLogo ?? null,
  }
}

function toNfeSettings(settings: Received<NfeSettings>): CompanyDetail['configuracaoNFe'] {
  return {
    emitenteNFe: settings.emitenteNFe ?? null,
    destinatarioNFe: settings.destinatarioNFe ?? null,
    transportadorNFe: settings.transportadorNFe ?? null,
    terceiroNFe: settings.terceiroNFe ?? null,
    manifestarCienciaAutomaticamente: settings.manifestarCienciaAutomaticamente ?? null,
    ultimoNsu: settings.ultimoNsu ?? '',
    mensagemSincronizacao: settings.mensagemSincronizacao ?? '',
  }
}

function toCteSettings(settings: Received<CteSettings>): CompanyDetail['configuracaoCTe'] {
  return {
    emitenteCTe: settings.emitenteCTe ?? null,
    remetenteCTe: settings.remetenteCTe ?? null,
    destinatarioCTe: settings.destinatarioCTe ?? null,
    expedidorCTe: settings.expedidorCTe ?? null,
    recebedorCTe: settings.recebedorCTe ?? null,
    tomadorCTe: settings.tomadorCTe ?? null,
    terceiroCTe: settings.terceiroCTe ?? null,
    ultimoNsu: settings.ultimoNsu ?? '',
    mensagemSincronizacao: settings.mensagemSincronizacao ?? '',
  }
}

/** A document of the list. */
export type DocumentRow = OrNull<
  ContractDocument,
  'valor' | 'cnpjCpfEmitente' | 'idEmpresa' | 'empresa' | 'chegadaEm' | 'situacaoBase'
>

function toDocumentPage(page: Received<RouteData<typeof listDocuments>>) {
  return {
    items: (page.items ?? []).map(toDocument),
    totalDePaginas: page.totalDePaginas ?? 1,
    totalDeItens: page.totalDeItens ?? null,
    valorTotal: page.valorTotal ?? null,
  }
}

function toDocument(row: Received<ContractDocument>): DocumentRow {
  return {
    // Also a number stays one: it goes back to the server as it came.
    idDfe: row.idDfe ?? '',
    numero: row.numero ?? 0,
    emitente: row.emitente ?? '',
    cnpjCpfEmitente: row.cnpjCpfEmitente ?? null,
    chave: row.chave ?? '',
    valor: row.valor ?? null,
    dataEmissao: row.dataEmissao ?? '',
    tipoParticipacao: Number(row.tipoParticipacao ?? -1),
    status: { codigoEvento: Number(row.status?.codigoEvento ?? 0), descricaoEvento: row.status?.descricaoEvento ?? '' },
    notaCompleta: row.notaCompleta ?? false,
    idEmpresa: row.idEmpresa ?? null,
    empresa: row.empresa ?? null,
    chegadaEm: row.chegadaEm ?? null,
    prazo: row.prazo ?? null,
    eventoEmEnvio: row.eventoEmEnvio ?? null,
    eventoSemConfirmacao: row.eventoSemConfirmacao ?? null,
    naturezaOperacao: row.naturezaOperacao ?? null,
    situacaoBase: row.situacaoBase ?? null,
    conferencia: row.conferencia ?? null,
    conferidaPor: row.conferidaPor ?? null,
    lancadaPor: row.lancadaPor ?? null,
    entreguePor: row.entreguePor ?? null,
    mudouDepois: row.mudouDepois ?? null,
    alerta: row.alerta ?? null,
    sugestao: row.sugestao ?? null,
    aguardaSegunda: row.aguardaSegunda ?? null,
    observacoes: row.observacoes ?? 0,
    reforma: row.reforma ?? null,
  }
}

type DocumentsOfCompany = ContractDashboard['qtdDocumentosPorEmpresa'][number]
type RecentDocument = ContractDashboard['ultimosDocumentosProcessados'][number]

/** The numbers of the month. */
export interface Dashboard
  extends Omit<
    OrNull<ContractDashboard, 'documentosPorDia' | 'pendencias' | 'valorNfe' | 'valorCte' | 'mesAnterior'>,
    'qtdDocumentosPorEmpresa' | 'ultimosDocumentosProcessados'
  > {
  qtdDocumentosPorEmpresa: OrNull<DocumentsOfCompany, 'idEmpresa' | 'valorNfeCte'>[]
  ultimosDocumentosProcessados: OrNull<RecentDocument, 'idDfe'>[]
}

function toDashboard(data: Received<ContractDashboard>): Dashboard {
  return {
    qtdNfe: data.qtdNfe ?? 0,
    qtdCte: data.qtdCte ?? 0,
    totalNfeCte: data.totalNfeCte ?? 0,
    qtdEmpresasCadastradas: data.qtdEmpresasCadastradas ?? 0,
    valorNfe: data.valorNfe ?? null,
    valorCte: data.valorCte ?? null,
    mesAnterior: data.mesAnterior ?? null,
    qtdDocumentosPorEmpresa: (data.qtdDocumentosPorEmpresa ?? []).map(toDocumentsOfCompany),
    ultimosDocumentosProcessados: (data.ultimosDocumentosProcessados ?? []).map(toRecentDocument),
    documentosPorDia: data.documentosPorDia ?? null,
    pendencias: data.pendencias ?? null,
    avisos: data.avisos ?? [],
    armazenamentoSaudavel: data.armazenamentoSaudavel ?? true,
    envioRetido: data.envioRetido ?? false,
  }
}

function toDocumentsOfCompany(row: Received<DocumentsOfCompany>): Dashboard['qtdDocumentosPorEmpresa'][number] {
  return {
    razaoSocial: row.razaoSocial ?? '',
    qtdNfe: row.qtdNfe ?? 0,
    qtdCte: row.qtdCte ?? 0,
    totalNfeCte: row.totalNfeCte ?? 0,
    ativa: row.ativa ?? false,
    idEmpresa: row.idEmpresa ?? null,
    valorNfeCte: row.valorNfeCte ?? null,
  }
}

function toRecentDocument(entry: Received<RecentDocument>): Dashboard['ultimosDocumentosProcessados'][number] {
  return {
    tipoDfe: Number(entry.tipoDfe ?? 0),
    nomeEmitente: entry.nomeEmitente ?? '',
    chaveDfe: entry.chaveDfe ?? '',
    dataCadastro: entry.dataCadastro ?? '',
    idDfe: entry.idDfe ?? null,
  }
}

const incomplete = 'a resposta do servidor veio incompleta'

/** Whether the server does not know this call: it refused it as unknown, or answered something else. */
export function isUnknownCall(error: unknown): boolean {
  return error instanceof ApiError && ([404, 405, 501].includes(error.status) || error.message === incomplete)
}

function query<const R extends RouteDefinition, T>(route: R, adapt: (data: unknown) => T) {
  return { ...route, adapt }
}

/** A call whose data is used as it comes, when it has at least what `sample` has. */
export function ownQuery<const R extends RouteDefinition>(route: R, sample: object) {
  return query(route, (data) => whole<RouteData<R>>(data, sample))
}

/** An object of a response: the server may have left out any of its fields. */
type Received<T> = { [K in keyof T]?: T[K] | null }

function object<T>(data: unknown): Received<T> {
  return whole(data, {})
}

function list<T>(data: unknown): Received<T>[] {
  return whole(data, [])
}

// `data` when it has at least what `sample` has, by kind; else the response is treated like one that did not come.
function whole<T>(data: unknown, sample: object): T {
  if (!resembles(data, sample)) throw new ApiError(incomplete, 200)
  return data as T
}

// Null in a sample: a field that may be null, of any kind where it is not.
function resembles(data: unknown, sample: unknown): boolean {
  if (sample === null) return data !== undefined
  if (typeof data !== typeof sample || Array.isArray(data) !== Array.isArray(sample)) return false
  if (typeof sample !== 'object') return true
  return data !== null && Object.entries(sample).every(([key, part]) => resembles(Object(data)[key], part))
}
