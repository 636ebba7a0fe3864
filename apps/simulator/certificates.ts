import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import forge from 'node-forge'
import { writePfx } from './pkcs12.ts'

/** Holder of a certificate: a company (`cnpj`) or a person (`cpf`). */
export interface CertificateSubject {
  cnpj?: string
  cpf?: string
  nome: string
  uf?: string
  /** Last instant of validity; a past one makes an expired certificate. */
  expires?: number
}

export interface IssuedCertificate {
  key: KeyObject
  certificate: X509Certificate
}

/** The simulator's certification authority: a root, and an intermediate that signs everything. */
export interface CertificationAuthority {
  /** PEM of the root, which clients must trust. */
  root: string
  /** PEM of the issuing authority, sent along by the server and put in every PFX. */
  readonly intermediate: string
  issue(holder: CertificateSubject, now: number, pair?: KeyObject): Promise<IssuedCertificate>
  issueServer(now: number): Promise<IssuedCertificate>
  /** Whether the certificate of a client or of a signature is one of ours and in its validity. */
  check(certificate: X509Certificate, now: number): 'ok' | 'foreign' | 'expired' | 'not-yet-valid' | 'revoked'
  /** From now on server certificates name `origin` as the place of their issuer. */
  publishAt(origin: string): void
  /** Revokes one certificate or all issued to a CNPJ; returns their serial numbers. */
  revoke(which: { serialNumber?: string; cnpj?: string }): string[]
}

const dayMs = 86_400_000
const generatePair = promisify(generateKeyPair)

export async function newPrivateKey(): Promise<KeyObject> {
  return (await generatePair('rsa', { modulusLength: 2048 })).privateKey
}

/** The key `name` that is kept in `directory`; made the first time, which takes long. */
export async function keptKey(directory: string, name: string): Promise<KeyObject> {
  const file = join(directory, 'keys', `${name}.pem`)
  if (existsSync(file)) return createPrivateKey(readFileSync(file))
  const key = await newPrivateKey()
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, key.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
  return key
}

/**
 * Opens or creates the authority in `directory`; safe for a server and a command line at once.
 * `trust`: further accepted certificates in PEM, of authorities or holders.
 */
export async function openCertificationAuthority(
  directory: string,
  now: number,
  trust: string[] = [],
): Promise<CertificationAuthority> {
  const folder = join(directory, 'ca')
  if (!existsSync(join(folder, 'intermediate.key'))) await createAuthority(directory, folder, now)
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const root = read('root.pem')
  const intermediate = read('intermediate.pem')
  const issuer = { certificate: new X509Certificate(intermediate), key: createPrivateKey(read('intermediate.key')) }
  const lines = (name: string) => (existsSync(join(folder, name)) ? read(name).split('\n').filter(Boolean) : [])
  let origin = lines('origin')[0]
  const revoked = new Set(lines('revoked'))
  const blocks = trust.flatMap((pem) => pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [])
  const trusted = [issuer.certificate, ...blocks.map((block) => new X509Certificate(block))]
  const isIssued = (certificate: X509Certificate) =>
    trusted.some((one) => certificate.checkIssued(one) && certificate.verify(one.publicKey))

  return {
    root,
    intermediate,
    issue: async (holder, at, pair) => {
      const key = pair ?? (await newPrivateKey())
      const end = holder.expires ?? at + 365 * dayMs
      const start = Math.min(at - dayMs, end - 365 * dayMs)
      const certificate = makeCertificate(subjectOf(holder), key, issuer, { start, end }, holderExtensions(holder))
      // The command line issues beside a running server.
      const { serialNumber } = certificate
      appendFileSync(join(folder, 'issued'), `${JSON.stringify({ serialNumber, cnpj: holder.cnpj })}\n`)
      return { key, certificate }
    },
    issueServer: async (at) => {
      const key = await keptKey(directory, 'server')
      const subject = attributes(['C', 'BR'], ['O', 'ICP-Brasil'], ['OU', 'Simulador'], ['CN', 'localhost'])
      const validity = { start: at - 400 * dayMs, end: at + 400 * dayMs }
      return {
        key,
        certificate: makeCertificate(subject, key, issuer, validity, [
          ...serverExtensions(),
          ...issuerExtensions(origin),
        ]),
      }
    },
    check: (certificate, at) => {
      // A certificate named as trusted by a person is accepted whatever its dates.
      if (trusted.some((one) => one.fingerprint256 === certificate.fingerprint256)) return 'ok'
      if (!isIssued(certificate)) return 'foreign'
      if (revoked.has(certificate.serialNumber)) return 'revoked'
      if (at > certificate.validToDate.getTime()) return 'expired'
      return at < certificate.validFromDate.getTime() ? 'not-yet-valid' : 'ok'
    },
    publishAt: (place) => {
      origin = place
      writeFileSync(join(folder, 'origin'), place)
    },
    revoke: ({ serialNumber, cnpj }) => {
      const issued = lines('issued').map((line) => JSON.parse(line))
      const serials = serialNumber
        ? [serialNumber]
        : issued.filter((one) => one.cnpj === cnpj).map((one) => one.serialNumber)
      const fresh = serials.filter((one) => !revoked.has(one))
      for (const one of fresh) {
        revoked.add(one)
        appendFileSync(join(folder, 'revoked'), `${one}\n`)
      }
      return fresh
    },
  }
}

