import { chaveParts, parseChave } from '@vigia/dfe/chave'
import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { parseReceived, parseXml, type ReceivedXml, XmlError } from '@vigia/xml/parse'
import { verifySignature } from '@vigia/xml/verify'
import { verifyWritten, type WrittenSignature } from '@vigia/xml/written'

/**
 * What the verification of a complete document or an event found: `proved`, or the gravest thing that does not agree. `altered`: the digest,
 * `signature`: the value of the signature, `form`: not of the shape that the authority accepts, `unsigned`: no signature over the document,
 * `hidden`: a copy in which the authority hides what was signed, so nobody can tell.
 */
export type Proof = 'proved' | 'altered' | 'signature' | 'form' | 'unsigned' | 'protocol' | 'chave' | 'hidden'

/**
 * Verifies a complete NF-e or CT-e: its XML signature, the digest in its protocol, and its chave; or an event with its registration. Whose
 * certificate it is, and whether that was valid, is not judged: the authority did so before it authorised. Null for what is neither. Throws
 * `XmlError` when it cannot be read, unless it was proved without being parsed.
 */
export function proofOf(xml: Uint8Array): Proof | null {
  const written = verifyWritten(xml)
  if (written !== null && (isDocumentAsWritten(written) || isEventAsWritten(written))) return 'proved'
  const received = parseReceived(xml)
  const { root } = received
  // As for a reader the root decides which of the two it is.
  return Object.hasOwn(procs, root.name) ? proofOfEvent(received, procs[root.name]!) : proofOfDocument(received)
}

// An entity that nobody declared has no canonical form, so nobody signed it.
function isSignable({ source, faults }: ReceivedXml, signed: XmlElement): boolean {
  if (!faults.has('entity')) return true
  try {
    parseXml(source.slice(signed.start, signed.end))
    return true
  } catch (error) {
    if (error instanceof XmlError) return false
    throw error
  }
}

function proofOfDocument(received: ReceivedXml): Proof | null {
  const { root } = received
  const documents = [root, ...root.children].filter((one) => groupsOf(one).length > 0)
  const [document] = documents
  if (document === undefined) return null
  // Of two nobody knows which one is read.
  const [inf, another] = groupsOf(document)
  if (documents.length > 1 || another !== undefined) return 'form'
  if (!isSignable(received, inf!)) return 'altered'
  const { valid, reason, id, digest } = verifySignature(root, inf!.attributes.Id ?? '')
  if (reason === 'digest' && isMasked(inf!)) return 'hidden'
  if (reason === 'digest') return 'altered'
  if (reason === 'no-signature') return child(document, 'Signature') === undefined ? 'unsigned' : 'form'
  if (!valid) return reason === 'signature' ? 'signature' : 'form'

  const chave = chaveIn(id!)
  const infProt = child(root, 'protNFe/infProt') ?? child(root, 'protCTe/infProt')
  if (infProt !== undefined && !isOwnProtocol((name) => value(infProt, name), chave, digest!)) return 'protocol'
  const version = inf!.attributes.versao
  return isOwnChave(chave, inf!.name, version, (path) => value(inf, path)) ? 'proved' : 'chave'
}

const groupsOf = (element: XmlElement) => element.children.filter(({ name }) => name === 'infNFe' || name === 'infCte')

const chaveIn = (id: string) => id.replace(/^(NFe|CTe)/, '')

/** The text at a path of the signed group, or of the protocol. */
type FieldReader = (path: string) => string | undefined

function isOwnProtocol(field: FieldReader, chave: string, digest: string): boolean {
  const digVal = field('digVal')
  return (digVal === undefined || digVal === digest) && (field('chNFe') ?? field('chCTe')) === chave
}

