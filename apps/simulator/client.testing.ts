import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { withTestKeys } from '../../tests/support/keys.ts'
import { type Simulator, type SimulatorOptions, start } from './start.ts'

/** A raw client of the tests: it knows the wire by its own strings only. */
export interface TestSimulator {
  simulator: Simulator
  directory: string
  /** Another certificate of the simulator's authority. */
  client(cnpj: string): Promise<Client>
  control(method: string, path: string, body?: unknown): Promise<unknown>
  publish(cnpj: string, count: number, service?: string): Promise<void>
  stop(options?: { keep?: boolean }): Promise<void>
}

export interface HttpResponse {
  status: number
  contentType: string
  body: string
}

export interface Client {
  post(
    path: string,
    headers: Record<string, string>,
    body: string | Buffer,
    signal?: AbortSignal,
  ): Promise<HttpResponse>
  get(path: string): Promise<HttpResponse>
  /** A distribution query with SOAP 1.2. */
  ask(service: 'nfe' | 'cte', query: DistributionCall): Promise<DistributionResponse>
}

export interface DistributionCall {
  cnpj: string
  ultNSU?: number
  NSU?: number
  chNFe?: string
  tpAmb?: string
  cUFAutor?: string | null
  versao?: string
}

export interface DistributionResponse {
  cStat: string
  xMotivo: string
  dhResp: string
  ultNSU: string
  maxNSU: string
  documents: { NSU: string | undefined; schema: string; xml: string }[]
  /** The retDistDFeInt as it came. */
  message: string
}

const password = 'segredo'

export const paths = {
  nfe: '/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
  cte: '/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
}

export async function startForTest(options: Partial<SimulatorOptions> = {}): Promise<TestSimulator> {
  const directory = options.directory ?? withTestKeys(mkdtempSync(join(tmpdir(), 'simulator-')))
  const simulator = await start({ port: 0, tpAmb: 2, ...options, directory })
  return {
    simulator,
    directory,
    client: async (cnpj) => {
      const holder = cnpj.length === 11 ? { cpf: cnpj } : { cnpj }
      const pfx = await simulator.issueCertificate({
        ...holder,
        nome: 'EMPRESA DE TESTE LTDA',
        senha: password,
        sharedKey: true,
      })
      return createClient(simulator, { pfx: Buffer.from(pfx), passphrase: password })
    },
    control: async (method, path, body) => {
      const answer = await fetch(`http://127.0.0.1:${simulator.port}/_control/${path}`, {
        method,
        ...(body !== undefined && typeof body !== 'string' && { headers: { 'content-type': 'application/json' } }),
        body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      })
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
      return answer.json()
    },
    publish: async (cnpj, count, service = 'nfe') => {
      for (let index = 1; index <= count; index++) {
        await fetch(`http://127.0.0.1:${simulator.port}/_control/publish`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ cnpj, service, schema: 'procNFe_v4.00.xsd', xmlBase64: btoa(`<a>${index}</a>`) }),
        })
      }
    },
    stop: async ({ keep = false } = {}) => {
      await simulator[Symbol.asyncDispose]()
      if (!keep) rmSync(directory, { recursive: true, force: true })
    },
  }
}