/** The PFX file of a holder as certification authorities deliver it: with chain, unless `alone`. */
export async function issuePfx(
  authority: CertificationAuthority,
  holder: CertificateSubject & { senha: string; legacy?: boolean; alone?: boolean },
  now: number,
  pair?: KeyObject,
): Promise<Uint8Array> {
  const { key, certificate } = await authority.issue(holder, now, pair)
  const chain = [certificate, new X509Certificate(authority.intermediate), new X509Certificate(authority.root)]
  return writePfx({
    key,
    certificates: (holder.alone ? [certificate] : chain).map((one) => one.raw),
    friendlyName: commonName(holder),
    password: holder.senha,
    legacy: holder.legacy ?? false,
  })
}

async function createAuthority(directory: string, folder: string, now: number): Promise<void> {
  mkdirSync(directory, { recursive: true })
  const draft = mkdtempSync(join(directory, 'ca-'))
  const validity = { start: now - 400 * dayMs, end: now + 20 * 365 * dayMs }
  const rootKey = await newPrivateKey()
  const rootName = attributes(
    ['C', 'BR'],
    ['O', 'ICP-Brasil'],
    ['OU', 'Simulador Vigia Fiscal - sem valor legal'],
    ['CN', 'Autoridade Certificadora Raiz Brasileira Simulada v10'],
  )
  const root = makeCertificate(rootName, rootKey, null, validity, authorityExtensions())
  const key = await newPrivateKey()
  const intermediate = makeCertificate(
    intermediateName(),
    key,
    { certificate: root, key: rootKey },
    validity,
    authorityExtensions(),
  )
  const pem = (secret: KeyObject) => secret.export({ format: 'pem', type: 'pkcs8' })
  writeFileSync(join(draft, 'root.pem'), root.toString())
  writeFileSync(join(draft, 'root.key'), pem(rootKey), { mode: 0o600 })
  writeFileSync(join(draft, 'intermediate.pem'), intermediate.toString())
  writeFileSync(join(draft, 'intermediate.key'), pem(key), { mode: 0o600 })
  try {
    renameSync(draft, folder)
  } catch (error) {
    // Another process was faster: its authority is the one that counts.
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(join(folder, 'intermediate.key'))) throw error
  }
}

function intermediateName(): forge.pki.CertificateField[] {
  return attributes(
    ['C', 'BR'],
    ['O', 'ICP-Brasil'],
    ['OU', 'Secretaria da Receita Federal do Brasil - RFB'],
    ['CN', 'AC SIMULADOR VIGIA RFB v5'],
  )
}

