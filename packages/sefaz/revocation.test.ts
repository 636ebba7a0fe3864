import { createPrivateKey, randomBytes, sign, type X509Certificate } from 'node:crypto'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AlgorithmIdentifier,
  Certificate,
  DistributionPointName,
  Extension,
  GeneralName,
  IssuingDistributionPoint,
  id_ce_cRLNumber,
  id_ce_deltaCRLIndicator,
  id_ce_issuingDistributionPoint,
  RevokedCertificate,
  TBSCertList,
  Time,
} from '@peculiar/asn1-x509'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../tests/support/seed.ts'
import { listAddresses, readRevocationList } from './chain.ts'
import { issue, newKey, type TestCertificateFiles } from './testing.ts'

// The lists are written by another program's idea of RFC 5280: @peculiar/asn1-x509.

const address = 'http://lcr.exemplo.com.br/ac.crl'
const authority = issue({ commonName: 'AC DE TESTE', authority: true, keyUsage: 0x06 })
const stranger = issue({ commonName: 'AC DE TESTE', authority: true })
const leaf = issue({ commonName: 'EMPRESA LTDA', issuer: authority, lists: [address] })
const other = issue({ commonName: 'OUTRA LTDA', issuer: authority, lists: [address] })

const [thisUpdate, nextUpdate, revokedAt] = [
  '2026-07-01T06:00:00Z',
  '2026-07-01T12:00:00Z',
  '2026-06-30T15:04:05Z',
].map((text) => new Date(text)) as [Date, Date, Date]

const sha256WithRsa = '1.2.840.113549.1.1.11'

interface ListOptions {
  issuer?: TestCertificateFiles
  revoked?: { serial: Uint8Array; at?: Date }[]
  extensions?: Extension[]
  algorithm?: string
  digest?: string
  next?: Date | null
  /** Changes the bytes before they are signed. */
  change?: (signed: Buffer) => void
}

const bufferOf = (bytes: Uint8Array) => new Uint8Array(bytes).buffer as ArrayBuffer
const serialOf = ({ x509 }: TestCertificateFiles) => new Uint8Array(fieldsOf(x509).serialNumber)
const fieldsOf = (x509: X509Certificate) => AsnConvert.parse(bufferOf(x509.raw), Certificate).tbsCertificate
const algorithmOf = (oid: string) =>
  new AlgorithmIdentifier({
    algorithm: oid,
    parameters: oid.startsWith('1.2.840.113549') ? new Uint8Array([5, 0]).buffer : undefined,
  })

function makeList({
  issuer = authority,
  revoked = [],
  extensions = [],
  algorithm = sha256WithRsa,
  digest = 'sha256',
  next = nextUpdate,
  change,
}: ListOptions = {}): Uint8Array {
  const signed = new TBSCertList({
    version: 1,
    signature: algorithmOf(algorithm),
    issuer: fieldsOf(issuer.x509).subject,
    thisUpdate: new Time(thisUpdate),
    ...(next && { nextUpdate: new Time(next) }),
    ...(revoked.length > 0 && {
      revokedCertificates: revoked.map(
        ({ serial, at = revokedAt }) =>
          new RevokedCertificate({ userCertificate: bufferOf(serial), revocationDate: new Time(at) }),
      ),
    }),
    ...(extensions.length > 0 && { crlExtensions: extensions }),
  })
  const bytes = Buffer.from(AsnConvert.serialize(signed))
  change?.(bytes)
  const signature = sign(digest, bytes, createPrivateKey(issuer.key))
  const parts = [
    bytes,
    Buffer.from(AsnConvert.serialize(algorithmOf(algorithm))),
    element(0x03, [Buffer.of(0), signature]),
  ]
  return element(0x30, parts)
}

function element(tag: number, parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const header = Buffer.from([tag, 0x83, 0, 0, 0])
  header.writeUIntBE(content.length, 2, 3)
  return Buffer.concat([header, content])
}

