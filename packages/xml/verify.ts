import { createHash, hash, type KeyObject, verify, X509Certificate } from 'node:crypto'
import { canonicalize, dsigNamespace } from './canonicalize.ts'
import { parseXml, type XmlElement, XmlError } from './parse.ts'
import { c14n, enveloped, pathsTo, rsaSha1, scopeAlone, scopeInPlace, sha1 } from './signature.ts'

/** Outcome of a verification; `id` is the signed `Id`, to be compared with the chave or the event it should cover. */
export interface Verification {
  valid: boolean
  reason?: 'no-signature' | 'digest' | 'signature' | 'form'
  certificate?: X509Certificate
  id?: string
  /** The `DigestValue` that the signature covers. */
  digest?: string
}

/**
 * Whether the first signature of the document, or of its root element, holds, with the algorithms and the shape of the tax authority and no others
 * (MOC CT-e 4.00 §3.2.4, MOC NF-e 7.0). It says nothing about who issued the certificate.
 */
export function verifySignature(xml: string | XmlElement): Verification {
  let root: XmlElement
  try {
    root = typeof xml === 'string' ? parseXml(xml) : xml
  } catch (error) {
    if (error instanceof XmlError) return { valid: false, reason: 'form' }
    throw error
  }
  const path = pathsTo(root, ({ name }) => name === 'Signature').find(inDsigNamespace)
  if (path === undefined) return { valid: false, reason: 'no-signature' }
  const signature = path.at(-1)!
  const document = path.slice(0, -1)
  const parts = partsOf(root, document.at(-1), signature)
  if (parts === null) return { valid: false, reason: 'form' }

  const found = { certificate: parts.certificate, id: parts.id, digest: parts.digest }
  // Inclusive canonicalization takes in what the ancestors declare, so the place counts. Documents are signed before they
  // are put into a nfeProc or an envelope; the few signed inside theirs are tried second.
  const alone = scopeAlone(document, [document.at(-1)!, parts.signed, signature])
  const first = check(parts, signature, alone)
  if (first === undefined) return { valid: true, ...found }
  const inPlace = scopeInPlace(document)
  const same = Object.keys(inPlace).every((prefix) => inPlace[prefix] === alone[prefix])
  if (!same && check(parts, signature, inPlace) === undefined) return { valid: true, ...found }
  return { valid: false, reason: first, ...found }
}

/** A signature that holds over an element, and where in the text that element stands. */
export interface WrittenVerification {
  id: string
  digest: string
  /** Of the signed element, and of what is inside it. */
  start: number
  end: number
  inside: { start: number; end: number }
  /** Of the Signature. */
  signature: { start: number; end: number }
}

/**
 * Whether the first signature of a well-formed document holds, when signed element and signature are written almost as canonical XML writes them,
 * as nearly all are: without parsing, which costs most. Null says nothing: then `verifySignature` tells. What hashes to the signed digest is the
 * canonical form that was signed, so nothing else can stand in its place.
 */