function makeCertificate(
  subject: forge.pki.CertificateField[],
  key: KeyObject,
  issuer: IssuedCertificate | null,
  validity: { start: number; end: number },
  extensions: object[],
): X509Certificate {
  const certificate = forge.pki.createCertificate()
  const publicPem = createPublicKey(key).export({ format: 'pem', type: 'spki' }).toString()
  certificate.publicKey = forge.pki.publicKeyFromPem(publicPem)
  certificate.serialNumber = `4${randomBytes(15).toString('hex')}`.padStart(32, '0')
  certificate.validity.notBefore = new Date(validity.start)
  certificate.validity.notAfter = new Date(validity.end)
  certificate.setSubject(subject)
  const issuerForge = issuer === null ? null : forge.pki.certificateFromPem(issuer.certificate.toString())
  certificate.setIssuer(issuerForge === null ? subject : issuerForge.subject.attributes)
  const issuerPublicKey = issuerForge === null ? certificate.publicKey : issuerForge.publicKey
  const keyIdentifier = forge.pki.getPublicKeyFingerprint(issuerPublicKey as forge.pki.rsa.PublicKey, {
    type: 'RSAPublicKey',
  })
  certificate.setExtensions([
    ...extensions,
    { name: 'subjectKeyIdentifier' },
    { name: 'authorityKeyIdentifier', keyIdentifier: keyIdentifier.getBytes() },
  ])

  // Signs by node:crypto, because node-forge takes some hundred milliseconds. A draft without
  // signature has the part to sign.
  certificate.siginfo.algorithmOid = sha256WithRsa
  certificate.signatureOid = sha256WithRsa
  certificate.signature = ''
  const draft = forge.pki.certificateToAsn1(certificate)
  const signedPart = Array.isArray(draft.value) ? draft.value[0] : undefined
  if (signedPart === undefined) throw new Error('certificate without a signed part')
  const signature = sign('sha256', derOf(signedPart), issuer === null ? key : issuer.key)
  certificate.signature = signature.toString('binary')
  return new X509Certificate(derOf(forge.pki.certificateToAsn1(certificate)))
}

const sha256WithRsa = '1.2.840.113549.1.1.11'

function derOf(node: forge.asn1.Asn1): Buffer {
  return Buffer.from(forge.asn1.toDer(node).getBytes(), 'binary')
}

function subjectOf(holder: CertificateSubject): forge.pki.CertificateField[] {
  return attributes(
    ['C', 'BR'],
    ['O', 'ICP-Brasil'],
    ['ST', holder.uf ?? 'SP'],
    ['OU', 'Secretaria da Receita Federal do Brasil - RFB'],
    ['OU', holder.cnpj === undefined ? 'RFB e-CPF A1' : 'RFB e-CNPJ A1'],
    ['OU', 'AC SIMULADOR VIGIA RFB v5'],
    ['CN', commonName(holder)],
  )
}

// X.520 limits the common name to 64 characters; the certification authorities cut the name, never the number.
function commonName(holder: CertificateSubject): string {
  const suffix = `:${holder.cnpj ?? holder.cpf ?? ''}`
  return `${holder.nome.trim().slice(0, 64 - suffix.length)}${suffix}`
}

function attributes(...pairs: [string, string][]): forge.pki.CertificateField[] {
  return pairs.map(([shortName, value]) => {
    const field: forge.pki.CertificateField = { shortName, value }
    const { PRINTABLESTRING, UTF8 } = forge.asn1.Type
    return Object.assign(field, { valueTagClass: shortName === 'C' ? PRINTABLESTRING : UTF8 }) satisfies object
  })
}

function authorityExtensions(): object[] {
  return [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
  ]
}

/** Path at which the simulator publishes its certificate authority. */
export const issuerPath = '/ac.crt'

