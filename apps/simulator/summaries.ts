import { child, openDocument, value, type XmlElement } from '@vigia/dfe/document'
import { escapeText, tag } from '@vigia/xml/write'

const namespace = 'http://www.portalfiscal.inf.br/nfe'

/** The resNFe that the Ambiente Nacional makes of an NF-e for its destinatário (NT 2014.002, leiaute resumo da NF-e). */
export function summaryOfNfe(nfeProc: Uint8Array, chave: string, cSitNFe: '1' | '2' | '3'): Uint8Array {
  const root = openDocument(nfeProc)
  const info = child(root, 'NFe/infNFe')
  const emit = child(info, 'emit')
  const protocol = child(root, 'protNFe/infProt')
  const digest = value(protocol, 'digVal') ?? value(child(root, 'NFe/Signature'), 'SignedInfo/Reference/DigestValue')
  const issued = value(info, 'ide/dhEmi') ?? value(info, 'ide/dEmi') ?? ''
  const xml = tag(
    'resNFe',
    {
      'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
      'xmlns:xsd': 'http://www.w3.org/2001/XMLSchema',
      versao: '1.01',
      xmlns: namespace,
    },
    text('chNFe', chave),
    taxId(emit),
    text('xNome', value(emit, 'xNome') ?? ''),
    // The layout allows an empty IE.
    text('IE', value(emit, 'IE') ?? ''),
    text('dhEmi', withOffset(issued)),
    text('tpNF', value(info, 'ide/tpNF') ?? '1'),
    text('vNF', value(info, 'total/ICMSTot/vNF') ?? '0.00'),
    digest === undefined ? null : text('digVal', digest),
    text('dhRecbto', withOffset(value(protocol, 'dhRecbto') ?? issued)),
    text('nProt', value(protocol, 'nProt') ?? ''),
    text('cSitNFe', cSitNFe),
  )
  return Buffer.from(xml, 'utf8')
}

interface EventSummary {
  cOrgao: string
  /** Author of the event: of the propagated ones an órgão, not the carrier. */
  CNPJ: string
  chNFe: string
  dhEvento: string
  tpEvento: number
  nSeqEvento: number
  xEvento: string
  dhRecbto: string
  nProt: string
}

/** A resEvento (NT 2014.002, leiaute resumo do evento de NF-e). */
export function eventSummary(event: EventSummary): Uint8Array {
  const xml = tag(
    'resEvento',
    {
      'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
      'xmlns:xsd': 'http://www.w3.org/2001/XMLSchema',
      versao: '1.01',
      xmlns: namespace,
    },
    text('cOrgao', event.cOrgao),
    text('CNPJ', event.CNPJ),
    text('chNFe', event.chNFe),
    text('dhEvento', event.dhEvento),
    text('tpEvento', String(event.tpEvento)),
    text('nSeqEvento', String(event.nSeqEvento)),
    text('xEvento', event.xEvento),
    text('dhRecbto', event.dhRecbto),
    text('nProt', event.nProt),
  )
  return Buffer.from(xml, 'utf8')
}

function text(name: string, content: string): string {
  return tag(name, null, escapeText(content))
}

function taxId(group: XmlElement | undefined): string {
  const cnpj = value(group, 'CNPJ')
  return cnpj === undefined ? text('CPF', value(group, 'CPF') ?? '') : text('CNPJ', cnpj)
}

// Layouts up to 2.00 write dates without time or without offset; the summary always has both.
function withOffset(written: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(written)) return `${written}T00:00:00-03:00`
  return /T[\d:]+(?:\.\d+)?$/.test(written) ? `${written}-03:00` : written
}
