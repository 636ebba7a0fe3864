import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { parseChave } from '@vigia/dfe/chave'
import { parseCnpj } from '@vigia/dfe/cnpj'
import { registeredStatuses } from '@vigia/dfe/families/events'
import type { XmlElement } from '@vigia/xml/parse'
import { signEnveloped } from '@vigia/xml/sign'
import { escapeText, tag } from '@vigia/xml/write'
import type { Connection } from './connection.ts'
import { SefazError } from './error.ts'
import { callSoap, childOf, readOutcome, type SoapResponse, sourceOf, textOf } from './soap.ts'

/**
 * Fields that every event has, whatever its kind (NT 2020.001 and MOC CT-e 4.00, leiaute geral dos
 * eventos).
 */
interface EventHead {
  tpAmb: 1 | 2
  /** The author, all fourteen positions. */
  cnpj: string
  chave: string
  nSeqEvento: number
  at: Date
}

/** A manifestação do destinatário; `xJust` is demanded by 210240, possible in 210220 and unknown to the others (NT 2020.001). */
export interface Manifestation extends EventHead {
  tpEvento: 210200 | 210210 | 210220 | 210240
  xJust?: string
}

/** One field of a Carta de Correção (MOC CT-e 4.00, evento 110110). */
export interface Correction {
  grupoAlterado: string
  campoAlterado: string
  valorAlterado: string
  /** From 1, when the field is in a list. */
  nroItemAlterado?: number
}

/** An event of a CT-e: Cancelamento and Carta de Correção by its emitente, Prestação em Desacordo and its cancellation by its tomador (MOC CT-e 4.00). */
export type CteEvent = EventHead &
  (
    | { tpEvento: 110111; nProt: string; xJust: string }
    | { tpEvento: 110110; corrections: readonly Correction[] }
    | { tpEvento: 610110; xObs: string }
    | { tpEvento: 610111; nProtEvPrestDes: string }
  )

/** An event as it leaves and as it is kept; sent again, it is these same bytes (NT 2020.001 and MOC CT-e 4.00). */
export interface SignedEvent {
  id: string
  xml: string
  tpEvento: number
  chave: string
  nSeqEvento: number
}

/** PEM, as returned by `readCertificate` (MOC CT-e 4.00 §3.2.4). */
export interface SigningCertificate {
  key: string
  certificate: string
}

/** An event that cannot be made as the person asked; `message` is a Portuguese sentence for the person (NT 2020.001 and MOC CT-e 4.00). */
export class EventError extends Error {
  override name = 'EventError'
}

const layouts = {
  nfe: { xmlns: 'http://www.portalfiscal.inf.br/nfe', versao: '1.00', sequenceDigits: 2 },
  cte: { xmlns: 'http://www.portalfiscal.inf.br/cte', versao: '4.00', sequenceDigits: 3 },
}

// The schemas take these spellings only; another one is rejection 493.
const manifestations = {
  210200: 'Confirmacao da Operacao',
  210210: 'Ciencia da Operacao',
  210220: 'Desconhecimento da Operacao',
  210240: 'Operacao nao Realizada',
}

/** Signs the `evento` of a manifestação; equal input gives equal bytes (NT 2020.001). */
export function signManifestation(event: Manifestation, certificate: SigningCertificate): SignedEvent {
  const descEvento = manifestations[event.tpEvento]
  const xJust = justification(event)
  return sign('nfe', event, certificate, [
    leaf('cOrgao', '91'),
    ...head('chNFe', event),
    leaf('verEvento', '1.00'),
    tag('detEvento', { versao: '1.00' }, leaf('descEvento', descEvento), xJust && leaf('xJust', xJust)),
  ])
}

function justification({ tpEvento, xJust = '' }: Manifestation): string | undefined {
  if (tpEvento === 210240) return textOfField('xJust', xJust)
  if (cleanEventText(xJust) === '') return undefined
  if (tpEvento !== 210220) throw new EventError('Esta manifestação não leva justificativa.')
  return textOfField('xJust', xJust)
}

/**
 * Signs the `eventoCTe` of a CT-e; equal input gives equal bytes (MOC CT-e 4.00, leiaute geral dos
 * eventos).
 */
