import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  getDiffieHellman,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { text } from 'node:stream/consumers'
import type { TlsOptions } from 'node:tls'
import forge from 'node-forge'
import { SefazError } from './error.ts'

// Certificates, .pfx files and a server for the tests of this package; nothing here is exported from it.

type Asn1 = forge.asn1.Asn1

const { asn1, pki } = forge
const { Class, Type } = asn1

const make = (type: number, value: string | Asn1[], tagClass = Class.UNIVERSAL) =>
  asn1.create(tagClass, type, Array.isArray(value), value)
const sequence = (...value: Asn1[]) => make(Type.SEQUENCE, value)
const set = (...value: Asn1[]) => make(Type.SET, value)
const oid = (text: string) => make(Type.OID, asn1.oidToDer(text).getBytes())
const octets = (bytes: string) => make(Type.OCTETSTRING, bytes)
const integer = (value: number) => make(Type.INTEGER, asn1.integerToDer(value).getBytes())
const nothing = () => make(Type.NULL, '')
const context = (tag: number, value: string | Asn1[]) => make(tag, value, Class.CONTEXT_SPECIFIC)
const der = (node: Asn1) => asn1.toDer(node).getBytes()
const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
const fromDer = (bytes: Uint8Array) => asn1.fromDer(forge.util.createBuffer(Buffer.from(bytes)))

const stringTypes = { octets: Type.OCTETSTRING, utf8: Type.UTF8, printable: Type.PRINTABLESTRING, ia5: Type.IA5STRING }

interface OtherName {
  oid: string
  text: string
  type?: keyof typeof stringTypes
}

export interface TestCertificateFiles {
  /** PEM, PKCS#8. */
  key: string
  /** PEM. */
  certificate: string
  x509: X509Certificate
  subject: Asn1
}

export interface IssueOptions {
  commonName: string
  state?: string
  otherNames?: OtherName[]
  hosts?: string[]
  from?: Date
  to?: Date
  issuer?: TestCertificateFiles
  authority?: boolean
  key?: string
}

export const cnpjName = (text: string, type?: OtherName['type']): OtherName => ({ oid: '2.16.76.1.3.3', text, type })

