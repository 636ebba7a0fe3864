import { getAccount, listSessions } from '@vigia/contract/accounts'
import {
  type CompanyRow as FullCompany,
  type CompanyDetail as FullDetail,
  getCompany,
  getCompleteness,
  listCompanies,
} from '@vigia/contract/companies'
import {
  type DocumentRow as FullDocument,
  getDocument,
  listDocuments,
  selectDocuments,
} from '@vigia/contract/documents'
import { listManifestations, previewManifestation } from '@vigia/contract/manifestation'
import type { RouteData, RouteDefinition } from '@vigia/contract/route'
import { type Dashboard as FullDashboard, getDashboard, getPlan } from '@vigia/contract/workspace'
import { ApiError } from './api.ts'

// The screens live by the fields of the specification. Ours are known where the server tells them; null says that it did not.
type Unknown<T, K extends keyof T> = Omit<T, K> & { [P in K]: T[P] | null }

/** A company of the list, as far as it is known. */
export type CompanyRow = Unknown<FullCompany, 'sincronizacaoAutomatica' | 'captura' | 'documentosNoMes'>

type Told = FullDetail['configuracaoNFe']
type ToldCte = FullDetail['configuracaoCTe']
type Words = 'ultimoNsu' | 'mensagemSincronizacao'

/** A company to edit, as far as it is known. */
export interface CompanyDetail
  extends Omit<
    Unknown<FullDetail, 'sincronizacaoAutomatica' | 'ativa' | 'captura' | 'temLogo'>,
    'configuracaoNFe' | 'configuracaoCTe' | 'certificado'
  > {
  configuracaoNFe: Unknown<Told, Exclude<keyof Told, Words>>
  configuracaoCTe: Unknown<ToldCte, Exclude<keyof ToldCte, Words>>
  /** Null: there is none. Undefined: nobody told more than until when it is valid. */
  certificado: FullDetail['certificado'] | undefined
}

/** A document of the list, as far as it is known. */
export type DocumentRow = Unknown<FullDocument, 'valor' | 'idEmpresa' | 'empresa' | 'chegadaEm'>

/** The dashboard, as far as it is known. */
export interface Dashboard
  extends Omit<
    Unknown<FullDashboard, 'documentosPorDia' | 'pendencias'>,
    'qtdDocumentosPorEmpresa' | 'ultimosDocumentosProcessados'
  > {
  qtdDocumentosPorEmpresa: Unknown<FullDashboard['qtdDocumentosPorEmpresa'][number], 'idEmpresa'>[]
  ultimosDocumentosProcessados: Unknown<FullDashboard['ultimosDocumentosProcessados'][number], 'idDfe'>[]
}

/** What a read route brings to a screen. */
export type Answer<R extends RouteDefinition> = R['path'] extends keyof typeof completions
  ? ReturnType<(typeof completions)[R['path']]>
  : RouteData<R>

type Perhaps<T> = T extends readonly (infer E)[]
  ? Perhaps<E>[]
  : T extends object
    ? { [K in keyof T]?: Perhaps<T[K]> | null }
    : T

const defaultUf = { codUf: 35, uf: 'SP' }

