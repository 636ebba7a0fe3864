import { createCipheriv, createHmac, type KeyObject, pbkdf2Sync, randomBytes } from 'node:crypto'
import forge from 'node-forge'

// PKCS #12 (RFC 7292) is written here because node-forge leaves the certificates in the clear, while the files the
// certification authorities deliver encrypt them: with RC2-40 the old ones, with AES-256 the new ones.

interface PfxContent {
  key: KeyObject
  /** DER; the holder's certificate first, then its chain. */
  certificates: Uint8Array[]
  friendlyName: string
  password: string
  /** RC2-40 for the certificates and 3DES for the key, as the export of Windows does. */
  legacy: boolean
}

const iterations = 2048

export function writePfx(content: PfxContent): Uint8Array {
  const keyId = randomBytes(20)
  const attributes = (own: boolean) =>
    own ? [set(oid(ids.friendlyName), bmpString(content.friendlyName)), set(oid(ids.localKeyId), octets(keyId))] : []

  const certificateBags = content.certificates.map((der, index) =>
    sequence(
      oid(ids.certBag),
      explicit(0, sequence(oid(ids.x509Certificate), explicit(0, octets(der)))),
      ...bagAttributes(attributes(index === 0)),
    ),
  )
  const keyInfo = new Uint8Array(content.key.export({ format: 'der', type: 'pkcs8' }))
  const sealedKey = content.legacy
    ? legacySeal('3des', content.password, keyInfo)
    : modernSeal(content.password, keyInfo)
  const keyBag = sequence(
    oid(ids.shroudedKeyBag),
    explicit(0, sequence(sealedKey.algorithm, octets(sealedKey.data))),
    ...bagAttributes(attributes(true)),
  )

  const plainCertificates = der(sequence(...certificateBags))
  const sealed = content.legacy
    ? legacySeal('rc2-40', content.password, plainCertificates)
    : modernSeal(content.password, plainCertificates)
  const encryptedData = sequence(
    integer(0),
    sequence(oid(ids.data), sealed.algorithm, context(0, false, bytesText(sealed.data))),
  )

  const authenticatedSafe = der(
    sequence(
      sequence(oid(ids.encryptedData), explicit(0, encryptedData)),
      sequence(oid(ids.data), explicit(0, octets(der(sequence(keyBag))))),
    ),
  )
  return der(
    sequence(
      integer(3),
      sequence(oid(ids.data), explicit(0, octets(authenticatedSafe))),
      macData(content.password, authenticatedSafe, content.legacy),
    ),
  )
}

const ids = {
  data: '1.2.840.113549.1.7.1',
  encryptedData: '1.2.840.113549.1.7.6',
  shroudedKeyBag: '1.2.840.113549.1.12.10.1.2',
  certBag: '1.2.840.113549.1.12.10.1.3',
  x509Certificate: '1.2.840.113549.1.9.22.1',
  friendlyName: '1.2.840.113549.1.9.20',
  localKeyId: '1.2.840.113549.1.9.21',
  pbes2: '1.2.840.113549.1.5.13',
  pbkdf2: '1.2.840.113549.1.5.12',
  hmacSha256: '1.2.840.113549.2.9',
  aes256Cbc: '2.16.840.1.101.3.4.1.42',
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
  pbe3des: '1.2.840.113549.1.12.1.3',
  pbeRc2_40: '1.2.840.113549.1.12.1.6',
}

interface Sealed {
  algorithm: forge.asn1.Asn1
  data: Uint8Array
}

function modernSeal(password: string, data: Uint8Array): Sealed {
  const salt = randomBytes(16)
  const iv = randomBytes(16)
  const key = pbkdf2Sync(Buffer.from(password, 'utf8'), salt, iterations, 32, 'sha256')
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  const algorithm = sequence(
    oid(ids.pbes2),
    sequence(
      sequence(oid(ids.pbkdf2), sequence(octets(salt), integer(iterations), sequence(oid(ids.hmacSha256), nothing()))),
      sequence(oid(ids.aes256Cbc), octets(iv)),
    ),
  )
  return { algorithm, data: Buffer.concat([cipher.update(data), cipher.final()]) }
}

