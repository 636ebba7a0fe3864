import { expect } from 'vitest'

/**
 * A client of the API written from its specification alone: it shares nothing with the contract or the web app, and
 * refuses every answer that is not the envelope, letter by letter.
 */
export interface SpecificationClient {
  token: string | null
  call<Data = unknown>(method: string, path: string, options?: CallOptions): Promise<SpecificationResponse<Data>>
  /** The call must succeed. */
  get<Data>(path: string, query?: Query): Promise<SpecificationResponse<Data>>
  post<Data>(path: string, json?: unknown): Promise<SpecificationResponse<Data>>
}

interface SpecificationResponse<Data> {
  status: number
  headers: Headers
  success: boolean
  message: string
  data: Data
  errors: string[]
  statusCode?: number
}

type Query = Record<string, string | number | undefined>

interface CallOptions {
  query?: Query
  json?: unknown
  form?: FormData
}

export function openClient(url: string, token: string | null = null): SpecificationClient {
  const client: SpecificationClient = {
    token,
    async call<Data>(method: string, path: string, options: CallOptions = {}) {
      const response = await send(url, method, path, client.token, options)
      return requireEnvelope<Data>(`${method} ${path}`, response, await response.text())
    },
    async get<Data>(path: string, query?: Query) {
      return requireSuccess(await client.call<Data>('GET', path, { query }))
    },
    async post<Data>(path: string, json?: unknown) {
      return requireSuccess(await client.call<Data>('POST', path, { json }))
    },
  }
  return client
}

async function send(url: string, method: string, path: string, token: string | null, options: CallOptions) {
  const headers = new Headers({ accept: 'application/json' })
  if (token !== null) headers.set('authorization', `Bearer ${token}`)
  if (options.json !== undefined) headers.set('content-type', 'application/json')
  const body = options.form ?? (options.json === undefined ? null : JSON.stringify(options.json))
  return fetch(`${url}${path}${queryString(options.query)}`, { method, headers, body })
}

function queryString(query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}

function requireSuccess<Data>(answer: SpecificationResponse<Data>): SpecificationResponse<Data> {
  expect(answer, 'a call that must succeed').toMatchObject({ success: true })
  return answer
}

const innards =
  /\bat .+:\d+:\d+|node_modules|\.ts\b|\bselect\b.+\bfrom\b|undefined|\[object|\bzod|unexpected token|postgres/i

/** Section 3: success, message, data, errors (list of strings), and statusCode on failures; nothing else. */
function requireEnvelope<Data>(call: string, response: Response, text: string): SpecificationResponse<Data> {
  const where = `${call.slice(0, 120)} → ${response.status} ${text.slice(0, 300)}`
  expect(response.headers.get('content-type'), where).toMatch(/^application\/json\b/)
  const body = JSON.parse(text) as Omit<SpecificationResponse<Data>, 'status' | 'headers'>
  const names = ['data', 'errors', 'message', ...(response.ok ? [] : ['statusCode']), 'success']
  expect(Object.keys(body).sort(), where).toEqual(names)
  expect(body.success, where).toBe(response.ok)
  expect(body.message, where).toEqual(expect.stringMatching(/\S/))
  expect(Array.isArray(body.errors), where).toBe(true)
  for (const error of body.errors) expect(error, where).toEqual(expect.stringMatching(/\S/))
  if (!response.ok) {
    expect(body.statusCode, where).toBe(response.status)
    expect([body.message, ...body.errors].join('\n'), where).not.toMatch(innards)
  }
  return { ...body, status: response.status, headers: response.headers }
}

interface CertificateForm {
  file: Uint8Array
  name?: string
  password?: string
}

export function certificateForm({ file, name = 'certificado.pfx', password }: CertificateForm): FormData {
  const form = new FormData()
  form.set('Certificado', new Blob([new Uint8Array(file)], { type: 'application/x-pkcs12' }), name)
  if (password !== undefined) form.set('Senha', password)
  return form
}

/** Everything that the edit page sends, with `changes`; undefined leaves a field out. */
export function companyForm(idEmpresa: string, changes: Record<string, string | Blob | undefined> = {}): FormData {
  const fields = {
    IdEmpresa: idEmpresa,
    RazaoSocial: 'Padaria Aurora Ltda',
    Email: 'fiscal@padaria.example',
    Uf: '35',
    SincronizacaoAutomatica: 'true',
    'ConfiguracoesNfe.Emitente': 'true',
    'ConfiguracoesNfe.Destinatario': 'true',
    'ConfiguracoesNfe.Transportador': 'true',
    'ConfiguracoesNfe.Terceiro': 'true',
    'ConfiguracoesNfe.ManifestarCienciaAutomaticamente': 'false',
    'ConfiguracoesCte.Emitente': 'true',
    'ConfiguracoesCte.Remetente': 'true',
    'ConfiguracoesCte.Destinatario': 'true',
    'ConfiguracoesCte.Expedidor': 'true',
    'ConfiguracoesCte.Recebedor': 'true',
    'ConfiguracoesCte.Tomador': 'true',
    'ConfiguracoesCte.Terceiro': 'true',
    ...changes,
  }
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.set(name, value)
    else if (value) form.set(name, value, 'novo.pfx')
  }
  return form
}

export interface CompanyRow {
  id: string
  razaoSocial: string
  cnpj: string
  ativa: boolean
  ultimaSincronizacaoNFe: string | null
  ultimaSincronizacaoCTe: string | null
  validadeCertificadoA1: string | null
}

export interface CompanyDetail {
  razaoSocial: string
  cnpj: string
  email: string
  sincronizacaoAutomatica: boolean
  empresaUf: { codUf: number; uf: string }
  dataValidadeCertificadoDigital: string
  configuracaoNFe: Record<string, boolean | string>
  configuracaoCTe: Record<string, boolean | string>
}

export interface DocumentPage {
  items: object[]
  totalDePaginas: number
}

export interface DashboardData {
  qtdNfe: number
  qtdCte: number
  totalNfeCte: number
  qtdEmpresasCadastradas: number
  qtdDocumentosPorEmpresa: {
    razaoSocial: string
    qtdNfe: number
    qtdCte: number
    totalNfeCte: number
    ativa: boolean
  }[]
  ultimosDocumentosProcessados: { tipoDfe: number; nomeEmitente: string; chaveDfe: string; dataCadastro: string }[]
}
