import type { Product } from './product.ts'

/** A user of the API, as any client written from the specification would be. */
export interface Client {
  /** One call; JSON answers come parsed, others as bytes. */
  call<T = unknown>(
    method: string,
    path: string,
    body?: object | FormData,
  ): Promise<{ status: number; body: Answer<T>; bytes: Buffer }>
  /** Registers a company with a certificate made by the simulator; answers its id. */
  register(cnpj: string, nome?: string): Promise<string>
}

export interface Answer<T> {
  success: boolean
  message: string
  data: T
  errors: string[]
  statusCode?: number
}

let accounts = 0

/** Signs up and logs in. */
export async function newClient(product: Product): Promise<Client> {
  let token = ''
  const call: Client['call'] = async (method, path, body) => {
    const isForm = body instanceof FormData
    const response = await fetch(product.url + path, {
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
  const account = { nome: 'Ana Souza', email: `ana${++accounts}@exemplo.com.br`, senha: 'segredo1' }
  await call('POST', '/v1/api/Usuarios', account)
  token = (await call<{ token: string }>('POST', '/v1/api/Auth', account)).body.data.token
  return {
    call,
    async register(cnpj, nome = `EMPRESA ${cnpj}`) {
      const form = new FormData()
      const pfx = await product.simulator.issueCertificate({ cnpj, nome, senha: 'segredo' })
      form.append('Certificado', new File([new Uint8Array(pfx)], 'empresa.pfx'))
      form.append('Senha', 'segredo')
      const { body } = await call<{ idEmpresa: string }>('POST', '/v1/api/Empresas', form)
      if (!body.success) throw new Error(`${cnpj}: ${body.message}`)
      return body.data.idEmpresa
    },
  }
}