function legacySeal(algorithm: '3des' | 'rc2-40', password: string, data: Uint8Array): Sealed {
  const salt = randomBytes(8)
  const parameters = sequence(octets(salt), integer(iterations))
  const iv = derive(password, salt, 2, 8, 'sha1')
  if (algorithm === '3des') {
    const cipher = createCipheriv('des-ede3-cbc', derive(password, salt, 1, 24, 'sha1'), iv)
    return {
      algorithm: sequence(oid(ids.pbe3des), parameters),
      data: Buffer.concat([cipher.update(data), cipher.final()]),
    }
  }
  const cipher = forge.rc2.createEncryptionCipher(bytesText(derive(password, salt, 1, 5, 'sha1')), 40)
  cipher.start(bytesText(iv))
  cipher.update(forge.util.createBuffer(bytesText(data)))
  cipher.finish()
  return {
    algorithm: sequence(oid(ids.pbeRc2_40), parameters),
    data: Buffer.from(cipher.output.getBytes(), 'binary'),
  }
}

function macData(password: string, data: Uint8Array, legacy: boolean): forge.asn1.Asn1 {
  const digest = legacy ? 'sha1' : 'sha256'
  const salt = randomBytes(8)
  const key = derive(password, salt, 3, legacy ? 20 : 32, digest)
  const mac = createHmac(digest, key).update(data).digest()
  return sequence(sequence(sequence(oid(ids[digest]), nothing()), octets(mac)), octets(salt), integer(iterations))
}

// RFC 7292, appendix B: purpose 1 key, 2 initialisation vector, 3 MAC key.
function derive(password: string, salt: Uint8Array, purpose: 1 | 2 | 3, length: number, digest: 'sha1' | 'sha256') {
  const md = digest === 'sha1' ? forge.md.sha1.create() : forge.md.sha256.create()
  const saltBuffer = forge.util.createBuffer(bytesText(salt))
  const key = forge.pkcs12.generateKey(password, saltBuffer, purpose, iterations, length, md)
  return Buffer.from(key.getBytes(), 'binary')
}

const { asn1 } = forge
const { UNIVERSAL, CONTEXT_SPECIFIC } = asn1.Class

function bytesText(data: Uint8Array): string {
  return Buffer.from(data).toString('binary')
}
function der(node: forge.asn1.Asn1): Uint8Array {
  return Buffer.from(asn1.toDer(node).getBytes(), 'binary')
}
function sequence(...items: forge.asn1.Asn1[]): forge.asn1.Asn1 {
  return asn1.create(UNIVERSAL, asn1.Type.SEQUENCE, true, items)
}
function oid(id: string): forge.asn1.Asn1 {
  return asn1.create(UNIVERSAL, asn1.Type.OID, false, asn1.oidToDer(id).getBytes())
}
function octets(data: Uint8Array): forge.asn1.Asn1 {
  return asn1.create(UNIVERSAL, asn1.Type.OCTETSTRING, false, bytesText(data))
}
function integer(value: number): forge.asn1.Asn1 {
  return asn1.create(UNIVERSAL, asn1.Type.INTEGER, false, asn1.integerToDer(value).getBytes())
}
function nothing(): forge.asn1.Asn1 {
  return asn1.create(UNIVERSAL, asn1.Type.NULL, false, '')
}
function context(tag: number, constructed: boolean, value: string | forge.asn1.Asn1[]): forge.asn1.Asn1 {
  return asn1.create(CONTEXT_SPECIFIC, tag, constructed, value)
}
function explicit(tag: number, node: forge.asn1.Asn1): forge.asn1.Asn1 {
  return context(tag, true, [node])
}
function bmpString(text: string): forge.asn1.Asn1 {
  const value = Buffer.from(text, 'utf16le').swap16().toString('binary')
  return asn1.create(UNIVERSAL, asn1.Type.BMPSTRING, false, value)
}
function set(id: forge.asn1.Asn1, value: forge.asn1.Asn1): forge.asn1.Asn1 {
  return sequence(id, asn1.create(UNIVERSAL, asn1.Type.SET, true, [value]))
}
function bagAttributes(attributes: forge.asn1.Asn1[]): forge.asn1.Asn1[] {
  return attributes.length === 0 ? [] : [asn1.create(UNIVERSAL, asn1.Type.SET, true, attributes)]
}
