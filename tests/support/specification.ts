import { expect, vi } from 'vitest'

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
  /** An answer that is a file on success and the envelope on failure. */
  file(path: string): Promise<FileOrResponse>
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

type FileOrResponse = { bytes: Uint8Array; type: string; headers: Headers } | SpecificationResponse<unknown>

export type Query = Record<string, string | number | undefined>

interface CallOptions {
  query?: Query
  json?: unknown
  form?: FormData
  /** A body as it goes over the wire, broken or not. */
  raw?: { body: BodyInit; type?: string }
  /** Instead of the token of the client. */
  authorization?: string
}

export function openClient(url: string, token: string | null = null): SpecificationClient {
  const client: SpecificationClient = {
    token,
    async call<Data>(method: string, path: string, options: CallOptions = {}) {
      const response = await send(url, method, path, { authorization: bearer(client.token), ...options })
      return requireEnvelope<Data>(`${method} ${path}`, response, await response.text())
    },
    async get<Data>(path: string, query?: Query) {
      return requireSuccess(await client.call<Data>('GET', path, { query }))
    },
    async post<Data>(path: string, json?: unknown) {
      return requireSuccess(await client.call<Data>('POST', path, { json }))
    },
    async file(path) {
      const response = await send(url, 'GET', path, { authorization: bearer(client.token) }, 'application/pdf')
      if (!response.ok) return requireEnvelope(`GET ${path}`, response, await response.text())
      return {
        bytes: new Uint8Array(await response.arrayBuffer()),
        type: response.headers.get('content-type') ?? '',
        headers: response.headers,
      }
    },
  }
  return client
}

function bearer(token: string | null): string | undefined {
  return token === null ? undefined : `Bearer ${token}`
}

async function send(url: string, method: string, path: string, options: CallOptions, accept = 'application/json') {
  const headers = new Headers({ accept })
  if (options.authorization !== undefined) headers.set('authorization', options.authorization)
  let body: BodyInit | null = null
  if (options.form) body = options.form
  if (options.json !== undefined) {
    headers.set('content-type', 'application/json')
    body = JSON.stringify(options.json)
  }
  if (options.raw) {
    if (options.raw.type !== undefined) headers.set('content-type', options.raw.type)
    body = options.raw.body
  }
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

export interface Person {
  nome: string
  email: string
  senha: string
  celular?: string
  tipoPlano?: number
}

let people = 0

/** Somebody whom no test has met yet. */
export function somebody(changes: Partial<Person> = {}): Person {
  people += 1
  return {
    nome: 'Ana Souza',
    email: `pessoa${people}@escritorio.example`,
    senha: 'notas-2026',
    tipoPlano: 2,
    ...changes,
  }
}

export async function logIn(url: string, person: Person): Promise<SpecificationClient> {
  const client = openClient(url)
  const { data } = await client.post<{ token: string; wsId: string }>('/v1/api/Auth', {
    email: person.email,
    senha: person.senha,
  })
  client.token = data.token
  return client
}

/** Sign-up and login of somebody new. */
export async function enter(url: string, changes: Partial<Person> = {}): Promise<SpecificationClient> {
  const person = somebody(changes)
  await openClient(url).post('/v1/api/Usuarios', person)
  return logIn(url, person)
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

export interface DocumentRow {
  idDfe: string
  numero: number | string
  emitente: string
  chave: string
  valor: number
  dataEmissao: string
  tipoParticipacao: number
  status: { codigoEvento: number; descricaoEvento: string }
  notaCompleta: boolean
}

export interface DocumentPage {
  items: DocumentRow[]
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

export const nfe = 0
export const cte = 2

/** Every row of a search, page after page. */
export async function readDocuments(client: SpecificationClient, query: Query): Promise<DocumentRow[]> {
  const rows: DocumentRow[] = []
  for (let page = 1; ; page += 1) {
    const { data } = await client.get<DocumentPage>('/v1/api/DocumentosFiscais', { ...query, PaginaAtual: page })
    rows.push(...data.items)
    if (page >= data.totalDePaginas) return rows
  }
}

/** Waits until everything that the authority has for the companies of `client` is here. */
export async function waitForCapture(client: SpecificationClient): Promise<void> {
  const check = async () => {
    const { data } = await client.get<(CompanyRow & { captura: { ultimoNsu: string; maxNsu: string }[] })[]>(
      '/v1/api/Empresas/obter-empresas',
    )
    for (const row of data) {
      expect([row.ultimaSincronizacaoNFe, row.ultimaSincronizacaoCTe]).not.toContain(null)
      for (const { ultimoNsu, maxNsu } of row.captura) expect(ultimoNsu).toBe(maxNsu)
    }
  }
  await vi.waitFor(check, { timeout: 60_000, interval: 100 })
}

/** 00.000.000/0000-00, letters or not. */
export function withMask(cnpj: string): string {
  return cnpj.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5')
}

/** The CNPJ of an establishment: eight characters of the company, its number, and the two check digits. */
export function cnpjOf(base: string, establishment = '0001'): string {
  const first = checkDigit(base + establishment)
  return `${base}${establishment}${first}${checkDigit(base + establishment + first)}`
}

// Modulo 11, weights 2 to 9 from the right; a letter counts as its ASCII code minus 48.
function checkDigit(text: string): number {
  let sum = 0
  for (let i = 0; i < text.length; i += 1) sum += (text.charCodeAt(text.length - 1 - i) - 48) * (2 + (i % 8))
  return sum % 11 < 2 ? 0 : 11 - (sum % 11)
}