export function createClient(
  simulator: { port: number; ca: string },
  identity: { pfx?: Buffer; passphrase?: string; key?: string; cert?: string },
): Client {
  const send = (
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string | Buffer,
    signal?: AbortSignal,
  ) =>
    new Promise<HttpResponse>((done, fail) => {
      const options = {
        ...identity,
        ca: simulator.ca,
        agent: false,
        signal,
        host: 'localhost',
        port: simulator.port,
        method,
        path,
      }
      const call = request(
        { ...options, headers: { ...headers, 'Content-Length': Buffer.byteLength(body) } },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', fail)
          response.on('end', () => {
            const contentType = response.headers['content-type'] ?? ''
            done({ status: response.statusCode ?? 0, contentType, body: Buffer.concat(chunks).toString('utf8') })
          })
        },
      )
      call.on('error', fail)
      call.end(body)
    })
  const post: Client['post'] = (path, headers, body, signal) => send('POST', path, headers, body, signal)
  return {
    post,
    get: (path) => send('GET', path, {}, ''),
    ask: async (service, query) => {
      const action = `${wsdlNamespace(service)}/${service}DistDFeInteresse`
      const headers = { 'Content-Type': `application/soap+xml; charset=utf-8; action="${action}"` }
      const answer = await post(paths[service], headers, envelope12(service, distDFeInt(service, query)))
      if (answer.status !== 200) throw new Error(`HTTP ${answer.status}: ${answer.body}`)
      return readResponse(answer.body)
    },
  }
}

export function wsdlNamespace(service: 'nfe' | 'cte'): string {
  return service === 'nfe'
    ? 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeDistribuicaoDFe'
    : 'http://www.portalfiscal.inf.br/cte/wsdl/CTeDistribuicaoDFe'
}

export function distDFeInt(service: 'nfe' | 'cte', query: DistributionCall): string {
  const { cnpj, tpAmb = '2', cUFAutor = '42', versao = service === 'nfe' ? '1.01' : '1.00' } = query
  const nsu = (value: number) => String(value).padStart(15, '0')
  const who = cnpj.length === 11 ? `<CPF>${cnpj}</CPF>` : `<CNPJ>${cnpj}</CNPJ>`
  const what =
    query.chNFe !== undefined
      ? `<consChNFe><chNFe>${query.chNFe}</chNFe></consChNFe>`
      : query.NSU !== undefined
        ? `<consNSU><NSU>${nsu(query.NSU)}</NSU></consNSU>`
        : `<distNSU><ultNSU>${nsu(query.ultNSU ?? 0)}</ultNSU></distNSU>`
  const uf = cUFAutor === null ? '' : `<cUFAutor>${cUFAutor}</cUFAutor>`
  return `<distDFeInt xmlns="http://www.portalfiscal.inf.br/${service}" versao="${versao}"><tpAmb>${tpAmb}</tpAmb>${uf}${who}${what}</distDFeInt>`
}

export function envelope12(service: 'nfe' | 'cte', message: string): string {
  return envelope('http://www.w3.org/2003/05/soap-envelope', service, message)
}

export function envelope11(service: 'nfe' | 'cte', message: string): string {
  return envelope('http://schemas.xmlsoap.org/soap/envelope/', service, message)
}

function envelope(namespace: string, service: 'nfe' | 'cte', message: string): string {
  return `<s:Envelope xmlns:s="${namespace}"><s:Body><${service}DistDFeInteresse xmlns="${wsdlNamespace(service)}"><${service}DadosMsg>${message}</${service}DadosMsg></${service}DistDFeInteresse></s:Body></s:Envelope>`
}

export function readResponse(body: string): DistributionResponse {
  const message = /<retDistDFeInt[\s\S]*<\/retDistDFeInt>/.exec(body)?.[0] ?? ''
  const field = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(message)?.[1] ?? ''
  const documents = [...message.matchAll(/<docZip([^>]*)>([^<]*)<\/docZip>/g)].map(
    ([, attributes = '', content = '']) => ({
      NSU: /NSU="(\d+)"/.exec(attributes)?.[1],
      schema: /schema="([^"]+)"/.exec(attributes)?.[1] ?? '',
      xml: gunzipSync(Buffer.from(content, 'base64')).toString('utf8'),
    }),
  )
  return {
    cStat: field('cStat'),
    xMotivo: field('xMotivo'),
    dhResp: field('dhResp'),
    ultNSU: field('ultNSU'),
    maxNSU: field('maxNSU'),
    documents,
    message,
  }
}

export function nsu(value: number): string {
  return String(value).padStart(15, '0')
}
