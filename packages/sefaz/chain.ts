import { X509Certificate } from 'node:crypto'

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
