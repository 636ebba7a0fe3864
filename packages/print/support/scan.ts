import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader'
import type { PageGraphics } from './graphics.ts'

const wasm = readFileSync(createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm'))
prepareZXingModule({ overrides: { wasmBinary: wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length) } })

/** A code found on a page. */
export interface ScannedCode {
  format: string
  text: string
}

const surroundings = 12

/** At which a reader must find the code of a chave: letters take more and so narrower bars (MOC NF-e 7.0, Anexo II; NT Conjunta DF-e 2025.001). */
export function dotsPerInchFor(chave: string): number {
  return /^\d+$/.test(chave) ? 150 : 300
}

// A module of 0.28 mm measures 1.6 dots at 150 dpi: below this a reader has to look between the dots, as a camera does and zxing alone
// does not.
const finestPlain = 200

/** The dots of a label printer: black or white, nothing between. */
export const labelPrinter = { dotsPerInch: 203, oneBit: true }

/**
 * Reads the bar codes of a page at a resolution. Each dot is painted by the share that bars cover,
 * as on printers and screens, or black if more than half is covered, as on label printers.
 */
export async function scan(page: PageGraphics, dots: number | typeof labelPrinter): Promise<ScannedCode[]> {
  const { dotsPerInch, oneBit } = typeof dots === 'number' ? { dotsPerInch: dots, oneBit: false } : dots
  if (page.bars.length === 0) return []
  const scale = dotsPerInch / 72
  const left = Math.min(...page.bars.map((bar) => bar.x)) - surroundings
  const top = Math.min(...page.bars.map((bar) => bar.y)) - surroundings
  const width = Math.ceil((Math.max(...page.bars.map((bar) => bar.x + bar.width)) - left + surroundings) * scale)
  const height = Math.ceil((Math.max(...page.bars.map((bar) => bar.y + bar.height)) - top + surroundings) * scale)
  const ink = new Float32Array(width * height)
  for (const bar of page.bars) {
    const [x1, x2] = [(bar.x - left) * scale, (bar.x + bar.width - left) * scale]
    const [y1, y2] = [(bar.y - top) * scale, (bar.y + bar.height - top) * scale]
    for (let y = Math.floor(y1); y < y2; y++) {
      const rows = Math.min(y + 1, y2) - Math.max(y, y1)
      for (let x = Math.floor(x1); x < x2; x++) {
        ink[y * width + x]! += rows * (Math.min(x + 1, x2) - Math.max(x, x1))
      }
    }
  }
  if (oneBit) for (let dot = 0; dot < ink.length; dot++) ink[dot] = ink[dot]! > 0.5 ? 1 : 0
  const image = seen(ink, width, height, dotsPerInch < finestPlain ? 2 : 1)
  const codes = await readBarcodes(image, { formats: ['Code128', 'QRCode'], tryHarder: true, maxNumberOfSymbols: 4 })
  return codes.map((code) => ({ format: code.format, text: code.text }))
}

// The picture, or one with dots between the dots of each line.
function seen(ink: Float32Array, width: number, height: number, times: number): ImageData {
  const wide = width * times
  const data = new Uint8ClampedArray(wide * height * 4)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < wide; x++) {
      const at = Math.min(width - 1, Math.max(0, (x + 0.5) / times - 0.5))
      const left = Math.floor(at)
      const right = Math.min(width - 1, left + 1)
      const covered = ink[y * width + left]! * (left + 1 - at) + ink[y * width + right]! * (at - left)
      const dot = (y * wide + x) * 4
      data.fill(255 - 255 * Math.min(1, covered), dot, dot + 3)
      data[dot + 3] = 255
    }
  }
  return { data, width: wide, height, colorSpace: 'srgb' } as ImageData
}