// The way of nearly all documents, at a third of the cost: nothing but what is expected may stand around the signed group. Whatever is not found
// here is parsed.
function isDocumentAsWritten(written: WrittenSignature): boolean {
  const { text, around, name, attributes, id, digest, end, inside, signature } = written
  const [root, document] = around
  if ((name !== 'infNFe' && name !== 'infCte') || around.length !== 2 || inner[root!] !== document) return false
  if (end !== signature.start && !supplements.includes(text.slice(end + 1, text.indexOf('>', end)))) return false
  after.lastIndex = signature.end
  const protocol = after.exec(text)?.[1]
  const emit = emitIn(text, inside)
  if (protocol === undefined || emit === null) return false

  const chave = chaveIn(id)
  const groups: Record<string, string> = {
    ide: flatAt(text, inside.start + '<ide>'.length),
    emit: flatAt(text, emit + '<emit>'.length),
  }
  return (
    isOwnProtocol((field) => textIn(protocol, field), chave, digest) &&
    isOwnChave(chave, name, attributes.get('versao'), (path) => {
      const [group = '', field = ''] = path.split('/')
      return textIn(groups[group]!, field)
    })
  )
}

// Where the emit begins that follows the ide at the beginning of the signed group, perhaps after another group. Each of them is there once, so
// none can be inside another and be read in its place.
function emitIn(text: string, { start }: WrittenSignature['inside']): number | null {
  const endOf = (name: string, from: number) => text.indexOf(`</${name}>`, from) + `</${name}>`.length
  const ideEnd = endOf('ide', start)
  const between = ['avulsa', 'compl'].filter((name) => text.startsWith(`<${name}>`, ideEnd))
  const emit = between.reduce((_, name) => endOf(name, ideEnd), ideEnd)
  if (!text.startsWith('<ide>', start) || !text.startsWith('<emit>', emit)) return null
  return ['ide', 'emit', ...between].every((name) => isOnce(text, name)) ? emit : null
}

// Also counts those with attributes, and empty ones.
function isOnce(text: string, name: string): boolean {
  let times = 0
  for (let at = text.indexOf(`<${name}`); at >= 0; at = text.indexOf(`<${name}`, at + 1))
    if (!/\w/.test(text[at + name.length + 1] ?? '')) times++
  return times === 1
}

const flat = /(?:<(\w+)>[^<>]*<\/\1>)*/y

// The elements from there on up to the first that has children, so that none of these is taken for one of them.
function flatAt(text: string, start: number): string {
  flat.lastIndex = start
  return flat.exec(text)![0]
}

const inner: Record<string, string> = {
  nfeProc: 'NFe',
  cteProc: 'CTe',
  cteOSProc: 'CTeOS',
  cteSimpProc: 'CTeSimp',
  cteProcSimp: 'CTeSimp',
  GTVeProc: 'GTVe',
}
const supplements = ['infNFeSupl', 'infCTeSupl']
const after =
  /<\/\w+><prot(?:NFe|CTe)(?: [^<>]*)?><infProt(?: [^<>]*)?>((?:<\w+>[^<>]*<\/\w+>)+)<\/infProt><\/prot(?:NFe|CTe)><\/\w+>\s*$/y

// An event and its registration (MOC NF-e 7.0, leiaute do procEventoNFe; MOC CT-e 4.00, leiaute do procEventoCTe).
const procs: Record<string, string> = {
  procEventoNFe: 'evento',
  procEventoCTe: 'eventoCTe',
  // Without a registration.
  evento: 'evento',
  eventoCTe: 'eventoCTe',
}

function proofOfEvent(received: ReceivedXml, name: string): Proof | null {
  const { root } = received
  const [event, another] = root.name === name ? [root] : children(root, name)
  const [inf, second] = children(event, 'infEvento')
  // A CT-e 2.00 authoriser put the registration beside the event without a retEventoCTe around it.
  const [infRet, third] =
    root.name === name
      ? []
      : [root, ...children(root, `ret${name[0]!.toUpperCase()}${name.slice(1)}`)].flatMap((one) =>
          children(one, 'infEvento'),
        )
  if (inf === undefined) return null
  // Of two nobody knows which one is read.
  if (another !== undefined || second !== undefined || third !== undefined) return 'form'
  if (!isSignable(received, inf)) return 'altered'
  const { valid, reason, id } = verifySignature(root, inf.attributes.Id ?? '')
  if (reason === 'digest') return 'altered'
  if (reason === 'no-signature') return child(event, 'Signature') === undefined ? 'unsigned' : 'form'
  if (!valid) return reason === 'signature' ? 'signature' : 'form'
  return agreementOf(id!, (name) => value(inf, name), infRet && ((name) => value(infRet, name)))
}

