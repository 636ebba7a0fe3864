import { constants, type X509Certificate } from 'node:crypto'
import type { TlsOptions } from 'node:tls'
import type { CertificationAuthority, IssuedCertificate } from '../certificates.ts'

/** How the hosts behave instead, as real ones were reported to. */
export const hostModes = [
  /** The certificate is asked for after the request, by renegotiation (IIS). */
  'afterRequest',
  /** The host does not send the authority that issued its certificate. */
  'leafOnly',
  /** Diffie-Hellman with 1,024 bits. */
  'weakDh',
  'tls13',
  /** Every request gets the 403 page of IIS. */
  'iis403',
  /** HTTP where TLS is expected. */
  'plainHttp',
] as const

export type HostMode = (typeof hostModes)[number]

// The second group of Oakley (RFC 2409 §6.2).
const weakParameters = `-----BEGIN DH PARAMETERS-----
MIGHAoGBAP//////////yQ/aoiFowjTExmKLgNwc0SkCTgiKZ8x0Agu+pjsTmyJR
Sgh5jjQE3e+VGbPNOkMbMCsKbfJfFDdP4TVtbVHCReSFtXZiXn7G9ExC6aY37WsL
/1y29Aa37e44a/taiZ+lrp8kEXxLH+ZJKGZR7OZTgf//////////AgEC
-----END DH PARAMETERS-----
`

/** The options of TLS of a host in this mode. */
export function tlsOptionsOf(
  mode: HostMode | undefined,
  own: IssuedCertificate,
  certification: Pick<CertificationAuthority, 'root' | 'intermediate'>,
): TlsOptions {
  const leaf: X509Certificate = own.certificate
  return {
    key: own.key.export({ format: 'pem', type: 'pkcs8' }),
    cert: mode === 'leafOnly' ? leaf.toString() : leaf.toString() + certification.intermediate,
    // OpenSSL completes the chain that it sends from these.
    ca: mode === 'leafOnly' ? [certification.root] : [certification.root, certification.intermediate],
    requestCert: mode !== 'afterRequest',
    // Certificates are checked by us, because real hosts answer bad ones with a page.
    rejectUnauthorized: false,
    minVersion: mode === 'tls13' ? 'TLSv1.3' : 'TLSv1.2',
    ...(mode === 'afterRequest' && { secureOptions: constants.SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION }),
    ...(mode === 'weakDh' && {
      dhparam: weakParameters,
      ciphers: 'DHE-RSA-AES128-GCM-SHA256@SECLEVEL=0',
      maxVersion: 'TLSv1.2',
    }),
  }
}
