import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { chaveCheckDigit } from '@vigia/dfe/chave'
import { readArrival } from './documents.ts'

/** Small documents with just what the product reads, for tests of what happens to them afterwards. */
export interface NoteOptions {
  number?: number
  issuer?: string
  issuerName?: string
  recipient?: string
  carrier?: string
  issuedAt?: string
  amount?: string
  cStat?: string
}

export const company = '44555666000181'
const supplier = '11222333000181'

/** The chave of note `number` of `issuer`. */
export function chaveOf({ number = 1, issuer = supplier }: NoteOptions = {}): string {
  const body = `352611${issuer}55001${String(number).padStart(9, '0')}1${String(number * 7).padStart(8, '0')}`
  return `${body}${chaveCheckDigit(body)}`
}

export function nfeProc(options: NoteOptions = {}): string {
  const {
    number = 1,
    issuer = supplier,
    issuerName = 'PAPELARIA SÃO JOÃO LTDA',
    recipient = company,
    issuedAt = '2026-11-10T09:15:00-03:00',
    amount = '1500.00',
    cStat = '100',
  } = options
  const chave = chaveOf(options)
  const carrier = options.carrier
    ? `<transporta><CNPJ>${options.carrier}</CNPJ><xNome>TRANSPORTES</xNome></transporta>`
    : ''
  return `<nfeProc xmlns="http://www.portalfiscal.inf.br/nfe" versao="4.00"><NFe><infNFe Id="NFe${chave}" versao="4.00"><ide><mod>55</mod><serie>1</serie><nNF>${number}</nNF><dhEmi>${issuedAt}</dhEmi><tpNF>1</tpNF><tpAmb>2</tpAmb></ide><emit><CNPJ>${issuer}</CNPJ><xNome>${issuerName}</xNome></emit><dest><CNPJ>${recipient}</CNPJ><xNome>EMPRESA</xNome></dest><total><ICMSTot><vNF>${amount}</vNF></ICMSTot></total><transp><modFrete>0</modFrete>${carrier}</transp></infNFe></NFe><protNFe versao="4.00"><infProt><tpAmb>2</tpAmb><chNFe>${chave}</chNFe><dhRecbto>${issuedAt}</dhRecbto><nProt>135260001234567</nProt><cStat>${cStat}</cStat><xMotivo>x</xMotivo></infProt></protNFe></nfeProc>`
}

export function resNFe(options: NoteOptions & { cSitNFe?: string } = {}): string {
  const {
    issuer = supplier,
    issuerName = 'PAPELARIA SÃO JOÃO LTDA',
    issuedAt = '2026-11-10T09:15:00-03:00',
    amount = '1500.00',
    cSitNFe = '1',
  } = options
  return `<resNFe xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.01"><chNFe>${chaveOf(options)}</chNFe><CNPJ>${issuer}</CNPJ><xNome>${issuerName}</xNome><IE>111222333444</IE><dhEmi>${issuedAt}</dhEmi><tpNF>1</tpNF><vNF>${amount}</vNF><dhRecbto>${issuedAt}</dhRecbto><nProt>135260001234567</nProt><cSitNFe>${cSitNFe}</cSitNFe></resNFe>`
}

export function evento(
  tpEvento: number,
  options: NoteOptions & { seq?: number; at?: string; description?: string; cStat?: string; named?: string } = {},
): string {
  const { seq = 1, at = '2026-11-11T10:00:00-03:00', description = 'Evento', cStat = '135' } = options
  const readers = options.named ? `<autXML><CNPJ>${options.named}</CNPJ></autXML>` : ''
  const chave = chaveOf(options)
  return `<procEventoNFe xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><evento versao="1.00"><infEvento Id="ID${tpEvento}${chave}01"><cOrgao>91</cOrgao><tpAmb>2</tpAmb><CNPJ>${supplier}</CNPJ><chNFe>${chave}</chNFe><dhEvento>${at}</dhEvento><tpEvento>${tpEvento}</tpEvento><nSeqEvento>${seq}</nSeqEvento><verEvento>1.00</verEvento><detEvento versao="1.00"><descEvento>${description}</descEvento>${readers}</detEvento></infEvento></evento><retEvento versao="1.00"><infEvento><tpAmb>2</tpAmb><cOrgao>91</cOrgao><cStat>${cStat}</cStat><xMotivo>x</xMotivo><chNFe>${chave}</chNFe><tpEvento>${tpEvento}</tpEvento><nSeqEvento>${seq}</nSeqEvento><dhRegEvento>${at}</dhRegEvento><nProt>8912600000${tpEvento}</nProt></infEvento></retEvento></procEventoNFe>`
}

export function resEvento(
  tpEvento: number,
  options: NoteOptions & { seq?: number; at?: string; description?: string } = {},
): string {
  const { seq = 1, at = '2026-11-11T10:00:00-03:00', description = 'Evento registrado' } = options
  return `<resEvento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.01"><cOrgao>91</cOrgao><CNPJ>${supplier}</CNPJ><chNFe>${chaveOf(options)}</chNFe><dhEvento>${at}</dhEvento><tpEvento>${tpEvento}</tpEvento><nSeqEvento>${seq}</nSeqEvento><xEvento>${description}</xEvento><dhRecbto>${at}</dhRecbto><nProt>891260000012345</nProt></resEvento>`
}

/** `xml` as it would arrive at position `nsu`. */
export function arrive(nsu: number, xml: string | Buffer, schema = 'qualquer_v1.00.xsd') {
  return readArrival(BigInt(nsu), schema, gzipSync(xml))
}

/** Bytes that are no gzip stream. */
export function corrupted(nsu: number) {
  return readArrival(BigInt(nsu), 'procNFe_v4.00.xsd', randomBytes(64))
}
