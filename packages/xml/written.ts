import { isUtf8 } from 'node:buffer'
import { hash, type KeyObject, verify } from 'node:crypto'
import { dsigNamespace } from './canonicalize.ts'
import { c14n, enveloped, openCertificate, rsaSha1, sha1 } from './signature.ts'

/** A signature and the element that it covers, as they stand in the text. */
export interface WrittenSignature {
  /** The document with one character for each byte: only what is ASCII reads as it is meant. */
  text: string
  /** The names of the elements around the signed one, from the root. */
  around: string[]
  /** Name and attributes of the signed element. */
  name: string
  attributes: ReadonlyMap<string, string>
  id: string
  /** The signed element as `canonicalize` writes it. */
  octets: Uint8Array
  digest: string
  /** In base64, white space possible. */
  value: string
  certificate: string
  /** Where the signed element ends, and where what is inside it begins and ends. */
  end: number
  inside: { start: number; end: number }
  signature: { start: number; end: number }
}

/**
 * Whether the signature of a well-formed document holds, without parsing it, which costs most. It does so where the signed element is the first
 * one in those around it and is written almost as canonical XML writes it, as in nearly all documents. Null says nothing: then `verifySignature`
 * tells.
 */
export function verifyWritten(xml: Uint8Array): WrittenSignature | null {
  const found = findWritten(xml)
  if (found === null || hash('sha1', found.octets, 'base64') !== found.digest) return null
  const key = keyOf(found.certificate)
  if (key === null) return null
  return verify('RSA-SHA1', signedInfo(found), key, Buffer.from(found.value, 'base64')) ? found : null
}

/** What `verifyWritten` verifies: an element and a signature that names it, beside it and nothing else of that Id; null as there. */
export function findWritten(xml: Uint8Array): WrittenSignature | null {
  // In UTF-8 no byte of another character is one of ASCII.
  if (!isUtf8(xml)) return null
  const bytes = Buffer.from(xml.buffer, xml.byteOffset, xml.length)
  const text = bytes.toString('latin1')
  const tags = startTags(text)
  const signed = tags.pop()
  const parent = tags.at(-1)
  const id = signed?.attributes.get('Id')
  if (signed === undefined || parent === undefined || id === undefined) return null
  const head = canonicalTag(tags, signed)
  const found = head === null ? null : readInside(bytes, text, signed)
  if (head === null || found === null) return null

  const inside = { start: signed.end, end: found.end }
  const end = inside.end + signed.name.length + 3
  beside.lastIndex = end
  const start = end + (beside.exec(text)?.[0].length ?? 0)
  signatureAsWritten.lastIndex = start
  const [, reference, digest = '', value = '', certificate = ''] = signatureAsWritten.exec(text) ?? []
  const signature = { start, end: signatureAsWritten.lastIndex }
  if (reference !== id || !isOnce(text, id, signed, signature)) return null
  const octets =
    found.empties === 0
      ? Buffer.concat([Buffer.from(head, 'latin1'), bytes.subarray(inside.start, end)])
      : Buffer.from(head + text.slice(inside.start, end).replace(/<(\w+)\/>/g, '<$1></$1>'), 'latin1')
  const { name, attributes } = signed
  const around = tags.map((tag) => tag.name)
  return { text, around, name, attributes, id, octets, digest, value, certificate, end, inside, signature }
}

interface StartTag {
  name: string
  attributes: Map<string, string>
  start: number
  end: number
}

