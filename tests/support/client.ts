import type { Simulator } from '@vigia/simulator/start'
import type { Product } from './product.ts'

/** A user of the API, as any client written from the specification would be. */
export interface Client {
  /** One call; JSON answers come parsed, others as bytes. */
  call<T = unknown>(
    method: string,
    path: string,
    body?: object | FormData,
  ): Promise<{ status: number; body: ClientResponse<T>; bytes: Buffer }>
  /** Registers a company with a certificate made by the simulator; answers its id. */
  register(cnpj: string, nome?: string): Promise<string>
  /** Every row of the list that `query` gives, page by page. */
  list(query: string): Promise<ListRow[]>
  /** Waits until everything that the authority holds for the companies has arrived. */
  captured(options: { timeoutMs: number; everyMs?: number }): Promise<void>
}

export interface ClientResponse<T> {
  success: boolean
  message: string
  data: T
  errors: string[]
  statusCode?: number
}

export interface ListRow {
  idDfe: string
  idEmpresa: string
  numero: number
  emitente: string
  empresa?: string
  chave: string
  valor: number
  dataEmissao: string
  tipoParticipacao: number
  notaCompleta: boolean
  status: { codigoEvento: number; descricaoEvento: string }
  conferencia?: { confere: boolean | null; texto: string } | null
}

export interface List {
  items: ListRow[]
  totalDePaginas: number
  totalDeItens: number
}

interface CompanyRow {
  razaoSocial: string
  ultimaSincronizacaoNFe: string | null
  ultimaSincronizacaoCTe: string | null
  captura: { ultimoNsu: string; maxNsu: string }[]
}

interface NewAccount {
  nome: string
  email: string
  senha: string
  /** 2, unless another is wanted: up to ten companies. */
  tipoPlano?: number
}

let accounts = 0

/** Signs up, unless there is such an account already, and logs in; or goes on with a session. */
export async function newClient(
  { url, simulator }: Pick<Product, 'url'> & { simulator: Pick<Simulator, 'issueCertificate'> },
  account: NewAccount | { token: string } = {
    nome: 'Ana Souza',
    email: `ana${++accounts}@exemplo.com.br`,
    senha: 'segredo1',
  },
): Promise<Client> {
  let token = ''
  const call: Client['call'] = async (method, path, body) => {
    const isForm = body instanceof FormData
    const response = await fetch(new URL(path, url), {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body && !isForm ? { 'content-type': 'application/json' } : {}),
      },
      body: isForm ? body : body && JSON.stringify(body),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const isJson = response.headers.get('content-type')?.includes('json')
    return { status: response.status, bytes, body: isJson ? JSON.parse(bytes.toString()) : { success: response.ok } }
  }
  if ('token' in account) token = account.token
  else {
    await call('POST', '/v1/api/Usuarios', { tipoPlano: 2, ...account })
    const session = await call<{ token: string } | null>('POST', '/v1/api/Auth', account)
    if (!session.body.data) throw new Error(`${account.email}: ${session.body.message}`)
    token = session.body.data.token
  }
  return {
    call,
    async register(cnpj, nome = `EMPRESA ${cnpj}`) {
      const form = new FormData()
      const pfx = await simulator.issueCertificate({ cnpj, nome, senha: 'segredo', sharedKey: true })
      form.append('Certificado', new File([new Uint8Array(pfx)], 'empresa.pfx'))
      form.append('Senha', 'segredo')
      const { body } = await call<{ idEmpresa: string }>('POST', '/v1/api/Empresas', form)
      if (!body.success) throw new Error(`${cnpj}: ${body.message}`)
      return body.data.idEmpresa
    },
    async list(query) {
      const rows: ListRow[] = []
      for (let page = 1; ; page++) {
        const { body } = await call<List>('GET', `/v1/api/DocumentosFiscais?${query}&PaginaAtual=${page}`)
        if (!body.success) throw new Error(`${query}: ${body.message}`)
        rows.push(...body.data.items)
        if (page >= body.data.totalDePaginas) return rows
      }
    },
    async captured({ timeoutMs, everyMs = 300 }) {
      const until = Date.now() + timeoutMs
      for (;;) {
        const { body } = await call<CompanyRow[]>('GET', '/v1/api/Empresas/obter-empresas')
        const waiting = body.data.filter((row) => !isCaptured(row))
        if (waiting.length === 0) return
        if (Date.now() > until) throw new Error(`still not captured: ${JSON.stringify(waiting)}`)
        await new Promise((resolve) => setTimeout(resolve, everyMs))
      }
    },
  }
}

function isCaptured({ ultimaSincronizacaoNFe, ultimaSincronizacaoCTe, captura }: CompanyRow): boolean {
  const heard = ultimaSincronizacaoNFe !== null && ultimaSincronizacaoCTe !== null
  return heard && captura.every((line) => line.ultimoNsu === line.maxNsu)
}
