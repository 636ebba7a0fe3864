import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader'
import type { PageGraphics } from './graphics.ts'

const wasm = readFileSync(createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm'))
prepareZXingModule({ overrides: { wasmBinary: wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length) } })

/** A code found on a page. */
export interface Code {
  format: string
  text: string
}

/** What a reader finds on a page at a resolution: bars are painted by the share of each dot they cover, as printers and screens do. */
export async function scan(page: PageGraphics, dotsPerInch: number): Promise<Code[]> {
  const scale = dotsPerInch / 72
  const [width, height] = [Math.ceil(page.width * scale), Math.ceil(page.height * scale)]
  const ink = new Float32Array(width * height)
  for (const bar of page.bars) {
    const [left, right] = [bar.x * scale, (bar.x + bar.width) * scale]
    const [top, bottom] = [bar.y * scale, (bar.y + bar.height) * scale]
    for (let y = Math.floor(top); y < bottom; y++) {
      const rows = Math.min(y + 1, bottom) - Math.max(y, top)
      for (let x = Math.floor(left); x < right; x++) {
        ink[y * width + x]! += rows * (Math.min(x + 1, right) - Math.max(x, left))
      }
    }
  }
  const data = new Uint8ClampedArray(width * height * 4)
  ink.forEach((covered, i) => {
    data.fill(255 - 255 * Math.min(1, covered), i * 4, i * 4 + 3)
    data[i * 4 + 3] = 255
  })
  const image = { data, width, height, colorSpace: 'srgb' } as ImageData
  const codes = await readBarcodes(image, { formats: ['Code128', 'QRCode'], tryHarder: true, maxNumberOfSymbols: 4 })
  return codes.map((code) => ({ format: code.format, text: code.text }))
}
