import { Canvas } from '../pdf/canvas.ts'
import { roman } from '../pdf/fonts.ts'
import type { Ansi } from '../pdf/winansi.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { assertRoom, assertSheets } from '../printable.ts'
import { padding, title } from './block.ts'
import type { PrintSheet } from './sheet.ts'
import { cut, leading } from './text.ts'

/** A further sheet of a form. */
export function addSheet(canvases: Canvas[]): Canvas {
  assertSheets(canvases.length + 1)
  const canvas = new Canvas()
  canvases.push(canvas)
  return canvas
}

/** Target of the rest of a text. */
interface Continuation {
  /** The last sheet so far, when it still has room below `top`. */
  canvas: Canvas | undefined
  top: number
  /** Top of the body on further sheets. */
  nextTop: number
  nextCanvas(): Canvas
}

const linesMin = 4
const inset = 4

/** Writes the rest of a text in full width over as many sheets as needed; returns its end. */
export function continuedText(
  heading: string,
  text: readonly Ansi[],
  size: number,
  sheet: PrintSheet,
  where: Continuation,
): { canvas: Canvas | undefined; top: number } {
  if (text.length === 0) return where
  const step = leading(size)
  const head = title(heading)
  const continues = winAnsi('CONTINUA NA PRÓXIMA FOLHA')
  const capacity = (top: number) => Math.floor((sheet.bottom - top - head.height - 2 * inset) / step)
  assertRoom(capacity(where.nextTop), linesMin)
  const { lines } = cut(text, roman, size, sheet.width - 2 * padding, Number.POSITIVE_INFINITY)
  let { canvas, top } = where
  for (let from = 0; from < lines.length; ) {
    if (!canvas || capacity(top) < linesMin) {
      canvas = where.nextCanvas()
      top = where.nextTop
    }
    const room = capacity(top)
    const all = lines.length - from <= room
    const part = lines.slice(from, all ? lines.length : from + room - 1)
    from += part.length
    if (!all) part.push(continues)
    const height = part.length * step + 2 * inset
    head.draw(canvas, sheet.left, top)
    canvas.box(sheet.left, top + head.height, sheet.width, height)
    const first = top + head.height + inset + size * 0.86
    for (const [n, line] of part.entries()) canvas.text(sheet.left + padding, first + n * step, line, roman, size)
    top += head.height + height
    if (!all) canvas = undefined
  }
  return { canvas, top }
}
