import type { Canvas } from '../pdf/canvas.ts'
import { roman } from '../pdf/fonts.ts'
import type { Ansi } from '../pdf/winansi.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { padding, title } from './block.ts'
import type { PrintSheet } from './sheet.ts'
import { cut, leading } from './text.ts'

/** Where the rest of a text goes. */
interface Continuation {
  /** The last sheet so far, when it still has room below `top`. */
  canvas: Canvas | undefined
  top: number
  /** Where the body of a further sheet begins. */
  nextTop: number
  nextCanvas(): Canvas
}

const linesMin = 4
const inset = 4

/** Writes the rest of a text over the full width, on the last sheet and as many further ones as it needs; tells where it ended. */
export function continuedText(
  heading: string,
  text: readonly Ansi[],
  size: number,
  sheet: PrintSheet,
  where: Continuation,
): { canvas: Canvas | undefined; top: number } {
  const step = leading(size)
  const head = title(heading)
  const continues = winAnsi('CONTINUA NA PRÓXIMA FOLHA')
  let { canvas, top } = where
  let rest = text
  while (rest.length > 0) {
    const capacity = Math.floor((sheet.bottom - top - head.height - 2 * inset) / step)
    if (!canvas || capacity < linesMin) {
      canvas = where.nextCanvas()
      top = where.nextTop
      continue
    }
    const room = sheet.width - 2 * padding
    let part = cut(rest, roman, size, room, capacity)
    if (part.rest.length > 0) {
      part = cut(rest, roman, size, room, capacity - 1)
      part.lines.push(continues)
    }
    const height = part.lines.length * step + 2 * inset
    head.draw(canvas, sheet.left, top)
    canvas.box(sheet.left, top + head.height, sheet.width, height)
    part.lines.forEach((line, n) => {
      canvas!.text(sheet.left + padding, top + head.height + inset + size * 0.86 + n * step, line, roman, size)
    })
    rest = part.rest
    top += head.height + height
    if (rest.length > 0) canvas = undefined
  }
  return { canvas, top }
}