const completions = {
  [listCompanies.path]: (rows: Perhaps<FullCompany>[]): CompanyRow[] =>
    rows.map((row) => ({
      ...(row as FullCompany),
      id: String(row.id ?? ''),
      razaoSocial: row.razaoSocial ?? '',
      cnpj: row.cnpj ?? '',
      ultimaSincronizacaoNFe: row.ultimaSincronizacaoNFe ?? null,
      ultimaSincronizacaoCTe: row.ultimaSincronizacaoCTe ?? null,
      validadeCertificadoA1: endOf(row.validadeCertificadoA1 ?? null),
      sincronizacaoAutomatica: row.sincronizacaoAutomatica ?? null,
      captura: (row.captura as FullCompany['captura'] | undefined) ?? null,
      documentosNoMes: row.documentosNoMes ?? null,
    })),

  [getCompany.path]: (company: Perhaps<FullDetail>): CompanyDetail => {
    const { configuracaoNFe: nfe, configuracaoCTe: cte, empresaUf } = company
    return {
      razaoSocial: company.razaoSocial ?? '',
      cnpj: company.cnpj ?? '',
      email: company.email ?? '',
      sincronizacaoAutomatica: company.sincronizacaoAutomatica ?? null,
      empresaUf: { codUf: empresaUf?.codUf ?? defaultUf.codUf, uf: empresaUf?.uf ?? defaultUf.uf },
      dataValidadeCertificadoDigital: company.dataValidadeCertificadoDigital ?? null,
      configuracaoNFe: {
        emitenteNFe: nfe?.emitenteNFe ?? null,
        destinatarioNFe: nfe?.destinatarioNFe ?? null,
        transportadorNFe: nfe?.transportadorNFe ?? null,
        terceiroNFe: nfe?.terceiroNFe ?? null,
        manifestarCienciaAutomaticamente: nfe?.manifestarCienciaAutomaticamente ?? null,
        ultimoNsu: nfe?.ultimoNsu ?? '',
        mensagemSincronizacao: nfe?.mensagemSincronizacao ?? '',
      },
      configuracaoCTe: {
        emitenteCTe: cte?.emitenteCTe ?? null,
        remetenteCTe: cte?.remetenteCTe ?? null,
        destinatarioCTe: cte?.destinatarioCTe ?? null,
        expedidorCTe: cte?.expedidorCTe ?? null,
        recebedorCTe: cte?.recebedorCTe ?? null,
        tomadorCTe: cte?.tomadorCTe ?? null,
        terceiroCTe: cte?.terceiroCTe ?? null,
        ultimoNsu: cte?.ultimoNsu ?? '',
        mensagemSincronizacao: cte?.mensagemSincronizacao ?? '',
      },
      ativa: company.ativa ?? null,
      captura: (company.captura as FullDetail['captura'] | undefined) ?? null,
      certificado: company.certificado as FullDetail['certificado'] | undefined,
      cienciaAutomatica: (company.cienciaAutomatica as FullDetail['cienciaAutomatica'] | undefined) ?? null,
      temLogo: company.temLogo ?? null,
    }
  },

  [listDocuments.path]: (page: Perhaps<RouteData<typeof listDocuments>>) => ({
    items: (page.items ?? []).map(toDocument),
    totalDePaginas: page.totalDePaginas ?? 1,
    totalDeItens: page.totalDeItens ?? null,
    valorTotal: page.valorTotal ?? null,
  }),

  [getDashboard.path]: (data: Perhaps<FullDashboard>): Dashboard => ({
    qtdNfe: data.qtdNfe ?? 0,
    qtdCte: data.qtdCte ?? 0,
    totalNfeCte: data.totalNfeCte ?? 0,
    qtdEmpresasCadastradas: data.qtdEmpresasCadastradas ?? 0,
    qtdDocumentosPorEmpresa: (data.qtdDocumentosPorEmpresa ?? []).map((row) => ({
      razaoSocial: row.razaoSocial ?? '',
      qtdNfe: row.qtdNfe ?? 0,
      qtdCte: row.qtdCte ?? 0,
      totalNfeCte: row.totalNfeCte ?? 0,
      ativa: row.ativa ?? false,
      idEmpresa: row.idEmpresa ?? null,
    })),
    ultimosDocumentosProcessados: (data.ultimosDocumentosProcessados ?? []).map((entry) => ({
      tipoDfe: Number(entry.tipoDfe ?? 0),
      nomeEmitente: entry.nomeEmitente ?? '',
      chaveDfe: entry.chaveDfe ?? '',
      dataCadastro: entry.dataCadastro ?? '',
      idDfe: entry.idDfe ?? null,
    })),
    documentosPorDia: (data.documentosPorDia as FullDashboard['documentosPorDia'] | undefined) ?? null,
    pendencias: (data.pendencias as FullDashboard['pendencias'] | undefined) ?? null,
  }),
}

// A day without time lasts until its end, where the person is; as an instant it would be over hours before it begins there.
function endOf(validity: string | null): string | null {
  return validity && /^\d{4}-\d{2}-\d{2}$/.test(validity) ? `${validity}T23:59:59` : validity
}

function toDocument(row: Perhaps<FullDocument>): DocumentRow {
  return {
    // It goes back to the server as it came.
    idDfe: row.idDfe ?? '',
    numero: row.numero ?? 0,
    emitente: row.emitente ?? '',
    chave: row.chave ?? '',
    valor: row.valor ?? null,
    dataEmissao: row.dataEmissao ?? '',
    tipoParticipacao: Number(row.tipoParticipacao ?? -1),
    status: { codigoEvento: Number(row.status?.codigoEvento ?? 0), descricaoEvento: row.status?.descricaoEvento ?? '' },
    notaCompleta: row.notaCompleta ?? false,
    idEmpresa: row.idEmpresa ?? null,
    empresa: row.empresa ?? null,
    chegadaEm: row.chegadaEm ?? null,
    prazo: (row.prazo as FullDocument['prazo'] | undefined) ?? null,
    eventoEmEnvio: row.eventoEmEnvio ?? null,
  }
}

// What a screen cannot do without: an answer without it is none, and the screen says so as of any other that did not come.
const shapes: Partial<Record<string, unknown>> = {
  [listCompanies.path]: [],
  [getCompany.path]: {},
  [listDocuments.path]: {},
  [getDashboard.path]: {},
  [getPlan.path]: { situacao: '', mensagem: '', empresas: {}, documentosNoMes: {} },
  [getAccount.path]: { nome: '', email: '' },
  [listSessions.path]: [],
  [getCompleteness.path]: [],
  [getDocument.path]: { documento: {}, nome: '', secoes: [], itens: [], relacionados: [], historico: [] },
  [selectDocuments.path]: { ids: [] },
  [listManifestations.path]: { eventos: [], opcoes: [] },
  [previewManifestation.path]: { permitidos: [], impedidos: [] },
}

/** An answer with every field that a screen reads, whatever of ours its server knows. */
export function complete<R extends RouteDefinition>({ path }: R, data: unknown): Answer<R> {
  if (path in shapes && !isShaped(data, shapes[path])) throw new ApiError(incomplete, 200)
  const completion = (completions as Partial<Record<string, (data: never) => unknown>>)[path]
  return (completion ? completion(data as never) : data) as Answer<R>
}

const incomplete = 'a resposta do servidor veio incompleta'

/** The server answered, and not what this call is for: it does not know it. */
export function isUnknownCall(error: unknown): boolean {
  return error instanceof ApiError && ([404, 405, 501].includes(error.status) || error.message === incomplete)
}

function isShaped(data: unknown, shape: unknown): boolean {
  if (typeof data !== typeof shape || Array.isArray(data) !== Array.isArray(shape)) return false
  if (typeof shape !== 'object' || shape === null) return true
  return data !== null && Object.entries(shape).every(([key, part]) => isShaped(Object(data)[key], part))
}