const extension = (extnID: string, critical: boolean, value: unknown = 1) =>
  new Extension({
    extnID,
    critical,
    extnValue: new OctetString(
      typeof value === 'number' ? new Uint8Array([2, 1, value]).buffer : AsnConvert.serialize(value),
    ),
  })
const scope = (fields: Partial<IssuingDistributionPoint>) => [
  extension(id_ce_issuingDistributionPoint, true, new IssuingDistributionPoint(fields)),
]
const named = (uri: string) => ({
  distributionPoint: new DistributionPointName({ fullName: [new GeneralName({ uniformResourceIdentifier: uri })] }),
})

const read = (list: Uint8Array, issuer = authority) => readRevocationList(list, issuer.x509)
const find = async (options: ListOptions) => (await read(makeList(options), options.issuer)).find(leaf.x509)
const ofLeaf = { serial: serialOf(leaf) }
const ofOther = { serial: serialOf(other) }

describe('where the list is', () => {
  test('is read from the certificate: http and https only, in their order', () => {
    const lists = [
      'ldap://diretorio/ac',
      address,
      'file:///etc/passwd',
      'no address',
      'https://dois.exemplo.com.br/ac.crl',
    ]
    const { x509 } = issue({ commonName: 'X', issuer: authority, lists })
    expect(listAddresses(x509)).toEqual([address, 'https://dois.exemplo.com.br/ac.crl'])
  })

  test('is nowhere when the certificate does not say', () => {
    expect(listAddresses(authority.x509)).toEqual([])
  })
})

