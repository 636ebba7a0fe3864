import { X509Certificate } from 'node:crypto'

/**
 * Whether a certificate was issued, over the authorities that came with it, by one of `roots` (PEM), all valid at `now`: then only its
 * holder can have the private key (RFC 5280 §6, without revocation, which the web service checks).
 */
export function chainsTo(
  { certificate, chain }: { certificate: string; chain: string[] },
  roots: string[],
  now = new Date(),
): boolean {
  const trusted = roots.flatMap(readAll)
  const authorities = [...trusted, ...chain.flatMap(readAll)]
  let at = new X509Certificate(certificate)
  // A chain of ICP-Brasil has four links at most; ten is the default of OpenSSL.
  for (let depth = 0; depth < 10; depth++) {
    if (now < at.validFromDate || now > at.validToDate) return false
    if (trusted.some((root) => root.fingerprint256 === at.fingerprint256)) return true
    const issuer = authorities.find(
      (authority) => authority.ca && at.checkIssued(authority) && at.verify(authority.publicKey),
    )
    if (!issuer || issuer.fingerprint256 === at.fingerprint256) return false
    at = issuer
  }
  return false
}

// A PEM file of authorities holds many.
function readAll(pem: string): X509Certificate[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (one) => new X509Certificate(one),
  )
}