function isEventAsWritten({ text, around, name, id, end, inside, signature }: WrittenSignature): boolean {
  const [root, event] = around
  if (name !== 'infEvento' || around.length !== 2 || procs[root!] !== event || end !== signature.start) return false
  afterEvent.lastIndex = signature.end
  const registration = afterEvent.exec(text)?.[1]
  const head = flatAt(text, inside.start)
  if (registration === undefined || !text.startsWith('<detEvento', inside.start + head.length)) return false
  return (
    agreementOf(
      id,
      (field) => textIn(head, field),
      (field) => textIn(registration, field),
    ) === 'proved'
  )
}

const afterEvent =
  /<\/\w+><retEvento(?:CTe)?(?: [^<>]*)?><infEvento(?: [^<>]*)?>((?:<\w+>[^<>]*<\/\w+>)+)<\/infEvento><\/retEvento(?:CTe)?><\/\w+>\s*$/y

// What the event says against its Id, and against what was registered. A registration repeats what it was asked for, and may leave some out.
function agreementOf(id: string, event: FieldReader, registration: FieldReader | undefined): Proof {
  const chaveOf = (field: FieldReader) => field('chNFe') ?? field('chCTe')
  const chave = chaveOf(event)
  const numberOf = (field: FieldReader, name: string) => Number(field(name))
  if (registration !== undefined) {
    const named = chaveOf(registration)
    const agrees = (name: string) =>
      registration(name) === undefined || numberOf(registration, name) === numberOf(event, name)
    if ((named !== undefined && named !== chave) || !agrees('tpEvento') || !agrees('nSeqEvento')) return 'protocol'
  }
  const [, tpEvento, named, sequence] = /^ID(\d{6})([0-9A-Z]{44})(\d{2,3})$/.exec(id) ?? []
  const isOwn =
    named === chave &&
    tpEvento === event('tpEvento') &&
    Number(sequence) === numberOf(event, 'nSeqEvento') &&
    parseChave(chave ?? '') !== null
  return isOwn ? 'proved' : 'chave'
}

function textIn(xml: string, name: string): string | undefined {
  const tag = `<${name}>`
  const start = xml.indexOf(tag) + tag.length
  return start < tag.length ? undefined : xml.slice(start, xml.indexOf('<', start)).trim() || undefined
}

// In the copy of a CT-e for the readers in autXML the authority replaces the chaves of other documents by nines after the signature
// (MOC CT-e 4.00).
function isMasked(inf: XmlElement): boolean {
  return inf.name === 'infCte' && holdsText(inf, '9'.repeat(44))
}

function holdsText(element: XmlElement, text: string): boolean {
  return element.text === text || element.children.some((inner) => holdsText(inner, text))
}

// The chave against the fields that it repeats (MOC NF-e 7.0 and MOC CT-e 4.00: chave de acesso).
function isOwnChave(chave: string, group: string, version: string | undefined, field: FieldReader): boolean {
  if (parseChave(chave) === null) return false
  const parts = chaveParts(chave)
  const isNfe = group === 'infNFe'
  const issuedAt = field('ide/dhEmi') ?? field('ide/dEmi') ?? ''
  const issuer = field('emit/CNPJ') ?? field('emit/CPF')?.padStart(14, '0')
  // The chave of a nota avulsa (séries 890 to 919) has the CNPJ of the Fisco.
  const isAvulsa = isNfe && parts.serie >= 890 && parts.serie <= 919
  // Before layout 2.00 of the NF-e and 1.04 of the CT-e cNF had nine digits, and the chave no tpEmis.
  const isOld = Number(version) < (isNfe ? 2 : 1.04)
  return (
    field('ide/cUF') === parts.cUF &&
    issuedAt.slice(2, 4) + issuedAt.slice(5, 7) === parts.aamm &&
    (isAvulsa || issuer === parts.cnpj) &&
    field('ide/mod') === parts.mod &&
    Number(field('ide/serie')) === parts.serie &&
    Number(field(isNfe ? 'ide/nNF' : 'ide/nCT')) === parts.numero &&
    (isOld || (field('ide/tpEmis') === parts.tpEmis && field(isNfe ? 'ide/cNF' : 'ide/cCT') === parts.cNF))
  )
}
