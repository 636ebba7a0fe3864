import { gunzipSync } from 'node:zlib'
import { parseXml, sizeBytesMax, type XmlElement, XmlError } from '@vigia/xml/parse'
import { escapeText, tag } from '@vigia/xml/write'
import type { Connection, Response } from './connection.ts'
import { DocumentTooLargeError, SefazError } from './error.ts'

/** One document of an answer, not opened (NT 2014.002, docZip). */
export interface DocZip {
  /** Fifteen digits; null in some answers to consChNFe. */
  nsu: string | null
  /** `procNFe_v4.00.xsd`, exactly as written. */
  schema: string
  /** The gzip stream exactly as base64 held it. */
  content: Buffer
}

/** What `retDistDFeInt` says, with the size and the duration of the call (NT 2014.002 and NT 2015.002). */
export interface DistributionAnswer {
  cStat: number
  xMotivo: string
  dhResp?: string
  ultNSU: string | null
  maxNSU: string | null
  documents: DocZip[]
  bytes: number
  durationMs: number
}

/** A question to NFeDistribuicaoDFe or CTeDistribuicaoDFe; the query by chave exists for NF-e only (NT 2014.002 and NT 2015.002). */
export interface DistributionRequest {
  service: 'nfe' | 'cte'
  url: string
  tpAmb: 1 | 2
  cUFAutor: number
  cnpj: string
  query: { ultNSU: string } | { NSU: string } | { chNFe: string }
}

const services = {
  nfe: {
    versao: '1.01',
    xmlns: 'http://www.portalfiscal.inf.br/nfe',
    wsdl: 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeDistribuicaoDFe',
    operation: 'nfeDistDFeInteresse',
    data: 'nfeDadosMsg',
  },
  cte: {
    versao: '1.00',
    xmlns: 'http://www.portalfiscal.inf.br/cte',
    wsdl: 'http://www.portalfiscal.inf.br/cte/wsdl/CTeDistribuicaoDFe',
    operation: 'cteDistDFeInteresse',
    data: 'cteDadosMsg',
  },
}

/** Asks once and returns what was answered, whatever its cStat; without an answer throws SefazError (NT 2014.002 and NT 2015.002). */
export async function queryDistribution(
  connection: Connection,
  request: DistributionRequest,
): Promise<DistributionAnswer> {
  const { wsdl, operation } = services[request.service]
  const startedAt = performance.now()
  const response = await connection.post(request.url, {
    body: envelope(request),
    headers: { 'content-type': `application/soap+xml; charset=utf-8; action="${wsdl}/${operation}"` },
  })
  const durationMs = Math.round(performance.now() - startedAt)
  return { ...readAnswer(response), bytes: response.body.length, durationMs }
}

function envelope(request: DistributionRequest): string {
  const { wsdl, operation, data } = services[request.service]
  const message = tag(operation, { xmlns: wsdl }, tag(data, null, distDFeInt(request)))
  const soap = { 'xmlns:soap12': 'http://www.w3.org/2003/05/soap-envelope' }
  return tag('soap12:Envelope', soap, tag('soap12:Body', null, message))
}

function distDFeInt({ service, tpAmb, cUFAutor, cnpj, query }: DistributionRequest): string {
  const { versao, xmlns } = services[service]
  return tag(
    'distDFeInt',
    { xmlns, versao },
    leaf('tpAmb', String(tpAmb)),
    leaf('cUFAutor', String(cUFAutor)),
    leaf('CNPJ', cnpj),
    'ultNSU' in query && tag('distNSU', null, leaf('ultNSU', nsuText(query.ultNSU))),
    'NSU' in query && tag('consNSU', null, leaf('NSU', nsuText(query.NSU))),
    'chNFe' in query && tag('consChNFe', null, leaf('chNFe', query.chNFe)),
  )
}

function leaf(name: string, text: string): string {
  return tag(name, null, escapeText(text))
}

function nsuText(nsu: string): string {
  if (!/^[0-9]{1,15}$/.test(nsu)) throw new TypeError(`not an NSU: ${nsu}`)
  return nsu.padStart(15, '0')
}

