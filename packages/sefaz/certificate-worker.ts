import { createPrivateKey, hash, type KeyObject, pbkdf2Sync, X509Certificate } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import forge from 'node-forge'

// Runs in a thread of its own, because the file decides how long the derivation of its keys takes and the thread can be killed. A thread
// opens one file after another and keeps nothing of any.

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
  pfx: Uint8Array<ArrayBuffer>
  /** One after the other until one opens the file, UTF-8; erased when the file was opened. */
  passwords: Uint8Array<ArrayBuffer>[]
  /** After so long no other password is tried. */
  triesMsMax: number
}

/** A certificate of a file with its private key, all as PEM. */
export interface Pair {
  key: string
  certificate: string
  chain: string[]
}

export type PfxResult =
  | { pairs: Pair[] }
  | { problem: 'wrong-password'; tried: number }
  | { problem: 'unreadable' | 'no-key' | 'too-many-rounds' }

// One encoding of a password. Forge never gets its text, which could not be erased.
interface Attempt {
  /** For the MAC and the old encryptions: UTF-16 with a zero at the end; empty is not the same as that zero alone (RFC 7292 appendix B). */
  wide: Buffer
  /** For PBES2. */
  plain: Buffer
}

// Firefox uses 600,000. More would only keep the thread busy, in a derivation that cannot stop.
const iterationsMax = 700_000

class TooManyRounds extends Error {}

function requireFewIterations(iterations: number): void {
  if (iterations > iterationsMax) throw new TooManyRounds()
}

const none: Attempt = { wide: Buffer.alloc(0), plain: Buffer.alloc(0) }
let attempt = none

// Forge derives in JavaScript.
Object.assign(forge.pkcs5, {
  pbkdf2(_: unknown, salt: string, iterations: number, length: number, md: { algorithm: string }) {
    requireFewIterations(iterations)
    return pbkdf2Sync(attempt.plain, Buffer.from(salt, 'latin1'), iterations, length, md.algorithm).toString('latin1')
  },
})

type GenerateKey = typeof forge.pkcs12.generateKey

// The derivation of RFC 7292 appendix B.2, of the MAC and of the old encryptions.
const generateKey: GenerateKey = (_, salt, id, iterations, length, md = forge.md.sha1.create()) => {
  requireFewIterations(iterations)
  if (!(iterations >= 1)) throw new Error('too few iterations')
  const { algorithm, blockLength } = md
  const blocks = [Buffer.from(salt.bytes(), 'latin1'), attempt.wide].map((bytes) =>
    Buffer.alloc(Math.ceil(bytes.length / blockLength) * blockLength, bytes),
  )
  const input = Buffer.concat([Buffer.alloc(blockLength, id), ...blocks])
  const key: Buffer[] = []
  for (let got = 0; got < length; ) {
    let digest = hash(algorithm, input, 'buffer')
    for (let round = 1; round < iterations; round++) digest = hash(algorithm, digest, 'buffer')
    key.push(digest)
    got += digest.length
    addToEach(input.subarray(blockLength), Buffer.alloc(blockLength, digest))
  }
  for (const bytes of [input, ...blocks]) bytes.fill(0)
  return forge.util.createBuffer(Buffer.concat(key, length).toString('latin1'))
}
forge.pkcs12.generateKey = generateKey
forge.pki.pbe.generatePkcs12Key = generateKey

// Each block becomes block + addend + 1, as numbers with the highest byte first.
function addToEach(blocks: Buffer, addend: Buffer): void {
  for (let start = 0; start < blocks.length; start += addend.length) {
    let carry = 1
    for (let at = addend.length - 1; at >= 0; at--) {
      carry += blocks[start + at]! + addend[at]!
      blocks[start + at] = carry
      carry >>= 8
    }
  }
}

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

