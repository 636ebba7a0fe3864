import { type KeyObject, sign, type X509Certificate } from 'node:crypto'
import forge from 'node-forge'

/** A certificate that was taken back; `at`: milliseconds. */
export interface Revoked {
  serialNumber: string
  at: number
}

const { asn1 } = forge
const { Class, Type } = asn1

const sequence = (...parts: forge.asn1.Asn1[]) => asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, parts)
const plain = (type: number, bytes: string) => asn1.create(Class.UNIVERSAL, type, false, bytes)
const derOf = (node: forge.asn1.Asn1) => Buffer.from(asn1.toDer(node).getBytes(), 'binary')

const listMs = 86_400_000

/** The value of cRLDistributionPoints with one address (RFC 5280 §4.2.1.13). */
export function encodePoint(address: string): string {
  const wrap = (...parts: forge.asn1.Asn1[]) => asn1.create(Class.CONTEXT_SPECIFIC, 0, true, parts)
  const name = asn1.create(Class.CONTEXT_SPECIFIC, 6, false, address)
  return asn1.toDer(sequence(sequence(wrap(wrap(name))))).getBytes()
}

/** A list of revoked certificates that holds for a day from `now`, in DER (RFC 5280 §5). */
export function makeRevocationList(
  issuer: { certificate: X509Certificate; key: KeyObject },
  revoked: readonly Revoked[],
  now: number,
): Buffer {
  const algorithm = sequence(plain(Type.OID, asn1.oidToDer('1.2.840.113549.1.1.11').getBytes()), plain(Type.NULL, ''))
  const time = (at: number) => plain(Type.UTCTIME, asn1.dateToUtcTime(new Date(at)))
  const serial = (hex: string) =>
    Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('latin1')
  const entries = revoked.map(({ serialNumber, at }) => sequence(plain(Type.INTEGER, serial(serialNumber)), time(at)))
  const signed = sequence(
    plain(Type.INTEGER, '\x01'),
    algorithm,
    subjectOf(issuer.certificate),
    time(now),
    time(now + listMs),
    ...(entries.length > 0 ? [sequence(...entries)] : []),
  )
  const signature = sign('sha256', derOf(signed), issuer.key).toString('latin1')
  return derOf(sequence(signed, algorithm, plain(Type.BITSTRING, `\0${signature}`)))
}

// As it stands in the certificate, byte for byte.
function subjectOf(certificate: X509Certificate): forge.asn1.Asn1 {
  const whole = asn1.fromDer(forge.util.createBuffer(certificate.raw.toString('latin1')))
  const fields = (whole.value as forge.asn1.Asn1[])[0]!.value as forge.asn1.Asn1[]
  return fields[5]!
}
