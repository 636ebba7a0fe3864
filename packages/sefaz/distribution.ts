import { gunzipSync } from 'node:zlib'
import { sizeBytesMax, type XmlElement } from '@vigia/xml/parse'
import { escapeText, tag } from '@vigia/xml/write'
import type { Connection } from './connection.ts'
import { DocumentTooLargeError } from './error.ts'
import { callSoap, childOf, textOf } from './soap.ts'

/** One document of a response, not opened (NT 2014.002, docZip). */
export interface DocZip {
  /** Fifteen digits; null in some responses to consChNFe. */
  nsu: string | null
  /** `procNFe_v4.00.xsd`, exactly as written. */
  schema: string
  /** The gzip stream exactly as base64 held it. */
  content: Buffer
}

/** A parsed `retDistDFeInt`, with size and duration of the call (NT 2014.002 and NT 2015.002). */
export interface DistributionResponse {
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

/** Asks once and returns the response, whatever its cStat; without a response throws SefazError (NT 2014.002 and NT 2015.002). */
export async function queryDistribution(
  connection: Connection,
  request: DistributionRequest,
): Promise<DistributionResponse> {
  const { wsdl, operation, data } = services[request.service]
  const { element, cStat, xMotivo, bytes, durationMs } = await callSoap(connection, {
    url: request.url,
    action: `${wsdl}/${operation}`,
    message: tag(operation, { xmlns: wsdl }, tag(data, null, distDFeInt(request))),
    responseElement: 'retDistDFeInt',
  })
  return {
    cStat,
    xMotivo,
    dhResp: textOf(element, 'dhResp'),
    ultNSU: readNsu(textOf(element, 'ultNSU')),
    maxNSU: readNsu(textOf(element, 'maxNSU')),
    documents: (childOf(element, 'loteDistDFeInt')?.children ?? [])
      .filter(({ name }) => name === 'docZip')
      .map(readDocZip),
    bytes,
    durationMs,
  }
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

function readDocZip(docZip: XmlElement): DocZip {
  return {
    nsu: positionOf(readNsu(docZip.attributes.NSU)),
    schema: docZip.attributes.schema ?? '',
    content: Buffer.from(docZip.text, 'base64'),
  }
}

// Positions begin at 1.
const positionOf = (nsu: string | null) => (nsu !== null && /[1-9]/.test(nsu) ? nsu : null)

function readNsu(text: string | undefined): string | null {
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? text.padStart(15, '0') : null
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