export function signCteEvent(event: CteEvent, certificate: SigningCertificate): SignedEvent {
  return sign('cte', event, certificate, [
    leaf('cOrgao', event.chave.slice(0, 2)),
    ...head('chCTe', event),
    tag('detEvento', { versaoEvento: '4.00' }, specificGroup(event)),
  ])
}

function specificGroup(event: CteEvent): string {
  switch (event.tpEvento) {
    case 110111:
      return tag(
        'evCancCTe',
        null,
        leaf('descEvento', 'Cancelamento'),
        leaf('nProt', protocolText(event.nProt)),
        leaf('xJust', textOfField('xJust', event.xJust)),
      )
    case 110110:
      if (event.corrections.length === 0)
        throw new EventError('A carta de correção precisa de pelo menos uma correção.')
      return tag(
        'evCCeCTe',
        null,
        leaf('descEvento', 'Carta de Correcao'),
        ...event.corrections.map(infCorrecao),
        leaf('xCondUso', xCondUso),
      )
    case 610110:
      return tag(
        'evPrestDesacordo',
        null,
        leaf('descEvento', 'Prestacao do Servico em Desacordo'),
        leaf('indDesacordoOper', '1'),
        leaf('xObs', textOfField('xObs', event.xObs)),
      )
    case 610111:
      return tag(
        'evCancPrestDesacordo',
        null,
        leaf('descEvento', 'Cancelamento Prestacao do Servico em Desacordo'),
        leaf('nProtEvPrestDes', protocolText(event.nProtEvPrestDes)),
      )
  }
}

// Byte by byte one of the two literals of evCCeCTe_v4.00.xsd: no space after the semicolons.
const xCondUso =
  'A Carta de Correcao e disciplinada pelo Art. 58-B do CONVENIO/SINIEF 06/89: Fica permitida a utilizacao de carta de correcao, para regularizacao de erro ocorrido na emissao de documentos fiscais relativos a prestacao de servico de transporte, desde que o erro nao esteja relacionado com: I - as variaveis que determinam o valor do imposto tais como: base de calculo, aliquota, diferenca de preco, quantidade, valor da prestacao;II - a correcao de dados cadastrais que implique mudanca do emitente, tomador, remetente ou do destinatario;III - a data de emissao ou de saida.'

function infCorrecao({ grupoAlterado, campoAlterado, valorAlterado, nroItemAlterado }: Correction): string {
  if (nroItemAlterado !== undefined && !isWithin(nroItemAlterado, 99))
    throw new EventError('O número do item corrigido vai de 1 a 99.')
  return tag(
    'infCorrecao',
    null,
    leaf('grupoAlterado', textOfField('grupoAlterado', grupoAlterado)),
    leaf('campoAlterado', textOfField('campoAlterado', campoAlterado)),
    leaf('valorAlterado', textOfField('valorAlterado', valorAlterado)),
    nroItemAlterado !== undefined && leaf('nroItemAlterado', String(nroItemAlterado)),
  )
}

function head(
  chaveElement: 'chNFe' | 'chCTe',
  { tpAmb, cnpj, chave, at, nSeqEvento, tpEvento }: Manifestation | CteEvent,
) {
  return [
    leaf('tpAmb', String(tpAmb)),
    leaf('CNPJ', cnpj),
    leaf(chaveElement, chave),
    leaf('dhEvento', brasiliaTime(at)),
    leaf('tpEvento', String(tpEvento)),
    leaf('nSeqEvento', String(nSeqEvento)),
  ]
}

function sign(
  type: 'nfe' | 'cte',
  { chave, cnpj, tpEvento, nSeqEvento }: Manifestation | CteEvent,
  certificate: SigningCertificate,
  content: string[],
): SignedEvent {
  const { xmlns, versao, sequenceDigits } = layouts[type]
  if (parseChave(chave) === null) throw new TypeError(`not a chave: ${chave}`)
  if (parseCnpj(cnpj) !== cnpj) throw new TypeError(`not a CNPJ: ${cnpj}`)
  if (!isWithin(nSeqEvento, 10 ** sequenceDigits - 1)) throw new TypeError(`not an nSeqEvento: ${nSeqEvento}`)
  const { key, x509 } = signerOf(certificate)
  const id = `ID${tpEvento}${chave}${String(nSeqEvento).padStart(sequenceDigits, '0')}`
  const root = type === 'nfe' ? 'evento' : 'eventoCTe'
  const xml = tag(root, { xmlns, versao }, tag('infEvento', { Id: id }, ...content))
  const signed = signEnveloped(xml, id, key, x509)
  return { id, xml: signed, tpEvento, chave, nSeqEvento }
}

