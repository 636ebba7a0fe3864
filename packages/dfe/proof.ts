import { parseXml, type ReceivedXml, XmlError } from '@vigia/xml/parse'
import { verifySignature } from '@vigia/xml/verify'
import { child, children, value, type XmlElement } from './document.ts'
import type { SignedLayout } from './families/family.ts'
import { familyOfRoot, parseKey } from './families/lookup.ts'

/**
 * Verification result: `proved`, or the most serious mismatch. `altered`: digest; `signature`: its
 * value; `form`: shape that the authority rejects; `unsigned`: document without signature;
 * `hidden`: the authority masked signed data, so the copy cannot be verified.
 */
export type Proof = 'proved' | 'altered' | 'signature' | 'form' | 'unsigned' | 'protocol' | 'chave' | 'hidden'

/**
 * Verifies a complete document (signature, digest in the protocol, chave) or an event with its
 * registration; the authority already judged holder and validity of the certificate. Null for other
 * files and for families that are not verified.
 */
export function proofOf(received: ReceivedXml): Proof | null {
  const { root } = received
  const family = familyOfRoot(root)
  if (!family?.signed) return null
  // The root element decides, as in readReceived.
  const prove = family.roots[root.name] === 'event' ? proofOfEvent : proofOfDocument
  return prove(received, family.signed)
}

// An undeclared entity has no canonical form and cannot have been signed.
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

function proofOfDocument(received: ReceivedXml, layout: SignedLayout): Proof | null {
  const { root } = received
  const documents = [root, ...root.children].filter((one) => child(one, layout.group) !== undefined)
  const [document] = documents
  if (document === undefined) return null
  // Two groups are ambiguous: readers could differ in which one they read.
  const [inf, another] = children(document, layout.group)
  if (documents.length > 1 || another !== undefined) return 'form'
  if (!isSignable(received, inf!)) return 'altered'
  const { valid, reason, id, digest } = verifySignature(root, inf!.attributes.Id ?? '')
  if (reason === 'digest' && layout.mask !== null && holdsText(inf!, layout.mask)) return 'hidden'
  if (reason === 'digest') return 'altered'
  if (reason === 'no-signature') return child(document, 'Signature') === undefined ? 'unsigned' : 'form'
  if (!valid) return reason === 'signature' ? 'signature' : 'form'

  const chave = id!.startsWith(layout.prefix) ? id!.slice(layout.prefix.length) : id!
  const infProt = child(root, layout.protocol)
  if (infProt !== undefined) {
    const digVal = value(infProt, 'digVal')
    if ((digVal !== undefined && digVal !== digest) || value(infProt, layout.chave) !== chave) return 'protocol'
  }
  return layout.agrees(chave, inf!) ? 'proved' : 'chave'
}

function holdsText(element: XmlElement, text: string): boolean {
  return element.text === text || element.children.some((inner) => holdsText(inner, text))
}

// An event and its registration (MOC NF-e 7.0, leiaute do procEventoNFe; MOC CT-e 4.00, leiaute do procEventoCTe).
function proofOfEvent(received: ReceivedXml, layout: SignedLayout): Proof | null {
  const { root } = received
  const isAlone = root.name === layout.event
  const [event, another] = isAlone ? [root] : children(root, layout.event)
  const [inf, second] = children(event, 'infEvento')
  // A CT-e 2.00 authoriser put the registration beside the event, without a retEventoCTe.
  const [infRet, third] = isAlone
    ? []
    : [root, ...children(root, layout.response)].flatMap((one) => children(one, 'infEvento'))
  if (inf === undefined) return null
  // Two groups are ambiguous: readers could differ in which one they read.
  if (another !== undefined || second !== undefined || third !== undefined) return 'form'
  if (!isSignable(received, inf)) return 'altered'
  const { valid, reason, id } = verifySignature(root, inf.attributes.Id ?? '')
  if (reason === 'digest') return 'altered'
  if (reason === 'no-signature') return child(event, 'Signature') === undefined ? 'unsigned' : 'form'
  if (!valid) return reason === 'signature' ? 'signature' : 'form'
  return agreementOf(id!, inf, infRet, layout)
}

// Compares an event with its Id and its registration, which may omit fields of the event.
function agreementOf(id: string, event: XmlElement, registration: XmlElement | undefined, layout: SignedLayout): Proof {
  const chave = value(event, layout.chave)
  const numberOf = (group: XmlElement, name: string) => Number(value(group, name))
  if (registration !== undefined) {
    const named = value(registration, layout.chave)
    const agrees = (name: string) =>
      value(registration, name) === undefined || numberOf(registration, name) === numberOf(event, name)
    if ((named !== undefined && named !== chave) || !agrees('tpEvento') || !agrees('nSeqEvento')) return 'protocol'
  }
  const [, tpEvento, named, sequence] = /^ID(\d{6})([0-9A-Z]{44})(\d{2,3})$/.exec(id) ?? []
  const isOwn =
    named === chave &&
    tpEvento === value(event, 'tpEvento') &&
    Number(sequence) === numberOf(event, 'nSeqEvento') &&
    parseKey(chave ?? '')?.valid
  return isOwn ? 'proved' : 'chave'
}
