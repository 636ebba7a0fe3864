import { signEnveloped } from '@vigia/xml/sign'
import { tag } from '@vigia/xml/write'
import {
  type CertificateSubject,
  type CertificationAuthority,
  type IssuedCertificate,
  keptKey,
  openCertificationAuthority,
} from './certificates.ts'
import { type Client, type HttpResponse, startForTest, type TestSimulator } from './client.testing.ts'
import { dateTimeWithOffset } from './clock.ts'
import { createCast, type Taxpayer } from './generate/cast.ts'
import { buildCte, type GeneratedCte } from './generate/cte.ts'
import { buildNfe, type GeneratedNfe } from './generate/nfe.ts'
import { createRandom } from './generate/random.ts'
import type { SimulatorOptions } from './start.ts'

/** A simulator, documents in it, and events to send: the wire by its own strings only. */
export interface EventBench {
  test: TestSimulator
  client: Client
  authority: CertificationAuthority
  now(): number
  advance(ms: number): Promise<void>
  /** A new NF-e, received by the authority now. */
  note(parts?: { recipient?: string; reader?: string }): Promise<GeneratedNfe>
  /** A new CT-e of a carrier in this state, the recipient of the goods being the tomador. */
  freight(parts?: { uf?: string; toma?: '0' | '3' }): Promise<GeneratedCte & { tomador: string; sender: string }>
  receive(xml: Uint8Array | string): Promise<unknown>
  /** The signing certificate of a taxpayer. */
  signer(cnpj: string): Promise<IssuedCertificate>
  truth(cnpj: string, service?: 'nfe' | 'cte'): Promise<string[]>
}

export interface NfeEvent {
  chave: string
  author: string
  tpEvento?: number
  nSeqEvento?: number | string
  cOrgao?: string
  tpAmb?: string
  dhEvento?: string
  verEvento?: string
  Id?: string
  descEvento?: string
  xJust?: string
  detail?: string
}

export interface CteEvent {
  chave: string
  author: string
  tpEvento: number
  nSeqEvento?: number | string
  cOrgao?: string
  tpAmb?: string
  dhEvento?: string
  versaoEvento?: string
  Id?: string
  detail: string
}

const nfe = 'http://www.portalfiscal.inf.br/nfe'
const cte = 'http://www.portalfiscal.inf.br/cte'
const cast = createCast(1)
const random = createRandom('events')
let numero = 0

export const nfePath = '/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx'

export async function openBench(options: Partial<SimulatorOptions> = {}): Promise<EventBench> {
  const test = await startForTest(options)
  const authority = await openCertificationAuthority(test.directory, Date.now())
  const pair = await keptKey(test.directory, 'shared')
  const signers = new Map<string, Promise<IssuedCertificate>>()
  const signer = (cnpj: string) => {
    const known = signers.get(cnpj)
    if (known !== undefined) return known
    const holder: CertificateSubject = cnpj.length === 11 ? { cpf: cnpj, nome: 'PESSOA' } : { cnpj, nome: 'EMPRESA' }
    const made = authority.issue(holder, Date.now(), pair)
    signers.set(cnpj, made)
    return made
  }
  let offsetMs = 0
  const now = () => Date.now() + offsetMs
  const receive = (xml: Uint8Array | string) => test.control('POST', 'documents', Buffer.from(xml).toString('utf8'))
  return {
    test,
    client: await test.client('44555666000181'),
    authority,
    now,
    advance: async (ms) => {
      offsetMs += ms
      await test.control('POST', 'clock', { advanceMs: ms })
    },
    note: async ({ recipient, reader } = {}) => {
      const issuer = cast.suppliers[numero % 16]!
      const own = cast.customers[numero % 6]!
      const order = {
        at: now() - 60_000,
        tpAmb: 2 as const,
        issuer,
        recipient: recipient === undefined ? own : { ...own, cnpj: recipient },
        reader: reader === undefined ? undefined : { ...cast.accountant, cnpj: reader },
        serie: 1,
        numero: ++numero,
        items: 1,
      }
      const made = buildNfe(random, order, await signer(issuer.cnpj))
      await receive(made.bytes)
      return made
    },
    freight: async ({ uf = 'PR', toma = '3' } = {}) => {
      const cUF = { PR: '41', SC: '42', SP: '35', PE: '26', MG: '31', MT: '51', MS: '50', RS: '43' }[uf] ?? '41'
      const base = cast.carriers[numero % 4]!
      const carrier: Taxpayer = { ...base, place: { ...base.place, uf, cUF } }
      const sender = cast.suppliers[numero % 16]!
      const receiver = cast.customers[numero % 6]!
      const order = {
        at: now() - 60_000,
        tpAmb: 2 as const,
        carrier,
        serie: 1,
        numero: ++numero,
        vTPrest: 12_300,
        sender,
        receiver,
        toma,
        cargo: [],
      }
      const made = buildCte(random, order, await signer(carrier.cnpj))
      await receive(made.bytes)
      return { ...made, sender: sender.cnpj, tomador: toma === '3' ? receiver.cnpj : sender.cnpj }
    },
    receive,
    signer,
    truth: async (cnpj, service = 'nfe') => {
      const { documents } = (await test.control('GET', `truth?cnpj=${cnpj}&service=${service}`)) as {
        documents: { kind: string; chave: string; tpEvento?: number }[]
      }
      return documents.map((one) => (one.tpEvento === undefined ? one.kind : String(one.tpEvento)))
    },
  }
}

