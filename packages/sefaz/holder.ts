import type { X509Certificate } from 'node:crypto'
import { parseCnpj } from '@vigia/dfe/cnpj'
import { ufBySigla } from '@vigia/dfe/uf'

/** Whose certificate it is, from the ICP-Brasil fields (DOC-ICP-04). */
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
    issuer: first(issuer.CN) || first(issuer.O),
  }
}

// A name is a line of text, whatever a certificate says.
function plain(text: string): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 200)
}

function first(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? ''
}

interface DerNode {
  tag: number
  content: Uint8Array
}

// node:crypto shows an otherName as "<unsupported>": this walks Certificate → tbsCertificate → extensions → GeneralNames (RFC 5280 §4).
function readOtherNames(der: Uint8Array): Map<string, string> {
  const names = new Map<string, string>()
  const tbs = children(der)[0]?.content
  const certificateFields = tbs ? children(children(tbs)[0]?.content) : []
  const extensions = children(certificateFields.find((field) => field.tag === 0xa3)?.content)[0]
  for (const extension of children(extensions?.content)) {
    const fields = children(extension.content)
    if (hex(fields[0]?.content) !== subjectAltNameOid) continue
    for (const name of children(children(fields.at(-1)?.content)[0]?.content)) {
      if (name.tag !== 0xa0) continue
      const [oid, explicit] = children(name.content)
      // OCTET STRING, UTF8String, PrintableString or IA5String, depending on the authority: all of them hold plain characters here.
      const value = children(explicit?.content)[0]
      if (value && [0x04, 0x0c, 0x13, 0x16].includes(value.tag)) names.set(hex(oid?.content), text(value.content))
    }
  }
  return names
}

function hex(bytes: Uint8Array | undefined): string {
  return bytes ? Buffer.from(bytes).toString('hex') : ''
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}

// OpenSSL has accepted the certificate before, so tags of one byte and definite lengths are all there is; anything else ends the list.
function children(content: Uint8Array | undefined): DerNode[] {
  const nodes: DerNode[] = []
  if (content === undefined) return nodes
  for (let at = 0; at + 2 <= content.length; ) {
    const tag = content[at]!
    let length = content[at + 1]!
    at += 2
    if (length >= 0x80) {
      const lengthBytes = length & 0x7f
      if (lengthBytes === 0 || lengthBytes > 4) return nodes
      length = 0
      for (const end = at + lengthBytes; at < end; at++) length = length * 256 + (content[at] ?? 0)
    }
    if (at + length > content.length) return nodes
    nodes.push({ tag, content: content.subarray(at, at + length) })
    at += length
  }
  return nodes
}
