import assert from 'node:assert/strict'
import { crc32, inflateRawSync } from 'node:zlib'

/** The files of a ZIP by name, as its central directory lists them, each checked against its checksum (PKWARE APPNOTE 6.3, without ZIP64). */
export function readZip(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  assert(end >= 0, 'this is no whole ZIP')
  const files = new Map<string, Buffer>()
  for (let at = zip.readUInt32LE(end + 16), left = zip.readUInt16LE(end + 10); left > 0; left--) {
    assert.equal(zip.readUInt32LE(at), 0x02014b50)
    const [method, crc, size] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 16), zip.readUInt32LE(at + 20)]
    const [name, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field)) as [number, number, number]
    const local = zip.readUInt32LE(at + 42)
    const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    const packed = zip.subarray(begin, begin + size)
    const content = method === 0 ? packed : inflateRawSync(packed)
    assert.equal(crc32(content), crc)
    const path = zip.toString('utf8', at + 46, at + 46 + name)
    assert(!files.has(path), `${path} is there twice`)
    files.set(path, content)
    at += 46 + name + extra + comment
  }
  return files
}
