import { createPrivateKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto'
import { signEnveloped } from '@vigia/xml/sign'

export interface PfxFile {
  key: string
  pem: string
}

/** A throw-away RSA key with a certificate it signed itself (X.509 v1, RFC 5280 §4.1). */
export function newCertificate(name: string): PfxFile {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const algorithm = der(0x30, der(0x06, Buffer.from('2a864886f70d01010b', 'hex')), der(0x05))
  const attribute = der(0x30, der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from(name)))
  const subject = der(0x30, der(0x31, attribute))
  const validity = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')))
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const body = der(0x30, der(0x02, Buffer.of(1)), algorithm, subject, validity, subject, spki)
  const signature = der(0x03, Buffer.of(0), sign('sha256', body, privateKey))
  const certificate = new X509Certificate(der(0x30, body, algorithm, signature))
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), pem: certificate.toString() }
}

/** `xml` with a signature of the element with that Id. */
export function signedXml(xml: string, id: string): string {
  const { key, pem } = newCertificate('EMITENTE LTDA:11222333000181')
  return signEnveloped(xml, id, createPrivateKey(key), new X509Certificate(pem))
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const header = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...header), content])
}
