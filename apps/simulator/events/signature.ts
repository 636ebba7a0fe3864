import { X509Certificate } from 'node:crypto'
import { cnpjBase } from '@vigia/dfe/cnpj'
import { child, value } from '@vigia/dfe/document'
import { verifySignature } from '@vigia/xml/verify'
import type { Authority } from '../authority.ts'
import { certificateTaxpayer } from '../holder.ts'
import type { SentEvent } from './event.ts'

/** The signing certificate, the signature and its author (290 to 298, 213); null when all is well. */
export function refuseSignature({ certification, clock }: Authority, event: SentEvent): number | null {
  const written = value(event.signature, 'KeyInfo/X509Data/X509Certificate')
  if (written === undefined) return 298
  const certificate = parseCertificate(written)
  if (certificate === null || certificate.ca) return 290
  const status = certification.check(certificate, clock.now())
  if (status === 'expired' || status === 'not-yet-valid') return 291
  const holder = certificateTaxpayer(certificate)
  if (holder.cnpj === undefined && holder.cpf === undefined) return 292
  if (status === 'revoked') return 294
  if (status === 'foreign') return /^O=ICP-Brasil$/m.test(certificate.issuer) ? 293 : 295

  if (!hasForm(event)) return 298
  const verification = verifySignature(event.xml)
  if (verification.reason === 'form' || verification.reason === 'no-signature') return 298
  if (verification.id !== event.id) return 298
  if (!verification.valid) return 297

  const isOwn =
    event.author.length === 14
      ? holder.cnpj !== undefined && cnpjBase(holder.cnpj) === cnpjBase(event.author)
      : holder.cpf === event.author
  return isOwn ? null : 213
}

function parseCertificate(base64: string): X509Certificate | null {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'))
  } catch {
    return null
  }
}

// KeyInfo holds the certificate of the holder and nothing else, and nothing is broken into lines.
function hasForm({ signature }: SentEvent): boolean {
  const keyInfo = child(signature, 'KeyInfo')
  const data = keyInfo?.children[0]
  if (signature.children.length !== 3 || keyInfo?.children.length !== 1 || data?.children.length !== 1) return false
  const values = [
    child(signature, 'SignedInfo/Reference/DigestValue'),
    child(signature, 'SignatureValue'),
    child(data, 'X509Certificate'),
  ]
  return values.every((one) => one !== undefined && /^[A-Za-z0-9+/=]+$/.test(one.text))
}
