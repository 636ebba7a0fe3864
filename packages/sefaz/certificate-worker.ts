import { createPrivateKey, type KeyObject, pbkdf2Sync, X509Certificate } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import forge from 'node-forge'

// Runs in a thread of its own, because the file decides how long the derivation of its keys takes and the thread can be killed.

declare module 'node-forge' {
  namespace asn1 {
    function fromDer(bytes: util.ByteBuffer, options: { strict: boolean; parseAllBytes: boolean }): Asn1
  }
  namespace pki {
    const pbe: {
      generatePkcs12Key: typeof pkcs12.generateKey
      getCipher(oid: string, params: asn1.Asn1, password: string | undefined): cipher.BlockCipher
    }
  }
}

export interface PfxInput {
  pfx: Uint8Array
  password: string
}

export type PfxResult =
  | { key: string; certificate: string; chain: string[] }
  | { problem: 'wrong-password' | 'unreadable' | 'no-key' }

interface Attempt {
  /** The password of the MAC and of the old encryptions; undefined is not the same as empty (RFC 7292 appendix B). */
  password: string | undefined
  /** How PBES2 sees the same password. */
  encoding: 'utf8' | 'latin1'
}

// Firefox writes 600,000. More is meant to keep the thread busy, and the native derivation cannot even be interrupted.
const iterationsMax = 1_000_000

function requireFewIterations(iterations: number): void {
  if (iterations > iterationsMax) throw new Error('too many iterations')
}

let encoding: Attempt['encoding'] = 'utf8'

// Forge derives in JavaScript and takes each UTF-16 unit of the password for a byte.
Object.assign(forge.pkcs5, {
  pbkdf2(password: string | undefined, salt: string, iterations: number, length: number, md: { algorithm: string }) {
    requireFewIterations(iterations)
    const secret = Buffer.from(password ?? '', encoding)
    return pbkdf2Sync(secret, Buffer.from(salt, 'latin1'), iterations, length, md.algorithm).toString('latin1')
  },
})

// The derivation of RFC 7292 appendix B, of the MAC and of the old encryptions.
const { generateKey } = forge.pkcs12
const generateKeyBounded: typeof generateKey = (...args) => {
  requireFewIterations(args[3])
  return generateKey(...args)
}
forge.pkcs12.generateKey = generateKeyBounded
forge.pki.pbe.generatePkcs12Key = generateKeyBounded

let hasDecrypted = false

const { getCipher } = forge.pki.pbe
forge.pki.pbe.getCipher = (...args) => {
  const cipher = getCipher(...args)
  hasDecrypted = true
  return cipher
}

// When forge cannot interpret a key or certificate it hands out the raw ASN.1, which OpenSSL reads whatever the algorithm.
function leaveToOpenSsl(): never {
  throw new Error('left to OpenSSL')
}
Object.assign(forge.pki, { privateKeyFromAsn1: leaveToOpenSsl, certificateFromAsn1: leaveToOpenSsl })

function openPfx({ pfx, password }: PfxInput): PfxResult {
  let asn1: forge.asn1.Asn1
  try {
    asn1 = forge.asn1.fromDer(forge.util.createBuffer(Buffer.from(pfx)), { strict: true, parseAllBytes: false })
  } catch {
    return { problem: isCertificateAlone(pfx) ? 'no-key' : 'unreadable' }
  }
  const hasMac = Array.isArray(asn1.value) && asn1.value.length > 2
  let problem: 'wrong-password' | 'unreadable' | undefined
  for (const attempt of attemptsFor(password)) {
    encoding = attempt.encoding
    hasDecrypted = false
    let isOpened = false
    try {
      const opened = forge.pkcs12.pkcs12FromAsn1(asn1, false, attempt.password)
      isOpened = true
      return pairUp(opened)
    } catch (error) {
      // What is inside cannot be read, with the right password.
      if (isOpened) return { problem: 'unreadable' }
      if (!isPasswordFailure(error, hasMac)) problem = 'unreadable'
      else problem ??= 'wrong-password'
    }
  }
  if (problem === 'unreadable' && isCertificateAlone(pfx)) return { problem: 'no-key' }
  return { problem: problem ?? 'unreadable' }
}

function attemptsFor(password: string): Attempt[] {
  if (password === '') return [undefined, ''].map((password) => ({ password, encoding: 'utf8' }))
  if (/^[\x20-\x7e]*$/.test(password)) return [{ password, encoding: 'utf8' }]
  const bytes = Buffer.from(password.normalize('NFC')).toString('latin1')
  return [
    { password: password.normalize('NFC'), encoding: 'utf8' },
    { password: password.normalize('NFD'), encoding: 'utf8' },
    // Programs that put the characters of the password into bytes one by one.
    { password: password.normalize('NFC'), encoding: 'latin1' },
    // OpenSSL before 1.1 took each byte of the UTF-8 password for a character.
    { password: bytes, encoding: 'latin1' },
  ]
}

/** Once the MAC has confirmed the password, any other failure is of the file. Without one a wrong password decrypts to nonsense. */
function isPasswordFailure(error: unknown, hasMac: boolean): boolean {
  if (!hasMac) return hasDecrypted
  return error instanceof Error && error.message.includes('MAC could not be verified')
}

function isCertificateAlone(bytes: Uint8Array): boolean {
  try {
    new X509Certificate(bytes)
    return true
  } catch {
    return false
  }
}

function pairUp(pfx: forge.pkcs12.Pkcs12Pfx): PfxResult {
  const bags = pfx.safeContents.flatMap((contents) => contents.safeBags)
  const { certBag, keyBag, pkcs8ShroudedKeyBag } = forge.pki.oids
  const keys = bags
    .filter((bag) => bag.type === keyBag || bag.type === pkcs8ShroudedKeyBag)
    .map((bag) => createPrivateKey({ key: derOf(bag), format: 'der', type: 'pkcs8' }))
  const certificates = bags.filter((bag) => bag.type === certBag).map((bag) => new X509Certificate(derOf(bag)))

  // A renewed certificate may keep its key: the one that lasts longest is the current one.
  const newestFirst = certificates.toSorted((a, b) => b.validToDate.getTime() - a.validToDate.getTime())
  for (const leaf of newestFirst) {
    const key = keys.find((key) => leaf.checkPrivateKey(key))
    if (key !== undefined) return { key: pem(key), certificate: leaf.toString(), chain: chainOf(leaf, certificates) }
  }
  return { problem: 'no-key' }
}

function derOf(bag: forge.pkcs12.Bag): Buffer {
  if (bag.asn1 === undefined) throw new Error('bag without content')
  return Buffer.from(forge.asn1.toDer(bag.asn1).getBytes(), 'latin1')
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

// TLS wants each certificate followed by its issuer; strangers go last, because nothing says they are useless.
function chainOf(leaf: X509Certificate, certificates: X509Certificate[]): string[] {
  const others = new Map(certificates.map((certificate) => [certificate.fingerprint256, certificate]))
  others.delete(leaf.fingerprint256)
  const rest = [...others.values()]
  const chain: X509Certificate[] = []
  for (let last: X509Certificate | undefined = leaf; last !== undefined; last = chain.at(-1)) {
    const issuer = rest.findIndex((certificate) => last?.checkIssued(certificate))
    if (issuer === -1) break
    chain.push(...rest.splice(issuer, 1))
  }
  return [...chain, ...rest].map(String)
}

parentPort?.postMessage(openPfx(workerData))