// authorityInfoAccess with caIssuers (RFC 5280 §4.2.2.1).
function issuerExtensions(origin: string | undefined): object[] {
  if (!origin) return []
  const { asn1 } = forge
  const make = (type: number, value: string | forge.asn1.Asn1[], tagClass = asn1.Class.UNIVERSAL) =>
    asn1.create(tagClass, type, Array.isArray(value), value)
  const access = make(asn1.Type.SEQUENCE, [
    make(asn1.Type.OID, asn1.oidToDer('1.3.6.1.5.5.7.48.2').getBytes()),
    make(6, `${origin}${issuerPath}`, asn1.Class.CONTEXT_SPECIFIC),
  ])
  return [
    { id: '1.3.6.1.5.5.7.1.1', critical: false, value: asn1.toDer(make(asn1.Type.SEQUENCE, [access])).getBytes() },
  ]
}

function holderExtensions(holder: CertificateSubject): object[] {
  return [
    { name: 'basicConstraints', cA: false, critical: true },
    { name: 'keyUsage', digitalSignature: true, nonRepudiation: true, keyEncipherment: true, critical: true },
    { name: 'extKeyUsage', clientAuth: true, emailProtection: true },
    { id: '2.5.29.17', critical: false, value: alternativeNames(holder) },
  ]
}

// The hosts of the real services, for clients whose name resolution points them here.
const officialHosts = ['www', 'www1', 'hom1'].flatMap((host) => [
  `${host}.nfe.fazenda.gov.br`,
  `${host}.cte.fazenda.gov.br`,
])
const authorizerHosts = [
  'cte.fazenda.mg.gov.br',
  'hcte.fazenda.mg.gov.br',
  'producao.cte.ms.gov.br',
  'homologacao.cte.ms.gov.br',
  'cte.sefaz.mt.gov.br',
  'homologacao.sefaz.mt.gov.br',
  'cte.fazenda.pr.gov.br',
  'homologacao.cte.fazenda.pr.gov.br',
  'nfe.fazenda.sp.gov.br',
  'homologacao.nfe.fazenda.sp.gov.br',
  'cte.svrs.rs.gov.br',
  'cte-homologacao.svrs.rs.gov.br',
]

function serverExtensions(): object[] {
  const names = ['localhost', ...officialHosts, ...authorizerHosts].map((value) => ({ type: 2, value }))
  return [
    { name: 'basicConstraints', cA: false, critical: true },
    { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames: [...names, { type: 7, ip: '127.0.0.1' }, { type: 7, ip: '::1' }] },
  ]
}

// otherName fields of DOC-ICP-04: 3.4 person responsible (birth, CPF, PIS, RG, issuer of the RG), 3.2 its name, 3.3 CNPJ,
// 3.7 CEI; 3.1 the holder of an e-CPF, in the form of 3.4.
function alternativeNames(holder: CertificateSubject): string {
  const { asn1 } = forge
  const person = (cpf: string) => `01011980${cpf}${'0'.repeat(11)}${'0'.repeat(15)}SSP${holder.uf ?? 'SP'}`
  const fields: [string, string][] =
    holder.cnpj === undefined
      ? [
          ['2.16.76.1.3.1', person(holder.cpf ?? '52998224725')],
          ['2.16.76.1.3.5', '0'.repeat(19)],
          ['2.16.76.1.3.6', '0'.repeat(12)],
        ]
      : [
          ['2.16.76.1.3.4', person(holder.cpf ?? '52998224725')],
          ['2.16.76.1.3.2', 'FULANO DE TAL RESPONSAVEL'],
          ['2.16.76.1.3.3', holder.cnpj],
          ['2.16.76.1.3.7', '0'.repeat(12)],
        ]
  const names = fields.map(([id, value]) =>
    asn1.create(asn1.Class.CONTEXT_SPECIFIC, 0, true, [
      asn1.create(asn1.Class.UNIVERSAL, asn1.Type.OID, false, asn1.oidToDer(id).getBytes()),
      asn1.create(asn1.Class.CONTEXT_SPECIFIC, 0, true, [
        asn1.create(asn1.Class.UNIVERSAL, asn1.Type.OCTETSTRING, false, value),
      ]),
    ]),
  )
  const email = asn1.create(asn1.Class.CONTEXT_SPECIFIC, 1, false, 'fiscal@example.com')
  return asn1.toDer(asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SEQUENCE, true, [email, ...names])).getBytes()
}
