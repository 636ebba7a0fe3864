import { encodeQR } from 'qr'

// Capacity of version 40 in byte mode at level M (ISO/IEC 18004, table 7).
const bytesMax = 2331

/**
 * The dark modules of a text by rows, without the quiet zone; null when it is longer than the largest code holds.
 * Byte mode, error correction level M, the smallest version that holds the text (ISO/IEC 18004).
 */
export function qrCode(text: string): boolean[][] | null {
  if (Buffer.byteLength(text) > bytesMax) return null
  // The library draws one module of the quiet zone at least.
  const bordered = encodeQR(text, 'raw', { ecc: 'medium', encoding: 'byte', border: 1 })
  return bordered.slice(1, -1).map((row) => row.slice(1, -1))
}
