import { createVerify, type KeyObject, X509Certificate } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import {
  certificateExtensions,
  certificateFields,
  children,
  contentStart,
  type DerNode,
  endOf,
  hex,
  latin1,
  readExtensions,
} from './der.ts'

export { findPinned, pinnedAuthorities } from './authorities.ts'
export { carriedAuthorities } from './carried-authorities.ts'

/**
 * The certificate and the authorities above it, as far as they are known, if one of them is among `roots` (PEM) and all up to that one are valid
 * at `now`: then only its holder can have the private key (RFC 5280 §6). Null otherwise. Revocation is not looked at.
 */
export function findChain(
  { certificate, chain }: { certificate: string; chain: string[] },
  roots: string[],
  now = new Date(),
): X509Certificate[] | null {
  const trusted = roots.flatMap(readAll)
  const received = chain.flatMap(readAll)
  const path: X509Certificate[] = []
  let isTrusted = false
  let at = new X509Certificate(certificate)
  // A chain of ICP-Brasil has four links at most; ten is the default of OpenSSL.
  for (let depth = 0; depth < 10; depth++) {
    const { fingerprint256 } = at
    if (!isTrusted && (now < at.validFromDate || now > at.validToDate)) return null
    path.push(at)
    isTrusted ||= trusted.some((root) => root.fingerprint256 === fingerprint256)
    const issuer = (isTrusted ? trusted : [...trusted, ...received]).find(
      (authority) => authority.ca && at.checkIssued(authority) && at.verify(authority.publicKey),
    )
    if (!issuer || issuer.fingerprint256 === fingerprint256) break
    at = issuer
  }
  return isTrusted ? path : null
}

// A PEM file of authorities holds many.
function readAll(pem: string): X509Certificate[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (one) => new X509Certificate(one),
  )
}

const keyUsageOid = '551d0f' // 2.5.29.15
const listNumberOid = '551d14' // 2.5.29.20
const deltaOid = '551d1b' // 2.5.29.27
const scopeOid = '551d1c' // 2.5.29.28, issuingDistributionPoint
const addressesOid = '551d1f' // 2.5.29.31, cRLDistributionPoints
const authorityKeyOid = '551d23' // 2.5.29.35
const understood = [listNumberOid, deltaOid, scopeOid, authorityKeyOid]
const addressesMax = 4

/** Where the issuer of a certificate publishes the list of those that it revoked: http and https addresses, in their order (RFC 5280 §4.2.1.13). */
export function listAddresses(certificate: X509Certificate): string[] {
  const points = children(certificateExtensions(certificate.raw).get(addressesOid)?.value?.content)
  return points
    .map(({ content }) => children(content))
    .filter((fields) => fields.every(({ tag }) => tag === 0xa0)) // no part by reasons, no list of another issuer
    .flatMap(([name]) => addressesOf(name))
    .slice(0, addressesMax)
}

// DistributionPointName: fullName [0], of which the URIs.
function addressesOf(name: DerNode | undefined): string[] {
  const names = children(children(name?.content)[0]?.content)
  return names
    .flatMap(({ tag, content }) => (tag === 0x86 ? [latin1(content)] : []))
    .filter((address) => /^https?:$/.test(URL.parse(address)?.protocol ?? ''))
}

/** A list that does not tell whether a certificate was revoked; `message` is for the log (RFC 5280 §5). */
export class RevocationListError extends Error {
  override name = 'RevocationListError'
}

/** A list of revoked certificates that its issuer signed (RFC 5280 §5). */
export interface RevocationList {
  bytes: number
  /** Until then it tells what holds; null where it does not say. */
  nextUpdate: Date | null
  /** When a certificate of the issuer was revoked, null when it was not. Throws RevocationListError when the list is not about certificates like it. */
  find(certificate: X509Certificate): Date | null
}

const digests: Readonly<Record<string, [digest: string, keyType: string]>> = {
  '2a864886f70d01010b': ['sha256', 'rsa'],
  '2a864886f70d01010c': ['sha384', 'rsa'],
  '2a864886f70d01010d': ['sha512', 'rsa'],
  '2a8648ce3d040302': ['sha256', 'ec'],
  '2a8648ce3d040303': ['sha384', 'ec'],
  '2a8648ce3d040304': ['sha512', 'ec'],
}

const stepBytes = 1 << 20

// In steps of some milliseconds: a list may have tens of megabytes.
async function isSigned(bytes: Uint8Array, digest: string, key: KeyObject, signature: Uint8Array): Promise<boolean> {
  const verifier = createVerify(digest)
  for (let at = 0; at < bytes.length; at += stepBytes) {
    verifier.update(bytes.subarray(at, at + stepBytes))
    await setImmediate()
  }
  return verifier.verify(key, signature)
}

