import { readFileSync } from 'node:fs'
import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { unzipDocument } from '@vigia/sefaz/distribution'

// How received bytes stand in the database (decision 0062): the gzip stream as it arrived, or packed: a head, the XML without the certificate of its
// signer in zstd with a dictionary, and, where it is read, that certificate behind it.
//
//   0 mark · 1 dictionary · 2-5 CRC-32 of the XML · 6-9 its length, both as a gzip stream ends with them (RFC 1952) · 10-11 length of the certificate,
//   0: it was left in its place · 12-15 where its Base64 stood

/** A packed XML: what its receipt keeps, and the certificate that is kept once for all that carry it. */
export interface Packed {
  content: Buffer
  /** DER; null: nothing was taken out. */
  certificate: Buffer | null
}

const mark = 0xd6
const headBytes = 16
/** With which documents are packed; the ones before it are kept for ever, because documents are packed with them. */
export const newestDictionary = 1
// Beyond it a thread or a worker would be busy too long with one file.
const packedBytesMax = 4_000_000

export const dictionaryFile = (id: number) => new URL(`./dictionary-${id}.zdict`, import.meta.url)

const dictionaries = new Map<number, Buffer>()

function dictionaryOf(id: number): Buffer {
  const dictionary = dictionaries.get(id) ?? readFileSync(dictionaryFile(id))
  dictionaries.set(id, dictionary)
  return dictionary
}

// The head has the size, the dictionary and a checksum already.
const bareFrame = {
  [constants.ZSTD_c_compressionLevel]: 3,
  [constants.ZSTD_c_contentSizeFlag]: 0,
  [constants.ZSTD_c_dictIDFlag]: 0,
  [constants.ZSTD_c_checksumFlag]: 0,
}

/** Packs received bytes that hold `xml`, for their receipt; null when they are better kept as they arrived. */
export function packReceived(content: Buffer, xml: Buffer): Packed | null {
  if (isPacked(content)) {
    const end = content.length - content.readUInt16LE(10)
    return {
      content: content.subarray(0, end),
      certificate: end < content.length ? content.subarray(end) : null,
    }
  }
  if (!endsWith(content, xml)) return null
  const packed = packXml(xml)
  return packed && packed.content.length < content.length ? packed : null
}

function endsWith(stream: Buffer, xml: Buffer): boolean {
  const at = stream.length - 8
  return stream.length >= 18 && stream.readUInt32LE(at) === crc32(xml) && stream.readUInt32LE(at + 4) === xml.length
}

/** `xml` packed, after it was opened again and found the same; null when it is better kept as it arrived. */
export function packXml(xml: Buffer): Packed | null {
  if (xml.length === 0 || xml.length > packedBytesMax) return null
  const { rest, certificate, offset } = withoutCertificate(xml)
  const dictionary = dictionaryOf(newestDictionary)
  const head = Buffer.alloc(headBytes)
  head[0] = mark
  head[1] = newestDictionary
  head.writeUInt32LE(crc32(xml), 2)
  head.writeUInt32LE(xml.length, 6)
  head.writeUInt16LE(certificate?.length ?? 0, 10)
  head.writeUInt32LE(offset, 12)
  const content = Buffer.concat([head, zstdCompressSync(rest, { dictionary, params: bareFrame })])
  const stored = certificate ? Buffer.concat([content, certificate]) : content
  return openReceived(stored).equals(xml) ? { content, certificate } : null
}

/** The XML of received bytes as the database gives them (`receivedContent`). Throws when it is not there as it arrived. */
export function openReceived(content: Uint8Array): Buffer {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length)
  return isPacked(bytes) ? unpack(bytes) : unzipDocument(bytes)
}

/** Whether these are no gzip stream but packed. */
export const isPacked = (content: Uint8Array) => content[0] === mark && content.length > headBytes

function unpack(bytes: Buffer): Buffer {
  const size = bytes.readUInt32LE(6)
  const end = bytes.length - bytes.readUInt16LE(10)
  if (size > packedBytesMax || end <= headBytes) throw new Error('packed bytes are not whole')
  const dictionary = dictionaryOf(bytes[1]!)
  const rest = zstdDecompressSync(bytes.subarray(headBytes, end), {
    dictionary,
    maxOutputLength: size,
    chunkSize: Math.max(size, 1024),
  })
  const xml = end === bytes.length ? rest : withCertificate(rest, bytes.subarray(end), bytes.readUInt32LE(12))
  if (xml.length !== size || crc32(xml) !== bytes.readUInt32LE(2))
    throw new Error('packed bytes are not as they arrived')
  return xml
}

const opening = Buffer.from('<X509Certificate>')
const derBytesMin = 300
const derBytesMax = 0xff_ff

// The last certificate belongs to the signature. It is taken out only where its Base64 is what its DER bytes give again.
function withoutCertificate(xml: Buffer): { rest: Buffer; certificate: Buffer | null; offset: number } {
  const whole = { rest: xml, certificate: null, offset: 0 }
  const at = xml.lastIndexOf(opening)
  if (at < 0) return whole
  const offset = at + opening.length
  const end = xml.indexOf(0x3c, offset)
  if (end < 0) return whole
  const text = xml.toString('latin1', offset, end)
  const certificate = Buffer.from(text, 'base64')
  if (certificate.length < derBytesMin || certificate.length > derBytesMax || !isWholeDer(certificate)) return whole
  if (certificate.toString('base64') !== text) return whole
  return { rest: Buffer.concat([xml.subarray(0, offset), xml.subarray(end)]), certificate, offset }
}

// A sequence, its length in two bytes, and just that much behind them.
const isWholeDer = (bytes: Buffer) => bytes.readUInt16BE(0) === 0x30_82 && bytes.readUInt16BE(2) === bytes.length - 4

function withCertificate(rest: Buffer, certificate: Buffer, offset: number): Buffer {
  return Buffer.concat([
    rest.subarray(0, offset),
    Buffer.from(certificate.toString('base64'), 'latin1'),
    rest.subarray(offset),
  ])
}
