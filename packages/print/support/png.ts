import { deflateSync } from 'node:zlib'

/** A PNG of one colour; the checksums are left out, because nothing reads them here. */
export function png(width: number, height: number, kind = 2): Uint8Array {
  const chunk = (name: string, content: Buffer) => {
    const head = Buffer.alloc(8)
    head.writeUInt32BE(content.length)
    head.write(name, 4, 'latin1')
    return Buffer.concat([head, content, Buffer.alloc(4)])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  header.set([8, kind], 8)
  const rows = Buffer.alloc(height * (1 + 3 * width), 120)
  for (let y = 0; y < height; y++) rows[y * (1 + 3 * width)] = 0
  return Buffer.concat([
    Buffer.alloc(8),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
