import { roman } from '../pdf/fonts.ts'
import type { Ansi } from '../pdf/winansi.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { type Block, padding } from './block.ts'
import { cut, leading } from './text.ts'

/** Texts side by side in labelled boxes, which may be cut at a height and continue elsewhere. */
export interface TextBoxes {
  /** Height with every line. */
  whole: number
  least: number
  /** Returns the boxes cut to a height, and the rest of each text. */
  fit(height: number): { block: Block; rest: Ansi[][] }
}

/** One of the boxes; `share` is its part of the width. */
interface BoxText {
  label: string
  text: readonly Ansi[]
  share: number
}

const below = 3
// Tolerance: a height computed from lines must give the same number of lines again.
const rounding = 0.01

/** Boxes of running text with `linesMin` lines at least, or with `blankMin` when their texts are shorter. */
export function textBoxes(
  boxes: readonly BoxText[],
  width: number,
  size: number,
  linesMin: number,
  blankMin = linesMin,
): TextBoxes {
  const step = leading(size)
  const labelHeight = boxes.some((box) => box.label !== '') ? 8.5 : 2
  const room = (box: BoxText) => box.share * width - 2 * padding
  const lines = boxes.map((box) => cut(box.text, roman, size, room(box), Number.POSITIVE_INFINITY).lines)
  const height = (count: number) => labelHeight + Math.max(blankMin, count) * step + below
  const continues = winAnsi('CONTINUA NA PRÓXIMA FOLHA')
  const longest = Math.max(...lines.map((one) => one.length))
  return {
    whole: height(longest),
    least: height(Math.min(linesMin, longest)),
    fit(available) {
      const linesMax = Math.max(1, Math.floor((available - labelHeight - below) / step + rounding))
      const parts = boxes.map((box, i) => {
        if (lines[i]!.length <= linesMax) return { lines: lines[i]!, rest: [] }
        const part = cut(box.text, roman, size, room(box), linesMax - 1)
        return { lines: [...part.lines, continues], rest: part.rest }
      })
      const block: Block = {
        height: available,
        draw(canvas, x, y) {
          canvas.box(x, y, width, available)
          let left = x
          boxes.forEach((box, i) => {
            if (i > 0) canvas.line(left, y, left, y + available)
            canvas.tagged('P', () => {
              canvas.text(left + padding, y + 6.6, winAnsi(box.label), roman, 6)
              parts[i]!.lines.forEach((line, n) => {
                canvas.text(left + padding, y + labelHeight + size * 0.84 + n * step, line, roman, size)
              })
            })
            left += box.share * width
          })
        },
      }
      return { block, rest: parts.map((part) => part.rest) }
    },
  }
}