const descriptions: Record<number, string> = {
  210200: 'Confirmacao da Operacao',
  210210: 'Ciencia da Operacao',
  210220: 'Desconhecimento da Operacao',
  210240: 'Operacao nao Realizada',
}

function field(name: string, content: string | number): string {
  return tag(name, null, String(content))
}

function authorOf(author: string): string {
  return field(author.length === 11 ? 'CPF' : 'CNPJ', author)
}

/** A manifestação, signed. */
export function nfeEvent(order: NfeEvent, signer: IssuedCertificate, now: number): string {
  const { chave, tpEvento = 210210, nSeqEvento = 1, xJust } = order
  const Id = order.Id ?? `ID${tpEvento}${chave}${String(nSeqEvento).padStart(2, '0')}`
  const description = field('descEvento', order.descEvento ?? descriptions[tpEvento] ?? 'Outro evento')
  const detail = order.detail ?? description + (xJust === undefined ? '' : field('xJust', xJust))
  const info = tag(
    'infEvento',
    { Id },
    field('cOrgao', order.cOrgao ?? '91'),
    field('tpAmb', order.tpAmb ?? '2'),
    authorOf(order.author),
    field('chNFe', chave),
    field('dhEvento', order.dhEvento ?? dateTimeWithOffset(now)),
    field('tpEvento', tpEvento),
    field('nSeqEvento', nSeqEvento),
    field('verEvento', order.verEvento ?? '1.00'),
    tag('detEvento', { versao: '1.00' }, detail),
  )
  return signEnveloped(tag('evento', { xmlns: nfe, versao: '1.00' }, info), Id, signer.key, signer.certificate)
}

/** An event of a CT-e, signed. */
export function cteEvent(order: CteEvent, signer: IssuedCertificate, now: number): string {
  const { chave, tpEvento, nSeqEvento = 1 } = order
  const Id = order.Id ?? `ID${tpEvento}${chave}${String(nSeqEvento).padStart(3, '0')}`
  const info = tag(
    'infEvento',
    { Id },
    field('cOrgao', order.cOrgao ?? chave.slice(0, 2)),
    field('tpAmb', order.tpAmb ?? '2'),
    authorOf(order.author),
    field('chCTe', chave),
    field('dhEvento', order.dhEvento ?? dateTimeWithOffset(now)),
    field('tpEvento', tpEvento),
    field('nSeqEvento', nSeqEvento),
    tag('detEvento', { versaoEvento: order.versaoEvento ?? '4.00' }, order.detail),
  )
  return signEnveloped(tag('eventoCTe', { xmlns: cte, versao: '4.00' }, info), Id, signer.key, signer.certificate)
}

export function envEvento(...events: string[]): string {
  return `<envEvento xmlns="${nfe}" versao="1.00"><idLote>202608110001</idLote>${events.join('')}</envEvento>`
}

export function envelope(service: 'nfe' | 'cte', message: string): string {
  const name = service === 'nfe' ? 'NFeRecepcaoEvento4' : 'CTeRecepcaoEventoV4'
  const data = `${service}DadosMsg`
  return `<soap12:Envelope xmlns:soap12="http://www.w3.org/2003/05/soap-envelope" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soap12:Body><${data} xmlns="http://www.portalfiscal.inf.br/${service}/wsdl/${name}">${message}</${data}></soap12:Body></soap12:Envelope>`
}

export function action(service: 'nfe' | 'cte'): string {
  return service === 'nfe'
    ? 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4/nfeRecepcaoEventoNF'
    : 'http://www.portalfiscal.inf.br/cte/wsdl/CTeRecepcaoEventoV4/cteRecepcaoEvento'
}

export function headers(service: 'nfe' | 'cte'): Record<string, string> {
  return { 'Content-Type': `application/soap+xml; charset=utf-8; action="${action(service)}"` }
}

/** Message, cStat and event cStats of a response. */
export interface EventResponse {
  http: HttpResponse
  message: string
  cStat: string
  results: Record<'cStat' | 'xMotivo' | 'nProt' | 'xEvento' | 'dhRegEvento' | 'cOrgao' | 'CNPJDest', string>[]
}

export async function post(
  client: Client,
  service: 'nfe' | 'cte',
  path: string,
  message: string,
): Promise<EventResponse> {
  const http = await client.post(path, headers(service), envelope(service, message))
  return readEventResponse(http)
}

export function readEventResponse(http: HttpResponse): EventResponse {
  const message = /<(retEnvEvento|retEventoCTe)[ >][\s\S]*<\/\1>/.exec(http.body)?.[0] ?? ''
  const at = (source: string, name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(source)?.[1] ?? ''
  const results = [...message.matchAll(/<infEvento>([\s\S]*?)<\/infEvento>/g)].map(([, inner = '']) => ({
    cStat: at(inner, 'cStat'),
    xMotivo: at(inner, 'xMotivo'),
    nProt: at(inner, 'nProt'),
    xEvento: at(inner, 'xEvento'),
    dhRegEvento: at(inner, 'dhRegEvento'),
    cOrgao: at(inner, 'cOrgao'),
    CNPJDest: at(inner, 'CNPJDest'),
  }))
  return { http, message, cStat: at(message, 'cStat'), results }
}