describe('a list', () => {
  test('tells when a certificate was revoked, and that another was not', async () => {
    const list = await read(makeList({ revoked: [ofOther, { ...ofLeaf, at: new Date('2026-01-02T03:04:05Z') }] }))
    expect(list.find(leaf.x509)).toEqual(new Date('2026-01-02T03:04:05Z'))
    expect(list.find(other.x509)).toEqual(revokedAt)
    expect((await read(makeList({ revoked: [ofOther] }))).find(leaf.x509)).toBeNull()
    expect((await read(makeList())).find(leaf.x509)).toBeNull()
  })

  test('tells until when it holds, or not', async () => {
    expect((await read(makeList())).nextUpdate).toEqual(nextUpdate)
    expect((await read(makeList({ next: new Date('2057-03-04T05:06:07Z') }))).nextUpdate).toEqual(
      new Date('2057-03-04T05:06:07Z'),
    )
    const open = await read(makeList({ next: null, revoked: [ofLeaf] }))
    expect(open.nextUpdate).toBeNull()
    expect(open.find(leaf.x509)).toEqual(revokedAt)
  })

  test('of many entries is searched to its end', async () => {
    const many = Array.from({ length: 3_000 }, () => ({ serial: new Uint8Array([0x11, ...randomBytes(15)]) }))
    expect(await find({ revoked: many })).toBeNull()
    expect(await find({ revoked: [...many, ofLeaf] })).toEqual(revokedAt)
  })

  test.each([
    ['1.2.840.113549.1.1.12', 'sha384'],
    ['1.2.840.113549.1.1.13', 'sha512'],
  ])('may be signed with RSA and %s', async (algorithm, digest) => {
    expect(await find({ algorithm, digest, revoked: [ofLeaf] })).toEqual(revokedAt)
  })

  test.each([
    ['1.2.840.10045.4.3.2', 'sha256'],
    ['1.2.840.10045.4.3.3', 'sha384'],
    ['1.2.840.10045.4.3.4', 'sha512'],
  ])('may be signed with ECDSA and %s', async (algorithm, digest) => {
    const issuer = issue({ commonName: 'AC', authority: true, key: newKey('ec') })
    expect(await find({ issuer, algorithm, digest, revoked: [ofLeaf] })).toEqual(revokedAt)
    await expect(read(makeList({ issuer, algorithm: sha256WithRsa }), issuer)).rejects.toThrow(/algorithm/)
  })

  test('with an algorithm that is not verified here is not believed', async () => {
    await expect(find({ algorithm: '1.2.840.113549.1.1.5', digest: 'sha1' })).rejects.toThrow(/algorithm/)
  })

  test('of another issuer is not believed, whatever its name', async () => {
    await expect(read(makeList({ issuer: stranger }))).rejects.toThrow(/not signed by the issuer/)
    const renamed = issue({ commonName: 'AC OUTRA', authority: true, key: authority.key })
    await expect(read(makeList({ issuer: renamed }))).rejects.toThrow(/of another issuer/)
  })

  test('of a certificate that may not sign lists is not believed', async () => {
    const issuer = issue({ commonName: 'AC', authority: true, keyUsage: 0x04 })
    await expect(read(makeList({ issuer }), issuer)).rejects.toThrow(/may not sign/)
    const company = issue({ commonName: 'EMPRESA' })
    await expect(read(makeList({ issuer: company }), company)).rejects.toThrow(/may not sign/)
  })

  test('that was altered anywhere is not believed', async () => {
    const list = makeList({ revoked: [ofOther] })
    await fc.assert(
      fc.asyncProperty(fc.nat(list.length - 1), fc.integer({ min: 1, max: 255 }), async (place, difference) => {
        const altered = list.slice()
        altered[place]! ^= difference
        await expect(read(altered)).rejects.toThrow()
      }),
      { numRuns: runs(200) },
    )
  })

  test('that was cut off or is no list at all is not believed', async () => {
    const list = makeList({ revoked: [ofLeaf] })
    await fc.assert(
      fc.asyncProperty(fc.nat(list.length - 1), fc.uint8Array({ maxLength: 300 }), async (length, bytes) => {
        await expect(read(list.subarray(0, length))).rejects.toMatchObject({ name: 'RevocationListError' })
        await expect(read(bytes)).rejects.toMatchObject({ name: 'RevocationListError' })
      }),
      { numRuns: runs(100) },
    )
  })

  test('of changes, or with a critical extension that nobody here understands, is not believed', async () => {
    await expect(find({ extensions: [extension(id_ce_deltaCRLIndicator, true)] })).rejects.toThrow(/not understood/)
    await expect(find({ extensions: [extension('1.2.3.4', true)] })).rejects.toThrow(/not understood/)
    const harmless = [extension(id_ce_cRLNumber, false), extension('1.2.3.4', false)]
    expect(await find({ extensions: harmless, revoked: [ofLeaf] })).toEqual(revokedAt)
  })

  test('of a part of the certificates tells of no other part', async () => {
    expect(await find({ extensions: scope({ onlyContainsUserCerts: true }), revoked: [ofLeaf] })).toEqual(revokedAt)
    expect(await find({ extensions: scope(named(address)), revoked: [ofLeaf] })).toEqual(revokedAt)
    const between = issue({ commonName: 'AC INTERMEDIARIA', authority: true, issuer: authority })
    const ofAuthorities = await read(makeList({ extensions: scope({ onlyContainsCACerts: true }) }))
    expect(ofAuthorities.find(between.x509)).toBeNull()
    expect(() => ofAuthorities.find(leaf.x509)).toThrow(/about other certificates/)
    for (const fields of [
      named('http://lcr.exemplo.com.br/outra.crl'),
      { indirectCRL: true },
      { onlyContainsAttributeCerts: true },
    ])
      await expect(find({ extensions: scope(fields) })).rejects.toThrow(/about other certificates/)
  })

  test('with an entry that cannot be read does not say that nothing was revoked', async () => {
    const marker = Buffer.from('10203040506070', 'hex')
    // The first entry claims to be longer than the list.
    const lengthened = (signed: Buffer) => signed.fill(0x7f, signed.indexOf(marker) - 3, signed.indexOf(marker) - 2)
    const serial = new Uint8Array(marker)
    expect(await find({ revoked: [{ serial }] })).toBeNull()
    await expect(find({ revoked: [{ serial }, ofLeaf], change: lengthened })).rejects.toThrow(/cannot be read/)
  })
})