export function newKey(kind: 'rsa' | 'ec' = 'rsa'): string {
  const { privateKey } =
    kind === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** A certificate; self-signed when no issuer is given. */
export function issue(options: IssueOptions): TestCertificateFiles {
  const key = options.key ?? newKey()
  const signer = createPrivateKey(options.issuer?.key ?? key)
  const algorithm =
    signer.asymmetricKeyType === 'ec'
      ? sequence(oid('1.2.840.10045.4.3.2'))
      : sequence(oid('1.2.840.113549.1.1.11'), nothing())
  const subject = nameOf(options.commonName, options.state)
  const from = options.from ?? new Date(Date.now() - 86_400_000)
  const to = options.to ?? new Date(Date.now() + 90 * 86_400_000)
  const tbs = sequence(
    context(0, [integer(2)]),
    make(Type.INTEGER, `\x01${latin1(randomBytes(8))}`),
    algorithm,
    options.issuer?.subject ?? subject,
    sequence(time(from), time(to)),
    subject,
    fromDer(createPublicKey(key).export({ type: 'spki', format: 'der' })),
    context(3, [sequence(...extensionsOf(options))]),
  )
  const signature = sign('sha256', Buffer.from(der(tbs), 'latin1'), signer)
  const bits = make(Type.BITSTRING, `\0${latin1(signature)}`)
  const x509 = new X509Certificate(Buffer.from(der(sequence(tbs, algorithm, bits)), 'latin1'))
  return { key, certificate: x509.toString(), x509, subject }
}

function nameOf(commonName: string, state?: string): Asn1 {
  const attribute = (id: string, text: string) => set(sequence(oid(id), make(Type.UTF8, forge.util.encodeUtf8(text))))
  const attributes = [attribute('2.5.4.10', 'ICP-Brasil'), attribute('2.5.4.3', commonName)]
  if (state) attributes.unshift(attribute('2.5.4.8', state))
  return sequence(...attributes)
}

function time(date: Date): Asn1 {
  return make(Type.GENERALIZEDTIME, asn1.dateToGeneralizedTime(date))
}

function extensionsOf({ authority, hosts = [], otherNames = [] }: IssueOptions): Asn1[] {
  const yes = make(Type.BOOLEAN, '\xff')
  const extensions = [sequence(oid('2.5.29.19'), yes, octets(der(sequence(...(authority ? [yes] : [])))))]
  const names = [
    ...hosts.map((host) => context(2, host)),
    ...otherNames.map(({ oid: id, text, type = 'octets' }) =>
      context(0, [oid(id), context(0, [make(stringTypes[type], text)])]),
    ),
  ]
  if (names.length > 0) extensions.push(sequence(oid('2.5.29.17'), octets(der(sequence(...names)))))
  return extensions
}

interface PfxOptions {
  certificates: TestCertificateFiles[]
  /** PEM; none when absent. */
  key?: string | readonly string[]
  password: string
  /** Encryption of the key; the certificates are encrypted only with rc2. */
  encryption?: 'aes256' | '3des' | 'rc2'
  iterations?: number
  macIterations?: number
  keyFirst?: boolean
  /** False parameters to declare for the encrypted key. */
  claim?: { iterations?: number; algorithm?: string }
}

/** A .pfx file as Windows (3DES key, RC2-40 certificates) or newer programs write it. */
export function makePfx(options: PfxOptions): Buffer {
  const { password, encryption = 'aes256', iterations = 2048, macIterations = 2048 } = options
  const certBags = options.certificates.map(({ x509 }) =>
    bag(pki.oids.certBag!, sequence(oid(pki.oids.x509Certificate!), context(0, [octets(latin1(x509.raw))]))),
  )
  const certificates = der(sequence(...certBags))
  const safes = [
    encryption === 'rc2' ? encryptedData(certificates, password, iterations) : data(certificates),
    ...(options.key ? [data(der(sequence(...[options.key].flat().map((key) => keyBag(key, options)))))] : []),
  ]
  const authSafe = der(sequence(...(options.keyFirst ? safes.reverse() : safes)))
  const salt = latin1(randomBytes(8))
  // A hostile count is never computed here: the reader must stop before it can compare the digest.
  const macKey = forge.pkcs12.generateKey(
    password,
    forge.util.createBuffer(salt),
    3,
    Math.min(macIterations, 100_000),
    20,
  )
  const digest = createHmac('sha1', Buffer.from(macKey.getBytes(), 'latin1')).update(authSafe, 'latin1').digest()
  const macData = sequence(
    sequence(sequence(oid(pki.oids.sha1!), nothing()), octets(latin1(digest))),
    octets(salt),
    integer(macIterations),
  )
  return Buffer.from(der(sequence(integer(3), data(authSafe), macData)), 'latin1')
}

function bag(id: string, content: Asn1): Asn1 {
  return sequence(oid(id), context(0, [content]))
}

function data(content: string): Asn1 {
  return sequence(oid(pki.oids.data!), context(0, [octets(content)]))
}

function keyBag(key: string, { password, encryption = 'aes256', iterations = 2048, claim }: PfxOptions): Asn1 {
  const info = fromDer(createPrivateKey(key).export({ type: 'pkcs8', format: 'der' }))
  const algorithm = encryption === 'rc2' ? '3des' : encryption
  // PBES2 takes the password as UTF-8, the old encryptions as UTF-16, which forge does by itself.
  const secret = algorithm === 'aes256' ? forge.util.encodeUtf8(password) : password
  const encrypted = pki.encryptPrivateKeyInfo(info, secret, { algorithm, count: iterations })
  const identifier = parts(parts(encrypted)[0])
  const parameters = algorithm === 'aes256' ? parts(parts(parts(identifier[1])[0])[1]) : parts(identifier[1])
  if (claim?.iterations) parameters[1] = integer(claim.iterations)
  if (claim?.algorithm) identifier[0] = oid(claim.algorithm)
  return bag(pki.oids.pkcs8ShroudedKeyBag!, encrypted)
}

function parts(node: Asn1 | undefined): Asn1[] {
  return Array.isArray(node?.value) ? node.value : []
}

function encryptedData(content: string, password: string, iterations: number): Asn1 {
  const salt = latin1(randomBytes(8))
  const derive = (id: number, length: number) =>
    forge.pkcs12.generateKey(password, forge.util.createBuffer(salt), id, iterations, length)
  const cipher = forge.rc2.createEncryptionCipher(derive(1, 5), 40)
  cipher.start(derive(2, 8))
  cipher.update(forge.util.createBuffer(content))
  cipher.finish()
  const algorithm = sequence(oid(pki.oids['pbewithSHAAnd40BitRC2-CBC']!), sequence(octets(salt), integer(iterations)))
  const encrypted = sequence(oid(pki.oids.data!), algorithm, context(0, cipher.output.getBytes()))
  return sequence(oid(pki.oids.encryptedData!), context(0, [sequence(integer(0), encrypted)]))
}

export interface TestServer extends AsyncDisposable {
  origin: string
  /** How many TLS connections were opened. */
  connections: () => number
}

/** An HTTPS server on loopback that demands a client certificate. */
export async function serve(
  identity: { server: TestCertificateFiles; clientAuthorities: TestCertificateFiles[]; tls?: TlsOptions },
  handle: (request: IncomingMessage, body: string, response: ServerResponse) => void,
): Promise<TestServer> {
  const server = createServer(
    {
      key: identity.server.key,
      cert: identity.server.certificate,
      ca: identity.clientAuthorities.map(({ certificate }) => certificate),
      requestCert: true,
      rejectUnauthorized: true,
      ...identity.tls,
    },
    (request, response) => void text(request).then((body) => handle(request, body, response)),
  )
  let connections = 0
  server.on('secureConnection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  return {
    origin: `https://localhost:${address.port}`,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Parameters of Diffie-Hellman with 1,024 bits (PEM). */
export const weakDh = (() => {
  const prime = `\0${latin1(getDiffieHellman('modp2').getPrime())}`
  const body = Buffer.from(der(sequence(make(Type.INTEGER, prime), integer(2))), 'latin1').toString('base64')
  return `-----BEGIN DH PARAMETERS-----\n${body}\n-----END DH PARAMETERS-----\n`
})()

/** The first answer of a server of before RFC 5746: TLS 1.2, ECDHE-RSA-AES128-GCM-SHA256, no extension. */
export function serverHelloWithoutRenegotiationInfo(): Buffer {
  const hello = Buffer.concat([Buffer.from([3, 3]), randomBytes(32), Buffer.from([0, 0xc0, 0x2f, 0])])
  return Buffer.concat([Buffer.from([22, 3, 3, 0, hello.length + 4, 2, 0, 0, hello.length]), hello])
}

/** The error with which a call fails. */
export async function failure(response: Promise<unknown>): Promise<SefazError> {
  const error = await response.then(
    () => null,
    (error: unknown) => error,
  )
  if (!(error instanceof SefazError)) throw error ?? new Error('the call succeeded')
  return error
}
