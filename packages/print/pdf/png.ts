/** A picture as a PDF takes it: eight bits a colour, rows as a PNG filters and packs them (ISO 32000-1, 7.4.4.4). */
export interface PngPicture {
  width: number
  height: number
  /** Compressed. */
  data: Buffer
}

/** Finds the picture in a PNG of eight bits a colour, without transparency, palette or interlacing; other PNGs are a mistake of the caller. */
export function readPng(file: Uint8Array): PngPicture {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const parts: Buffer[] = []
  // A signature of 8 bytes, then chunks: length, name, content, checksum.
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    if (bytes.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(bytes.subarray(at + 8, at + 8 + length))
    at += 12 + length
  }
  const isRgb = bytes.length > 29 && bytes[24] === 8 && bytes[25] === 2 && bytes[28] === 0
  if (!isRgb || parts.length === 0) throw new Error('the picture is no PNG of eight bits a colour without transparency')
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), data: Buffer.concat(parts) }
}