// A fresh key object costs more than the signature; it lives as long as the certificate it was made from.
const signers = new WeakMap<SigningCertificate, { key: KeyObject; x509: X509Certificate }>()

function signerOf(certificate: SigningCertificate): { key: KeyObject; x509: X509Certificate } {
  let signer = signers.get(certificate)
  if (signer === undefined) {
    const key = createPrivateKey(certificate.key)
    // RSA-SHA1 is the only signature the authority takes; another key would sign without complaint, and be rejected.
    if (key.asymmetricKeyType !== 'rsa')
      throw new EventError('Este certificado não serve para assinar eventos: a chave dele não é RSA.')
    signer = { key, x509: new X509Certificate(certificate.certificate) }
    signers.set(certificate, signer)
  }
  return signer
}

function leaf(name: string, text: string): string {
  return tag(name, null, escapeText(text))
}

// The instant decides, not the offset, so the one of Brasília holds for every company of the country (NT 2020.001).
function brasiliaTime(at: Date): string {
  return `${new Date(at.getTime() - 3 * 3_600_000).toISOString().slice(0, 19)}-03:00`
}

function isWithin(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= max
}

function protocolText(nProt: string): string {
  if (!/^[0-9]{15}$/.test(nProt)) throw new TypeError(`not a protocol: ${nProt}`)
  return nProt
}

// Lengths of leiauteConfRecebto_v1.00.xsd, evCancCTe, evCCeCTe and evPrestDesacordo_v4.00.xsd.
const fields = {
  xJust: { name: 'A justificativa', min: 15, max: 255 },
  xObs: { name: 'A observação', min: 15, max: 255 },
  grupoAlterado: { name: 'O grupo corrigido', min: 1, max: 20 },
  campoAlterado: { name: 'O campo corrigido', min: 1, max: 20 },
  valorAlterado: { name: 'O novo valor', min: 1, max: 500 },
}

function textOfField(field: keyof typeof fields, text: string): string {
  const { name, min, max } = fields[field]
  const clean = cleanEventText(text)
  if (clean.length < min || clean.length > max)
    throw new EventError(`${name} precisa ter de ${min} a ${max} caracteres, e tem ${clean.length}.`)
  return clean
}

const asciiForms: [typographic: RegExp, ascii: string][] = [
  [/[\u2018\u2019\u201a\u201b\u2032]/g, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/\u2026/g, '...'],
]

/**
 * Cleans a person's text for the schemas: one line, trimmed, typographic quotes and dashes as
 * ASCII. Throws an EventError that names a control character or one above U+00FF (TString,
 * tiposGeralCTe_v4.00.xsd).
 */
export function cleanEventText(text: string): string {
  let clean = text
    // Invisible characters, often pasted unnoticed.
    .replace(/[\u200b-\u200d\u2060\ufeff]/g, '')
    .normalize('NFC')
    .replace(/[\s\u0085]+/g, (run) => (/[\n\v\f\r\u0085\u2028\u2029]/.test(run) ? ' ' : ' '.repeat(run.length)))
  for (const [typographic, ascii] of asciiForms) clean = clean.replace(typographic, ascii)
  const refused = new Set(clean.match(/[^ -~\u00a0-\u00ff]/gu))
  if (refused.size > 0) {
    const names = [...refused].slice(0, 5).map(nameOf).join(', ')
    throw new EventError(`A SEFAZ não aceita estes caracteres: ${names}${refused.size > 5 ? ' e outros' : ''}.`)
  }
  return clean.trim()
}

