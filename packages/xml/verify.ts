import { createHash, verify, X509Certificate } from 'node:crypto'
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
 * Whether the signature over the element with that Id holds, without an Id the first one of the document, with the algorithms and the shape of the tax authority and no others
 * (MOC CT-e 4.00 §3.2.4, MOC NF-e 7.0). It says nothing about who issued the certificate.
 */
export function verifySignature(xml: string | XmlElement, id?: string): Verification {
  let root: XmlElement
  try {
    root = typeof xml === 'string' ? parseXml(xml) : xml
  } catch (error) {
    if (error instanceof XmlError) return { valid: false, reason: 'form' }
    throw error
  }
  const signatures = pathsTo(root, ({ name }) => name === 'Signature').filter(inDsigNamespace)
  // The authority may sign its protocol beside the document.
  const path = id === undefined ? signatures[0] : signatures.find((one) => refersTo(id, one.at(-1)!))
  if (path === undefined) return { valid: false, reason: 'no-signature' }
  const signature = path.at(-1)!
  const document = path.slice(0, -1)
  const parts = partsOf(root, document.at(-1), signature)
  if (parts === null) return { valid: false, reason: 'form' }

  const found = { certificate: parts.certificate, id: parts.id, digest: parts.digest }
  // Inclusive canonicalization depends on the ancestors. Most documents are signed before they
  // enter a nfeProc or an envelope; signatures made inside are tried second.
  const alone = scopeAlone(document, [document.at(-1)!, parts.signed, signature])
  const first = check(parts, signature, alone)
  if (first === undefined) return { valid: true, ...found }
  const inPlace = scopeInPlace(document)
  const same = Object.keys(inPlace).every((prefix) => inPlace[prefix] === alone[prefix])
  if (!same && check(parts, signature, inPlace) === undefined) return { valid: true, ...found }
  return { valid: false, reason: first, ...found }
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

function refersTo(id: string, signature: XmlElement): boolean {
  const signedInfo = signature.children.find(({ name }) => name === 'SignedInfo')
  return (
    signedInfo?.children.some(({ name, attributes }) => name === 'Reference' && attributes.URI === `#${id}`) === true
  )
}

// Null when the signature has not the one accepted shape, because a looser parser could verify
// another element than the one that is read.
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

// Undefined for a missing certificate and for keys other than RSA.
function certificateOf(keyInfo: XmlElement | undefined): X509Certificate | undefined {
  const data = keyInfo?.name === 'KeyInfo' ? keyInfo.children.find(({ name }) => name === 'X509Data') : undefined
  const text = data?.children.find(({ name }) => name === 'X509Certificate')?.text
  if (text === undefined) return undefined
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
  const body = canonicalize(parts.signed, scope)
  if (createHash('sha1').update(body).digest('base64') !== parts.digest) return 'digest'
  const own = scopeInPlace([signature])
  const signedInfo = canonicalize(parts.signedInfo, { ...scope, ...own })
  return verify('RSA-SHA1', Buffer.from(signedInfo), parts.certificate.publicKey, parts.value) ? undefined : 'signature'
}
