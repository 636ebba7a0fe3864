import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { chaveCheckDigit } from '@vigia/dfe/chave'
import type { Context, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import type { Service } from '../platform/service.ts'
import type { Arrival } from './arrival.ts'
import { readArrival } from './reading/read.ts'
import { receive } from './receive.ts'
import { writeDue } from './write-due.ts'

/** Small documents with just what the product reads, for tests of what happens to them afterwards. */
export interface NoteOptions {
  number?: number
  issuer?: string
  issuerName?: string
  recipient?: string
  carrier?: string
  /** Terceiros of autXML. */
  readers?: string[]
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

/** An NFC-e, and its chave. */
export function nfce(options: NoteOptions = {}): { xml: string; chave: string } {
  const body = chaveOf(options)
    .slice(0, 43)
    .replace(/^(.{20})55/, '$165')
  const chave = body + chaveCheckDigit(body)
  return { chave, xml: nfeProc(options).replaceAll(chaveOf(options), chave).replace('<mod>55</mod>', '<mod>65</mod>') }
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
  const readers = autXML(options.readers)
  return `<nfeProc xmlns="http://www.portalfiscal.inf.br/nfe" versao="4.00"><NFe><infNFe Id="NFe${chave}" versao="4.00"><ide><natOp>VENDA DE MERCADORIA</natOp><mod>55</mod><serie>1</serie><nNF>${number}</nNF><dhEmi>${issuedAt}</dhEmi><tpNF>1</tpNF><tpAmb>2</tpAmb></ide><emit><CNPJ>${issuer}</CNPJ><xNome>${issuerName}</xNome></emit><dest><CNPJ>${recipient}</CNPJ><xNome>EMPRESA</xNome></dest><total><ICMSTot><vNF>${amount}</vNF></ICMSTot></total><transp><modFrete>0</modFrete>${carrier}</transp>${readers}</infNFe></NFe><protNFe versao="4.00"><infProt><tpAmb>2</tpAmb><chNFe>${chave}</chNFe><dhRecbto>${issuedAt}</dhRecbto><nProt>135260001234567</nProt><cStat>${cStat}</cStat><xMotivo>x</xMotivo></infProt></protNFe></nfeProc>`
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

interface EventOptions {
  seq?: number
  at?: string
  description?: string
  cStat?: string
  xMotivo?: string
  /** Protocol of the registration; null leaves nProt and dhRegEvento out. */
  protocol?: string | null
  /** Besides descEvento; of a CT-e, inside its group. */
  detail?: string
}

export function evento(tpEvento: number, options: NoteOptions & EventOptions & { named?: string } = {}): string {
  const { seq = 1, at = '2026-11-11T10:00:00-03:00', description = 'Evento', detail = '' } = options
  const readers = autXML(options.named ? [options.named] : [])
  const chave = chaveOf(options)
  const answer = answerOf(tpEvento, 'chNFe', chave, options)
  return `<procEventoNFe xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><evento versao="1.00"><infEvento Id="ID${tpEvento}${chave}01"><cOrgao>91</cOrgao><tpAmb>2</tpAmb><CNPJ>${supplier}</CNPJ><chNFe>${chave}</chNFe><dhEvento>${at}</dhEvento><tpEvento>${tpEvento}</tpEvento><nSeqEvento>${seq}</nSeqEvento><verEvento>1.00</verEvento><detEvento versao="1.00"><descEvento>${description}</descEvento>${detail}${readers}</detEvento></infEvento></evento><retEvento versao="1.00">${answer}</retEvento></procEventoNFe>`
}

function answerOf(tpEvento: number, chaveElement: 'chNFe' | 'chCTe', chave: string, options: EventOptions): string {
  const { seq = 1, at = '2026-11-11T10:00:00-03:00', cStat = '135', xMotivo = 'x' } = options
  const { protocol = `8912600000${tpEvento}` } = options
  const registration = protocol === null ? '' : `<dhRegEvento>${at}</dhRegEvento><nProt>${protocol}</nProt>`
  return `<infEvento><tpAmb>2</tpAmb><cOrgao>91</cOrgao><cStat>${cStat}</cStat><xMotivo>${xMotivo}</xMotivo><${chaveElement}>${chave}</${chaveElement}><tpEvento>${tpEvento}</tpEvento><nSeqEvento>${seq}</nSeqEvento>${registration}</infEvento>`
}

function autXML(readers: string[] = []): string {
  return readers.map((reader) => `<autXML><CNPJ>${reader}</CNPJ></autXML>`).join('')
}

export function resEvento(
  tpEvento: number,
  options: NoteOptions & Pick<EventOptions, 'seq' | 'at' | 'description' | 'protocol'> = {},
): string {
  const { seq = 1, at = '2026-11-11T10:00:00-03:00', description = 'Evento registrado' } = options
  const { protocol = '891260000012345' } = options
  return `<resEvento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.01"><cOrgao>91</cOrgao><CNPJ>${supplier}</CNPJ><chNFe>${chaveOf(options)}</chNFe><dhEvento>${at}</dhEvento><tpEvento>${tpEvento}</tpEvento><nSeqEvento>${seq}</nSeqEvento><xEvento>${description}</xEvento><dhRecbto>${at}</dhRecbto><nProt>${protocol}</nProt></resEvento>`
}

export interface TransportOptions {
  number?: number
  issuer?: string
  sender?: string
  recipient?: string
  shipper?: string
  receiver?: string
  /** The code of toma3, or the CNPJ of toma4. */
  payer?: 0 | 1 | 2 | 3 | string
  readers?: string[]
  issuedAt?: string
  amount?: string
  cStat?: string
}

/** The chave of CT-e `number` of `issuer`. */
export function cteChaveOf({ number = 1, issuer = supplier }: TransportOptions = {}): string {
  const body = `352611${issuer}57001${String(number).padStart(9, '0')}1${String(number * 7).padStart(8, '0')}`
  return `${body}${chaveCheckDigit(body)}`
}

export function cteProc(options: TransportOptions = {}): string {
  const { number = 1, issuer = supplier, payer, amount = '321.00', cStat = '100' } = options
  const { issuedAt = '2026-11-10T09:15:00-03:00', sender, recipient, shipper, receiver } = options
  const chave = cteChaveOf(options)
  const party = (name: string, cnpj?: string) =>
    cnpj === undefined ? '' : `<${name}><CNPJ>${cnpj}</CNPJ><xNome>X</xNome></${name}>`
  const toma = typeof payer === 'string' ? `<toma4><toma>4</toma><CNPJ>${payer}</CNPJ></toma4>` : ''
  const toma3 = typeof payer === 'number' ? `<toma3><toma>${payer}</toma></toma3>` : ''
  return `<cteProc xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><CTe><infCte Id="CTe${chave}" versao="4.00"><ide><natOp>PRESTAÇÃO DE SERVIÇO</natOp><mod>57</mod><serie>1</serie><nCT>${number}</nCT><dhEmi>${issuedAt}</dhEmi><tpAmb>2</tpAmb>${toma3}${toma}</ide>${party('emit', issuer)}${party('rem', sender)}${party('exped', shipper)}${party('receb', receiver)}${party('dest', recipient)}<vPrest><vTPrest>${amount}</vTPrest></vPrest>${autXML(options.readers)}</infCte></CTe><protCTe versao="4.00"><infProt><chCTe>${chave}</chCTe><dhRecbto>${issuedAt}</dhRecbto><nProt>135260001234567</nProt><cStat>${cStat}</cStat></infProt></protCTe></cteProc>`
}

export function eventoCte(tpEvento: number, options: TransportOptions & EventOptions = {}): string {
  const { seq = 1, at = '2026-11-11T10:00:00-03:00', description = 'Evento', detail = '' } = options
  const chave = cteChaveOf(options)
  const answer = answerOf(tpEvento, 'chCTe', chave, options)
  return `<procEventoCTe xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><eventoCTe versao="4.00"><infEvento><cOrgao>35</cOrgao><tpAmb>2</tpAmb><CNPJ>${supplier}</CNPJ><chCTe>${chave}</chCTe><dhEvento>${at}</dhEvento><tpEvento>${tpEvento}</tpEvento><nSeqEvento>${seq}</nSeqEvento><detEvento versaoEvento="4.00"><evento><descEvento>${description}</descEvento>${detail}</evento></detEvento></infEvento></eventoCTe><retEventoCTe versao="4.00">${answer}</retEventoCTe></procEventoCTe>`
}

/** `xml` as it would arrive at position `nsu`, not verified: test documents are not signed. */
export function arrive(nsu: number, xml: string | Buffer, schema = 'qualquer_v1.00.xsd') {
  return { ...readArrival({ nsu: BigInt(nsu), schema, content: gzipSync(xml) }), proof: null }
}

let lastNsu = 1_000

/** Lets documents arrive at a company in a transaction of their own; files come at the next positions. */
export async function deliverTo(
  ctx: Pick<Context, 'db' | 'log'>,
  { workspaceId, companyId, cnpj = company }: { workspaceId: number; companyId: number; cnpj?: string },
  service: Service,
  files: readonly (string | Arrival)[],
): Promise<void> {
  const arrivals = files.map((file) => (typeof file === 'string' ? arrive(++lastNsu, file) : file))
  await inWorkspace(ctx, workspaceId, (ctx) => receive(ctx, { workspaceId, companyId, cnpj }, service, arrivals))
}

/** Decides what is due to all documents of a workspace after a test wrote them by itself; `ctx.db` is inside it. */
export async function decideAll({ db }: WithDatabase, workspaceId: number): Promise<void> {
  const rows = await db.selectFrom('document').select('id').where('workspace_id', '=', workspaceId).execute()
  await writeDue({ db }, workspaceId, new Date(), new Map(rows.map(({ id }) => [id, null])))
}

/** Bytes that are no gzip stream. */
export function corrupted(nsu: number) {
  return readArrival({ nsu: BigInt(nsu), schema: 'procNFe_v4.00.xsd', content: randomBytes(64) })
}
