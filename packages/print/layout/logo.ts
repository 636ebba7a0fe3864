import type { PngPicture } from '../pdf/png.ts'
import { type Block, padding } from './block.ts'

const shareMax = 0.34
const heightMax = 74

/** Puts a company's logo left of a block, in at most a third of the width. */
export function besideLogo(logo: PngPicture | undefined, width: number, block: (width: number) => Block): Block {
  if (!logo) return block(width)
  const scale = Math.min((width * shareMax - 2 * padding) / logo.width, heightMax / logo.height)
  const [across, high] = [logo.width * scale, logo.height * scale]
  const left = across + 2 * padding
  const text = block(width - left)
  const height = Math.max(text.height, high + 4 * padding)
  return {
    height,
    draw(canvas, x, y) {
      const area = { x: x + 2 * padding, y: y + (height - high) / 2, width: across, height: high }
      canvas.figure('Logotipo do emitente', area, () => canvas.image(area.x, area.y, across, high))
      text.draw(canvas, x + left, y + (height - text.height) / 2)
    },
  }
}