function nameOf(character: string): string {
  if (/[\p{L}\p{N}\p{P}\p{S}]/u.test(character)) return character
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The authority's response to one event (NT 2020.001, retEvento; MOC CT-e 4.00, retEventoCTe). */
export interface EventResult {
  chave: string
  tpEvento: number
  nSeqEvento: number
  cStat: number
  xMotivo: string
  /** Protocol of the registered event; for a duplicate only when the authority names it. */
  protocol?: string
  /** `dhRegEvento` as written, when there was a registration. */
  registeredAt?: string
  /** `retEvento` or `retEventoCTe` as received, cut from the response. */
  xml: string
}

/** Up to twenty events of one author; the number of the lote is ours (NT 2020.001). */
export interface ManifestationLote {
  url: string
  idLote: string
  events: readonly SignedEvent[]
}

/** The result of a lote: with 128 the lote was processed, and an event without a result has an unknown outcome; any other cStat applies to all its events (NT 2020.001, retEnvEvento). */
export interface LoteResponse {
  cStat: number
  xMotivo: string
  /** In the order in which the events were sent. */
  results: EventResult[]
}

// NT 2020.001: envEvento holds 1 to 20 events.
const eventsMax = 20
const nfeWsdl = 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4'
const cteWsdl = 'http://www.portalfiscal.inf.br/cte/wsdl/CTeRecepcaoEventoV4'

/** Sends one lote to NFeRecepcaoEvento4 of the Ambiente Nacional and returns the response, whatever its cStat; without a response throws SefazError (NT 2020.001). */
export async function sendManifestations(
  connection: Connection,
  { url, idLote, events }: ManifestationLote,
): Promise<LoteResponse> {
  if (!/^[0-9]{1,15}$/.test(idLote)) throw new TypeError(`not an idLote: ${idLote}`)
  if (!isWithin(events.length, eventsMax)) throw new TypeError(`a lote of ${events.length} events`)
  if (new Set(events.map(({ id }) => id)).size < events.length) throw new TypeError('the same event twice in a lote')
  if (new Set(events.map(authorOf)).size > 1) throw new TypeError('more than one author in a lote')
  const { xmlns, versao } = layouts.nfe
  const lote = tag('envEvento', { xmlns, versao }, leaf('idLote', idLote), ...events.map(({ xml }) => xml))
  const response = await callSoap(connection, {
    url,
    // The Ambiente Nacional ends its operation in NF; the authorisers of the UFs do not.
    action: `${nfeWsdl}/nfeRecepcaoEventoNF`,
    message: tag('nfeDadosMsg', { xmlns: nfeWsdl }, lote),
    responseElement: 'retEnvEvento',
  })
  const received = response.element.children.filter(({ name }) => name === 'retEvento')
  return { cStat: response.cStat, xMotivo: response.xMotivo, results: match(events, received, response) }
}

/** Sends one event to CTeRecepcaoEventoV4 of an authoriser and returns the response, whatever its cStat; without a response about this event throws SefazError (MOC CT-e 4.00). */
export async function sendCteEvent(
  connection: Connection,
  { url, event }: { url: string; event: SignedEvent },
): Promise<EventResult> {
  const response = await callSoap(connection, {
    url,
    action: `${cteWsdl}/cteRecepcaoEvento`,
    message: tag('cteDadosMsg', { xmlns: cteWsdl }, event.xml),
    responseElement: 'retEventoCTe',
  })
  const [result] = match([event], [response.element], response)
  if (result) return result
  throw new SefazError('not-xml', { detail: 'an answer about another event', body: Buffer.from(response.source) })
}

// Our own text: the author is the first CNPJ of infEvento.
function authorOf({ xml }: SignedEvent): string | undefined {
  return /<CNPJ>([0-9A-Z]{14})<\/CNPJ>/.exec(xml)?.[1]
}

// The order of the responses means nothing (NT 2020.001), and a rejected event may come back without its chave: then only the
// one event that nothing contradicts can be meant.
function match(events: readonly SignedEvent[], received: readonly XmlElement[], response: SoapResponse): EventResult[] {
  const results = new Map<SignedEvent, EventResult>()
  for (const wanted of [3, 2, 1, 0]) {
    for (const element of received) {
      const said = identityOf(element)
      if (said.length !== wanted) continue
      const meant = events.filter(
        (event) => !results.has(event) && said.every(([name, text]) => agrees(event, name, text)),
      )
      const result = meant.length === 1 && readResult(meant[0]!, element, response)
      if (result) results.set(meant[0]!, result)
    }
  }
  return events.flatMap((event) => results.get(event) ?? [])
}

const identity = ['chNFe', 'chCTe', 'tpEvento', 'nSeqEvento']

function identityOf(retEvento: XmlElement): [name: string, text: string][] {
  const infEvento = childOf(retEvento, 'infEvento')
  return identity.flatMap((name) => {
    const text = infEvento && textOf(infEvento, name)
    return text === undefined ? [] : [[name, text]]
  })
}

function agrees({ chave, tpEvento, nSeqEvento }: SignedEvent, name: string, text: string): boolean {
  if (name === 'tpEvento') return Number(text) === tpEvento
  return name === 'nSeqEvento' ? Number(text) === nSeqEvento : text === chave
}

function readResult(event: SignedEvent, element: XmlElement, response: SoapResponse): EventResult | undefined {
  const outcome = readOutcome(element)
  const infEvento = childOf(element, 'infEvento')
  if (!outcome || !infEvento) return undefined
  const { cStat, xMotivo } = outcome
  const { chave, tpEvento, nSeqEvento } = event
  const result: EventResult = { chave, tpEvento, nSeqEvento, cStat, xMotivo, xml: sourceOf(response, element) }
  const registered = registeredStatuses.has(String(cStat))
  // The layout demands dhRegEvento of every retEvento: in a rejection it is the moment of the rejection.
  const registeredAt = registered ? textOf(infEvento, 'dhRegEvento') : bracket(result, 'dhRegEvento')
  const protocol = textOf(infEvento, 'nProt') ?? bracket(result, 'nProt')
  if (registeredAt !== undefined) result.registeredAt = registeredAt
  if (protocol !== undefined) result.protocol = protocol
  return result
}

// A duplicate names the registered event in brackets; other rejections name other events there (218: the cancelamento).
function bracket({ cStat, xMotivo }: EventResult, name: 'nProt' | 'dhRegEvento'): string | undefined {
  if (!duplicates.has(cStat)) return undefined
  return new RegExp(`\\[${name}:\\s*([0-9T:+-]+)\\s*\\]`).exec(xMotivo)?.[1]
}

/** The processed event as documents are kept: the event as sent and its result as received (NT 2020.001, procEventoNFe; MOC CT-e 4.00, procEventoCTe). */
export function processedEvent(event: Pick<SignedEvent, 'xml'>, result: Pick<EventResult, 'xml'>): string {
  const [type, root] = event.xml.startsWith('<eventoCTe')
    ? (['cte', 'procEventoCTe'] as const)
    : (['nfe', 'procEventoNFe'] as const)
  const { xmlns, versao } = layouts[type]
  return tag(root, { xmlns, versao }, event.xml, result.xml)
}

/** Next step after the response to an event (NT 2020.001; MOC CT-e 4.00, validação dos eventos). */
export type ResponseVerdict = 'registered' | 'already-registered' | 'rejected' | 'retry'

// The same number may mean something else in the other document: 573 and 631 are the duplicates of one each.
const duplicates: ReadonlySet<number> = new Set([573, 631])
const already = {
  // 655: a ciência after a conclusive manifestação, which says more than the ciência would.
  nfe: new Set([573, 655]),
  cte: new Set([631]),
}
// 108 and 109: out of service; 656 and 678: consumo indevido, an hour of rest; 999: an error of the authority.
const passing: ReadonlySet<number> = new Set([108, 109, 656, 678, 999])

/**
 * Maps the cStat of an event, or of a rejected lote, to the next step (NT 2020.001; MOC CT-e 4.00,
 * validação dos eventos).
 */
export function eventOutcome(type: 'nfe' | 'cte', cStat: number): ResponseVerdict {
  if (registeredStatuses.has(String(cStat))) return 'registered'
  if (already[type].has(cStat)) return 'already-registered'
  return passing.has(cStat) ? 'retry' : 'rejected'
}
