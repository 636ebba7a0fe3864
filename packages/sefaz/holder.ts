import type { X509Certificate } from 'node:crypto'
import { parseCnpj } from '@vigia/dfe/cnpj'
import { shownText } from '@vigia/dfe/document'
import { ufBySigla } from '@vigia/dfe/uf'
import { children, extensionOf, hex, latin1 } from './der.ts'

/** Holder of a certificate, from the ICP-Brasil fields (DOC-ICP-04). */
export interface CertificateHolder {
  cnpj: string | null
  /** True for an e-CPF: a person's number and no company's. */
  person: boolean
  name: string
  uf?: string
  issuer: string
}

const subjectAltNameOid = '551d11' // 2.5.29.17
const cnpjOid = '604c010303' // 2.16.76.1.3.3
const personOid = '604c010301' // 2.16.76.1.3.1

/** Reads the holder; the subjectAltName decides, the end of the common name is the fallback (DOC-ICP-04; Leiaute dos Certificados Digitais da RFB 4.3). */
export function readHolder(certificate: X509Certificate): CertificateHolder {
  const { subject, issuer } = certificate.toLegacyObject()
  const otherNames = readOtherNames(certificate.raw)
  const commonName = first(subject.CN)
  const number = /:([0-9A-Za-z./-]+)\s*$/.exec(commonName)?.[1] ?? ''
  const cnpj = parseCnpj(otherNames.get(cnpjOid) ?? '') ?? parseCnpj(number)
  return {
    cnpj,
    person: cnpj === null && (otherNames.has(personOid) || /^[0-9]{11}$/.test(number.replace(/[.-]/g, ''))),
    name: plain(commonName.replace(/:[0-9A-Za-z./-]+\s*$/, '')) || plain(first(subject.O)),
    uf: ufBySigla(first(subject.ST).trim().toUpperCase())?.uf,
    issuer: plain(first(issuer.CN)) || plain(first(issuer.O)),
  }
}

// A name is a line of text, whatever a certificate says.
function plain(text: string): string {
  return shownText(text.replace(/\p{Cc}+/gu, ' ')).slice(0, 200)
}

function first(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? ''
}

// node:crypto shows an otherName as "<unsupported>" (RFC 5280 §4.2.1.6).
function readOtherNames(der: Uint8Array): Map<string, string> {
  const names = new Map<string, string>()
  for (const name of children(extensionOf(der, subjectAltNameOid)?.content)) {
    if (name.tag !== 0xa0) continue
    const [oid, explicit] = children(name.content)
    // OCTET STRING, UTF8String, PrintableString or IA5String, depending on the authority: all of them hold plain characters here.
    const value = children(explicit?.content)[0]
    if (value && [0x04, 0x0c, 0x13, 0x16].includes(value.tag)) names.set(hex(oid?.content), latin1(value.content))
  }
  return names
}