function openPfx({ pfx, passwords, triesMsMax }: PfxInput): PfxResult {
  const until = performance.now() + triesMsMax
  let asn1: forge.asn1.Asn1
  try {
    asn1 = forge.asn1.fromDer(forge.util.createBuffer(Buffer.from(pfx)), { strict: true, parseAllBytes: false })
  } catch {
    return { problem: isCertificateAlone(pfx) ? 'no-key' : 'unreadable' }
  }
  let tried = 0
  for (const password of passwords) {
    if (tried > 0 && performance.now() > until) break
    tried++
    const result = openWith(asn1, password)
    if (!('problem' in result) || result.problem === 'no-key' || result.problem === 'too-many-rounds') return result
    if (result.problem === 'unreadable') return isCertificateAlone(pfx) ? { problem: 'no-key' } : result
  }
  return { problem: 'wrong-password', tried }
}

function openWith(
  asn1: forge.asn1.Asn1,
  password: Uint8Array,
): Exclude<PfxResult, { tried: number }> | { problem: 'wrong-password' } {
  const hasMac = Array.isArray(asn1.value) && asn1.value.length > 2
  let problem: 'wrong-password' | 'unreadable' | undefined
  const attempts = attemptsFor(password)
  try {
    for (attempt of attempts) {
      hasDecrypted = false
      let isOpened = false
      try {
        const opened = forge.pkcs12.pkcs12FromAsn1(asn1, false, '')
        isOpened = true
        return pairUp(opened)
      } catch (error) {
        // The password was right, but the contents cannot be read.
        if (isOpened) return { problem: 'unreadable' }
        if (error instanceof TooManyRounds) return { problem: 'too-many-rounds' }
        if (!isPasswordFailure(error, hasMac)) problem = 'unreadable'
        else problem ??= 'wrong-password'
      }
    }
  } finally {
    attempt = none
    for (const { wide, plain } of attempts) for (const bytes of [wide, plain]) bytes.fill(0)
  }
  return { problem: problem ?? 'unreadable' }
}

function attemptsFor(password: Uint8Array): Attempt[] {
  if (password.length === 0) return [none, { ...none, wide: Buffer.alloc(2) }]
  if (password.every((byte) => byte >= 0x20 && byte <= 0x7e)) return [bytewise(password)]
  const text = Buffer.from(password).toString()
  return [
    attemptWith(text.normalize('NFC'), 'utf8'),
    attemptWith(text.normalize('NFD'), 'utf8'),
    // Programs that encode a password as one byte per character.
    attemptWith(text.normalize('NFC'), 'latin1'),
    // OpenSSL before 1.1 took each byte of the UTF-8 password for a character.
    bytewise(Buffer.from(text.normalize('NFC'))),
  ]
}

function attemptWith(text: string, encoding: 'utf8' | 'latin1'): Attempt {
  return { wide: Buffer.from(`${text}\0`, 'utf16le').swap16(), plain: Buffer.from(text, encoding) }
}

function bytewise(password: Uint8Array): Attempt {
  const wide = Buffer.alloc(2 * password.length + 2)
  for (const [at, byte] of password.entries()) wide[2 * at + 1] = byte
  return { wide, plain: Buffer.from(password) }
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

  const pairs = certificates.flatMap((leaf) => {
    const key = keys.find((key) => leaf.checkPrivateKey(key))
    return key ? [{ leaf, key }] : []
  })
  if (pairs.length === 0) return { problem: 'no-key' }
  // The chain is built without certificates of other holders.
  const withoutKey = certificates.filter((certificate) => !pairs.some(({ leaf }) => leaf === certificate))
  return {
    pairs: pairs.map(({ leaf, key }) => ({
      key: pem(key),
      certificate: leaf.toString(),
      chain: chainOf(leaf, withoutKey),
    })),
  }
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

parentPort?.on('message', (input: PfxInput) => {
  const result = openPfx(input)
  for (const password of input.passwords) password.fill(0)
  parentPort?.postMessage(result)
})
parentPort?.postMessage('ready')