const declaration =
  /^(?:\xef\xbb\xbf)?(?:<\?xml version="1\.0"(?: encoding="(?:utf|UTF)-8")?(?: standalone="(?:yes|no)")?\s*\?>)?\s*/
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it does not take.
const startTag = /<(\w+)((?: [\w:]+="[^"<>&\0-\x1f]*")*)>/y
const aroundMax = 4

// From the root to the first element with an Id; nothing stands between them.
function startTags(text: string): StartTag[] {
  const tags: StartTag[] = []
  let start = declaration.exec(text)![0].length
  while (tags.length < aroundMax) {
    startTag.lastIndex = start
    const [tag, name, list] = startTag.exec(text) ?? []
    if (tag === undefined) return []
    const attributes = new Map<string, string>()
    for (const one of list!.split('" ')) {
      const equals = one.indexOf('="')
      if (equals > 0) attributes.set(one.slice(0, equals).trimStart(), one.slice(equals + 2).replace('"', ''))
    }
    tags.push({ name: name!, attributes, start, end: start + tag.length })
    if (attributes.has('Id')) return tags
    start += tag.length
  }
  return []
}

// Null where more than the one namespace is in scope. Canonical XML writes it first and sorts the attributes.
function canonicalTag(around: readonly StartTag[], { name, attributes }: StartTag): string | null {
  const parent = around.at(-1)!
  const hasPrefix = (one: string) => one.includes(':')
  if ([...parent.attributes.keys(), ...attributes.keys()].some(hasPrefix)) return null
  const nearest = [...around.map((tag) => tag.attributes), attributes].findLast((one) => one.has('xmlns'))
  const namespace = nearest?.get('xmlns')
  if (namespace === '') return null
  const names = [...attributes.keys()].filter((one) => one !== 'xmlns').sort()
  return `<${name}${namespace === undefined ? '' : ` xmlns="${namespace}"`}${names.map((one) => ` ${one}="${attributes.get(one)}"`).join('')}>`
}

// 2 may stand in text, 3 in a name too.
const kinds = new Uint8Array(256)
for (let code = 0x20; code < 256; code++) kinds[code] = 2
for (const c of '\t\n') kinds[c.charCodeAt(0)] = 2
for (const c of '<>&') kinds[c.charCodeAt(0)] = 0
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_') kinds[c.charCodeAt(0)] = 3

const textReference = /&(?:amp|lt|gt);/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it does not take.
const attribute = / (?!xmlns)\w+="[^"<>&\0-\x1f]*"/y

/**
 * Where the end tag of `element` begins, and how many tags of the form <name/> stand before it, the only ones that canonical XML writes in another
 * way. Null where anything else is there that it may write in another way: nothing but names of ASCII without prefix, one attribute at most, no
 * declaration, three references.
 */
function readInside(bytes: Uint8Array, text: string, element: StartTag): { end: number; empties: number } | null {
  const { name } = element
  let empties = 0
  let at = element.end
  while (at < bytes.length) {
    const code = bytes[at]!
    if (kinds[code]! >= 2) at++
    else if (code === 0x26) {
      textReference.lastIndex = at
      if (!textReference.test(text)) return null
      at = textReference.lastIndex
    } else if (code === 0x3c) {
      const start = at
      const isEnd = bytes[++at] === 0x2f
      if (isEnd) at++
      const nameStart = at
      while (kinds[bytes[at]!] === 3) at++
      if (at === nameStart) return null
      if (isEnd && at - nameStart === name.length && text.startsWith(name, nameStart))
        return bytes[at] === 0x3e ? { end: start, empties } : null
      if (!isEnd && bytes[at] === 0x20) {
        attribute.lastIndex = at
        if (!attribute.test(text)) return null
        at = attribute.lastIndex
      } else if (!isEnd && bytes[at] === 0x2f) {
        empties++
        at++
      }
      if (bytes[at++] !== 0x3e) return null
    } else return null
  }
  return null
}

// What may stand between the signed element and the signature: one flat element.
const beside = /<(\w+)>(?:<(\w+)>(?:[^<>]*|<!\[CDATA\[[^<>\]]*\]\]>)<\/\2>)*<\/\1>(?=<Signature)/y

// Whether no other element can have that Id. Attributes after the signature could write it with references.
function isOnce(text: string, id: string, signed: StartTag, signature: { start: number; end: number }): boolean {
  const own = text.indexOf(id)
  const uri = text.indexOf(id, signed.end)
  return (
    own > signed.start &&
    uri > signature.start &&
    text.indexOf(id, uri + 1) < 0 &&
    !text.includes('&', signature.end) &&
    !text.includes('<!', signature.end) &&
    !text.includes('<?', signature.end)
  )
}

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
function signedInfo({ id, digest }: WrittenSignature): Buffer {
  const method = (name: string, algorithm: string) => `<${name} Algorithm="${algorithm}"></${name}>`
  return Buffer.from(
    `<SignedInfo xmlns="${dsigNamespace}">${method('CanonicalizationMethod', c14n)}${method('SignatureMethod', rsaSha1)}<Reference URI="#${id}">` +
      `<Transforms>${method('Transform', enveloped)}${method('Transform', c14n)}</Transforms>${method('DigestMethod', sha1)}` +
      `<DigestValue>${digest}</DigestValue></Reference></SignedInfo>`,
  )
}

// Opening a certificate costs as much as verifying a signature, and an issuer signs many documents. The one that was not used for longest goes.
const keys = new Map<string, KeyObject | null>()
const keysMax = 500

function keyOf(certificate: string): KeyObject | null {
  // The text itself would keep its whole document in memory.
  const name = hash('sha256', certificate)
  let key = keys.get(name)
  if (key === undefined) key = openCertificate(certificate)?.publicKey ?? null
  else keys.delete(name)
  keys.set(name, key)
  if (keys.size > keysMax) keys.delete(keys.keys().next().value!)
  return key
}
