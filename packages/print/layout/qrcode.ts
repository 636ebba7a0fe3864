import { qrCode } from '../pdf/qrcode.ts'
import type { Block } from './block.ts'

const quietModules = 4

/** A QR code with quiet zone in a square of this side; undefined if the text is too long. */
export function qrBlock(text: string | undefined, side: number): Block | undefined {
  const dark = text === undefined ? null : qrCode(text)
  if (!dark) return undefined
  const module = side / (dark.length + 2 * quietModules)
  return {
    height: side,
    draw(canvas, x, y) {
      canvas.figure(`Código QR para a consulta do documento: ${text}`, { x, y, width: side, height: side }, () => {
        canvas.matrix(x + quietModules * module, y + quietModules * module, module, dark)
      })
    },
  }
}
