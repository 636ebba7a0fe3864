import { chaveParts, parseChave } from '@vigia/dfe/chave'
import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { parseReceived, parseXml, type ReceivedXml, XmlError } from '@vigia/xml/parse'
import { verifySignature } from '@vigia/xml/verify'

/**
 * What the verification of a complete document or an event found: `proved`, or the gravest thing that does not agree. `altered`: the digest,
 * `signature`: the value of the signature, `form`: not of the shape that the authority accepts, `unsigned`: no signature over the document,
 * `hidden`: a copy in which the authority hides what was signed, so nobody can tell.
 */
export type Proof = 'proved' | 'altered' | 'signature' | 'form' | 'unsigned' | 'protocol' | 'chave' | 'hidden'

/**
 * Verifies a complete NF-e or CT-e: its XML signature, the digest in its protocol, and its chave; or an event with its registration. Whose
 * certificate it is, and whether that was valid, is not judged: the authority did so before it authorised. Null for what is neither. Throws
 * `XmlError` when it cannot be read.
 */
export function proofOf(xml: Uint8Array): Proof | null {
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

  const chave = id!.replace(/^(NFe|CTe)/, '')
  const infProt = child(root, 'protNFe/infProt') ?? child(root, 'protCTe/infProt')
  if (infProt !== undefined && !isOwnProtocol(infProt, chave, digest!)) return 'protocol'
  return isOwnChave(chave, inf!) ? 'proved' : 'chave'
}

const groupsOf = (element: XmlElement) => element.children.filter(({ name }) => name === 'infNFe' || name === 'infCte')

function isOwnProtocol(infProt: XmlElement, chave: string, digest: string): boolean {
  const digVal = value(infProt, 'digVal')
  return (digVal === undefined || digVal === digest) && namedIn(infProt) === chave
}

const namedIn = (group: XmlElement) => value(group, 'chNFe') ?? value(group, 'chCTe')

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
  return agreementOf(id!, inf, infRet)
}

// What the event says against its Id, and against what was registered. A registration repeats what it was asked for, and may leave some out.
function agreementOf(id: string, event: XmlElement, registration: XmlElement | undefined): Proof {
  const chave = namedIn(event)
  const numberOf = (group: XmlElement, name: string) => Number(value(group, name))
  if (registration !== undefined) {
    const named = namedIn(registration)
    const agrees = (name: string) =>
      value(registration, name) === undefined || numberOf(registration, name) === numberOf(event, name)
    if ((named !== undefined && named !== chave) || !agrees('tpEvento') || !agrees('nSeqEvento')) return 'protocol'
  }
  const [, tpEvento, named, sequence] = /^ID(\d{6})([0-9A-Z]{44})(\d{2,3})$/.exec(id) ?? []
  const isOwn =
    named === chave &&
    tpEvento === value(event, 'tpEvento') &&
    Number(sequence) === numberOf(event, 'nSeqEvento') &&
    parseChave(chave ?? '') !== null
  return isOwn ? 'proved' : 'chave'
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
function isOwnChave(chave: string, inf: XmlElement): boolean {
  if (parseChave(chave) === null) return false
  const parts = chaveParts(chave)
  const isNfe = inf.name === 'infNFe'
  const field = (path: string) => value(inf, path)
  const issuedAt = field('ide/dhEmi') ?? field('ide/dEmi') ?? ''
  const issuer = field('emit/CNPJ') ?? field('emit/CPF')?.padStart(14, '0')
  // The chave of a nota avulsa (séries 890 to 919) has the CNPJ of the Fisco.
  const isAvulsa = isNfe && parts.serie >= 890 && parts.serie <= 919
  // Before layout 2.00 of the NF-e and 1.04 of the CT-e cNF had nine digits, and the chave no tpEmis.
  const isOld = Number(inf.attributes.versao) < (isNfe ? 2 : 1.04)
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