function readAnswer(response: Response): Omit<DistributionAnswer, 'bytes' | 'durationMs'> {
  const { status, body } = response
  // IIS answers a refused certificate with a page of its own.
  if (status === 403) throw new SefazError('forbidden', { status, body })
  const root = tryParse(body)
  const fault = root && find(root, 'Fault')
  if (fault) throw faultError(fault, response)
  if (status < 200 || status > 299) {
    const retryable = status >= 500 || status === 408 || status === 429
    throw new SefazError('http', { status, body, retryable, detail: `HTTP ${status}` })
  }
  const ret = root && findAnswer(root)
  const cStat = ret && textOf(ret, 'cStat')
  if (!ret || !cStat || !/^[0-9]{3,4}$/.test(cStat)) throw new SefazError('not-xml', { status, body })
  return {
    cStat: Number(cStat),
    xMotivo: textOf(ret, 'xMotivo') ?? '',
    dhResp: textOf(ret, 'dhResp'),
    ultNSU: readNsu(textOf(ret, 'ultNSU')),
    maxNSU: readNsu(textOf(ret, 'maxNSU')),
    documents: (childOf(ret, 'loteDistDFeInt')?.children ?? []).filter(({ name }) => name === 'docZip').map(readDocZip),
  }
}

function readDocZip(docZip: XmlElement): DocZip {
  return {
    nsu: readNsu(docZip.attributes.NSU),
    schema: docZip.attributes.schema ?? '',
    content: Buffer.from(docZip.text, 'base64'),
  }
}

function readNsu(text: string | undefined): string | null {
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? text.padStart(15, '0') : null
}

function faultError(fault: XmlElement, { status, body }: Response): SefazError {
  const detail = (find(fault, 'Text') ?? find(fault, 'faultstring'))?.text.trim()
  // A wrong action or SOAP version stays wrong; every other fault is of the server and of the moment.
  const retryable = !/was not recognized|Unable to handle request/i.test(detail ?? '')
  return new SefazError('fault', { status, body, detail, retryable })
}

// The answer is an element, but some servers put it as escaped text or CDATA into the result element.
function findAnswer(root: XmlElement): XmlElement | undefined {
  const answer = find(root, 'retDistDFeInt')
  if (answer) return answer
  const inner = findWhere(root, ({ text }) => text.includes('retDistDFeInt'))
  const innerRoot = inner && tryParse(inner.text.trim())
  return innerRoot && find(innerRoot, 'retDistDFeInt')
}

function tryParse(source: string | Uint8Array): XmlElement | undefined {
  try {
    return parseXml(source)
  } catch (error) {
    if (error instanceof XmlError) return undefined
    throw error
  }
}

function find(element: XmlElement, name: string): XmlElement | undefined {
  return findWhere(element, (candidate) => candidate.name === name)
}

function findWhere(element: XmlElement, matches: (element: XmlElement) => boolean): XmlElement | undefined {
  if (matches(element)) return element
  for (const child of element.children) {
    const found = findWhere(child, matches)
    if (found) return found
  }
  return undefined
}

function childOf(element: XmlElement, name: string): XmlElement | undefined {
  return element.children.find((child) => child.name === name)
}

function textOf(element: XmlElement, name: string): string | undefined {
  return childOf(element, name)?.text.trim() || undefined
}

/** The XML inside a docZip; throws when the stream is damaged, and DocumentTooLargeError when it holds more than anybody reads (NT 2014.002, docZip). */
export function unzipDocument(content: Uint8Array): Buffer {
  // The stream ends with the size of what it holds: one buffer of that size is more than twice as fast as growing.
  const size =
    content.length < 18 ? 0 : new DataView(content.buffer, content.byteOffset).getUint32(content.length - 4, true)
  const chunkSize = Math.min(Math.max(size, 1024), 1024 * 1024)
  try {
    return gunzipSync(content, { maxOutputLength: sizeBytesMax, chunkSize })
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE')
      throw new DocumentTooLargeError({ cause })
    throw cause
  }
}