export function verifyWritten(xml: string): WrittenVerification | null {
  // Without comments and CDATA each < begins a tag.
  if (xml.includes('<!')) return null
  signatureAsWritten.lastIndex = xml.indexOf(`<Signature xmlns="${dsigNamespace}">`)
  const match = signatureAsWritten.lastIndex < 0 ? null : signatureAsWritten.exec(xml)
  if (match === null) return null
  const [, id = '', digest = '', value = '', certificate = ''] = match
  const start = xml.lastIndexOf('<', xml.indexOf(` Id="${id}"`))
  startTag.lastIndex = Math.max(start, 0)
  const [tag = '', name = '', attributes = ''] = startTag.exec(xml) ?? []
  const endTag = `</${name}>`
  const insideEnd = xml.indexOf(endTag, start)
  if (tag === '' || insideEnd < 0 || insideEnd > match.index) return null
  const insideStart = start + tag.length
  const nearest = xml.lastIndexOf(' xmlns="', insideStart)
  const namespace = nearest < 0 ? '' : xml.slice(nearest, xml.indexOf('"', nearest + 8) + 1)
  // Canonical XML writes the namespace first, sorts the attributes and knows no empty tags.
  const sorted = attributes
    .slice(1)
    .split(/(?<=") /)
    .filter((one) => !one.startsWith('xmlns='))
    .sort()
  const inside = xml.slice(insideStart, insideEnd).replace(/<(\w+)\/>/g, '<$1></$1>')
  const body = `<${name}${namespace} ${sorted.join(' ')}>${inside}${endTag}`
  if (hash('sha1', body, 'base64') !== digest) return null
  const key = keyOf(certificate)
  if (!key || !verify('RSA-SHA1', signedInfo(id, digest), key, Buffer.from(value, 'base64'))) return null
  return {
    id,
    digest,
    start,
    end: insideEnd + endTag.length,
    inside: { start: insideStart, end: insideEnd },
    signature: { start: match.index, end: signatureAsWritten.lastIndex },
  }
}

const startTag = /<(\w+)((?: [\w:]+="[^"<>&]*")*)>/y
const literal = (text: string) => text.replaceAll('.', '\\.')
const empty = (name: string, algorithm: string) => `<${name} Algorithm="${literal(algorithm)}"(?:/>|></${name}>)`
const signatureAsWritten = new RegExp(
  `<Signature xmlns="${literal(dsigNamespace)}"><SignedInfo(?: xmlns="${literal(dsigNamespace)}")?>` +
    `${empty('CanonicalizationMethod', c14n)}${empty('SignatureMethod', rsaSha1)}<Reference URI="#(\\w+)"><Transforms>` +
    `${empty('Transform', enveloped)}${empty('Transform', c14n)}</Transforms>${empty('DigestMethod', sha1)}` +
    `<DigestValue>([\\w+/=]+)</DigestValue></Reference></SignedInfo><SignatureValue>([\\w+/=\\s]+)</SignatureValue>` +
    `<KeyInfo><X509Data><X509Certificate>([\\w+/=\\s]+)</X509Certificate></X509Data></KeyInfo></Signature>`,
  'y',
)

// In canonical XML.
function signedInfo(id: string, digest: string): Buffer {
  const method = (name: string, algorithm: string) => `<${name} Algorithm="${algorithm}"></${name}>`
  return Buffer.from(
    `<SignedInfo xmlns="${dsigNamespace}">${method('CanonicalizationMethod', c14n)}${method('SignatureMethod', rsaSha1)}<Reference URI="#${id}">` +
      `<Transforms>${method('Transform', enveloped)}${method('Transform', c14n)}</Transforms>${method('DigestMethod', sha1)}` +
      `<DigestValue>${digest}</DigestValue></Reference></SignedInfo>`,
  )
}

// Opening a certificate costs as much as verifying a signature, and an issuer signs many documents.
const keys = new Map<string, KeyObject | null>()
const keysMax = 500

function keyOf(text: string): KeyObject | null {
  // The text itself would keep its whole document in memory.
  const name = hash('sha1', text)
  const known = keys.get(name)
  if (known !== undefined) return known
  const key = openCertificate(text)?.publicKey ?? null
  if (keys.size >= keysMax) keys.clear()
  keys.set(name, key)
  return key
}

interface SignatureParts {
  id: string
  signed: XmlElement
  signedInfo: XmlElement
  digest: string
  value: Buffer
  certificate: X509Certificate
}

function inDsigNamespace(path: XmlElement[]): boolean {
  return scopeInPlace(path)[path.at(-1)!.prefix] === dsigNamespace
}

// Null when the signature is not of the one accepted shape: a looser reading would let the signed element and the one
// that is read be two different elements.
function partsOf(root: XmlElement, parent: XmlElement | undefined, signature: XmlElement): SignatureParts | null {
  const [signedInfo, signatureValue, keyInfo] = signature.children
  if (parent === undefined || signedInfo?.name !== 'SignedInfo' || signatureValue?.name !== 'SignatureValue')
    return null
  const [canonicalization, method, reference, ...more] = signedInfo.children
  if (!is(canonicalization, 'CanonicalizationMethod', c14n) || !is(method, 'SignatureMethod', rsaSha1)) return null
  if (reference?.name !== 'Reference' || more.length > 0) return null
  const [transforms, digestMethod, digestValue] = reference.children
  const [first, second, ...others] = transforms?.name === 'Transforms' ? transforms.children : []
  if (!is(first, 'Transform', enveloped) || !is(second, 'Transform', c14n) || others.length > 0) return null
  if (!is(digestMethod, 'DigestMethod', sha1) || digestValue?.name !== 'DigestValue') return null

  const uri = reference.attributes.URI ?? ''
  const id = uri.slice(1)
  if (!uri.startsWith('#') || id === '') return null
  const [target, another] = pathsTo(root, (element) => element.attributes.Id === id)
  const signed = target?.at(-1)
  if (signed === undefined || another !== undefined || !parent.children.includes(signed)) return null

  const certificate = certificateOf(keyInfo)
  if (certificate === undefined) return null
  const value = Buffer.from(signatureValue.text, 'base64')
  return { id, signed, signedInfo, digest: digestValue.text.replace(/\s/g, ''), value, certificate }
}

function is(element: XmlElement | undefined, name: string, algorithm: string): boolean {
  return element?.name === name && element.attributes.Algorithm === algorithm
}

function certificateOf(keyInfo: XmlElement | undefined): X509Certificate | undefined {
  const data = keyInfo?.name === 'KeyInfo' ? keyInfo.children.find(({ name }) => name === 'X509Data') : undefined
  const text = data?.children.find(({ name }) => name === 'X509Certificate')?.text
  return text === undefined ? undefined : openCertificate(text)
}

function openCertificate(text: string): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(Buffer.from(text, 'base64'))
    // A key of a kind that OpenSSL does not know throws.
    return certificate.publicKey.asymmetricKeyType === 'rsa' ? certificate : undefined
  } catch {
    return undefined
  }
}

function check(
  parts: SignatureParts,
  signature: XmlElement,
  scope: Record<string, string>,
): 'digest' | 'signature' | undefined {
  const body = canonicalize(parts.signed, { namespaces: scope })
  if (createHash('sha1').update(body).digest('base64') !== parts.digest) return 'digest'
  const own = scopeInPlace([signature])
  const signedInfo = canonicalize(parts.signedInfo, { namespaces: { ...scope, ...own } })
  return verify('RSA-SHA1', Buffer.from(signedInfo), parts.certificate.publicKey, parts.value) ? undefined : 'signature'
}