/** Reads a list and verifies that `issuer` signed it, whose chain has to be known already. Throws RevocationListError. */
export async function readRevocationList(file: Uint8Array, issuer: X509Certificate): Promise<RevocationList> {
  const [signed, algorithm, signature] = children(children(file)[0]?.content)
  if (!signed || !algorithm || signature?.tag !== 0x03) throw new RevocationListError('not a revocation list')
  const [digest, keyType] = digests[hex(children(algorithm.content)[0]?.content)] ?? []
  if (!digest || issuer.publicKey.asymmetricKeyType !== keyType)
    throw new RevocationListError('signed with an algorithm that is not verified here')
  if (!mayList(issuer)) throw new RevocationListError('its issuer may not sign lists')
  const isGenuine =
    signature.content[0] === 0 &&
    (await isSigned(signed.whole, digest, issuer.publicKey, signature.content.subarray(1)))
  if (!isGenuine) throw new RevocationListError('not signed by the issuer of the certificate')
  return readSigned(signed.content, algorithm, issuer)
}

// Bit 6 of keyUsage: cRLSign. Without the extension a key may do everything (RFC 5280 §4.2.1.3).
function mayList(issuer: X509Certificate): boolean {
  const usage = certificateExtensions(issuer.raw).get(keyUsageOid)?.value
  return issuer.ca && (usage === undefined || ((usage.content[1] ?? 0) & 0x02) !== 0)
}

// TBSCertList. Only what its issuer signed comes here.
function readSigned(content: Uint8Array, algorithm: DerNode, issuer: X509Certificate): RevocationList {
  const fields = children(content)
  if (fields[0]?.tag === 0x02) fields.shift()
  const [inner, name, ...rest] = fields
  if (hex(inner?.whole) !== hex(algorithm.whole)) throw new RevocationListError('names two algorithms')
  if (hex(name?.whole) !== hex(certificateFields(issuer.raw).filter(isSequence)[3]?.whole))
    throw new RevocationListError('of another issuer')
  if (!timeOf(rest.shift())) throw new RevocationListError('without its time')
  const nextUpdate = timeOf(rest[0])
  if (nextUpdate) rest.shift()
  const revoked = rest[0]?.tag === 0x30 ? rest.shift()!.content : new Uint8Array()
  const extensions = readExtensions(children(rest.find(({ tag }) => tag === 0xa0)?.content)[0]?.content)
  for (const [oid, { critical }] of extensions)
    if (oid === deltaOid || (critical && !understood.includes(oid)))
      throw new RevocationListError(`with an extension that is not understood: ${oid}`)
  const scope = extensions.get(scopeOid)
  return {
    bytes: content.length,
    nextUpdate,
    find(certificate) {
      if (scope) requireInScope(certificate, children(scope.value?.content))
      return findEntry(revoked, serialOf(certificate))
    },
  }
}

const isSequence = ({ tag }: DerNode) => tag === 0x30

function serialOf(certificate: X509Certificate): Uint8Array {
  return certificateFields(certificate.raw).find(({ tag }) => tag === 0x02)!.content
}

// IssuingDistributionPoint (RFC 5280 §5.2.5): a list may be about a part of the certificates, and a list of another part is signed as well.
function requireInScope(certificate: X509Certificate, fields: DerNode[]): void {
  for (const { tag, content, whole } of fields) {
    if (tag === 0xa0) {
      const own = listAddresses(certificate)
      if (addressesOf({ tag, content, whole }).some((address) => own.includes(address))) continue
    }
    if (tag === 0x81 && (!certificate.ca || content[0] === 0)) continue
    if (tag === 0x82 && (certificate.ca || content[0] === 0)) continue
    if ((tag === 0x84 || tag === 0x85) && content[0] === 0) continue
    throw new RevocationListError('about other certificates')
  }
}

// A list may have a million entries: no object for each.
function findEntry(revoked: Uint8Array, serial: Uint8Array): Date | null {
  for (let at = 0; at < revoked.length; ) {
    const end = endOf(revoked, at)
    if (Number.isNaN(end)) throw new RevocationListError('with an entry that cannot be read')
    const start = contentStart(revoked, at)
    if (startsWith(revoked, start, end, serial)) {
      const at = timeOf(children(revoked.subarray(start, end))[1])
      if (!at) throw new RevocationListError('with an entry without its time')
      return at
    }
    at = end
  }
  return null
}

// No serial number has more than 20 bytes (RFC 5280 §4.1.2.2), so its length is one byte.
function startsWith(bytes: Uint8Array, start: number, end: number, serial: Uint8Array): boolean {
  if (bytes[start] !== 0x02 || bytes[start + 1] !== serial.length || start + 2 + serial.length > end) return false
  for (let index = 0; index < serial.length; index++) if (bytes[start + 2 + index] !== serial[index]) return false
  return true
}

// UTCTime or GeneralizedTime, in UTC to the second (RFC 5280 §4.1.2.5).
function timeOf(node: DerNode | undefined): Date | null {
  const isShort = node?.tag === 0x17
  if (!isShort && node?.tag !== 0x18) return null
  const [, year, ...parts] =
    /^(\d\d|\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(latin1(node?.content))?.map(Number) ?? []
  const [month = 0, day, hour, minute, second] = parts
  if (year === undefined) return null
  const time = Date.UTC(isShort ? year + (year < 50 ? 2000 : 1900) : year, month - 1, day, hour, minute, second)
  return Number.isNaN(time) ? null : new Date(time)
}
