import type { Align } from '../pdf/canvas.ts'
import { bold, emWidth, type Font, roman } from '../pdf/fonts.ts'
import type { Ansi } from '../pdf/winansi.ts'
import { winAnsi } from '../pdf/winansi.ts'
import type { Block } from './block.ts'
import { padding } from './block.ts'
import { leading, wrap, wrapName } from './text.ts'

/** A labelled box of a row; `width` is its share of the row. */
export interface FormField {
  label: string
  value?: string | undefined
  width: number
  align?: Align
  bold?: boolean
}

/** How the values of a row may be set. */
export interface RowStyle {
  /** Size of the values when everything fits. */
  size?: number
  /** Smallest size before a value wraps. */
  smallest?: number
  height?: number
}

// MOC NF-e 7.0, Anexo II, 3.7: labels 6 points, contents 10. The smallest size is our fitting rule.
const labelSize = 6
const labelLeading = 6.2
// Lower rows, as in landscape, have less white below their values.
const lowRow = 20

/**
 * A row of labelled boxes with one baseline: each value in the nominal size, reduced until it fits on a line; below the smallest
 * size it wraps, and the row grows.
 */
export function fieldRow(fields: readonly FormField[], width: number, style: RowStyle = {}): Block {
  const total = fields.reduce((sum, field) => sum + field.width, 0)
  const nominal = style.size ?? 10
  const smallest = style.smallest ?? 7
  const least = style.height ?? 24
  const cells = fields.map((field) => {
    const font = field.bold ? bold : roman
    const value = winAnsi(field.value ?? '')
    const box = (field.width / total) * width
    const room = box - 2 * padding
    const size = fittingSize([{ value, font, room }], nominal, smallest)
    return { font, size, box, room, align: field.align ?? 'left', lines: wrapName(value, font, size, room) }
  })
  const labels = fields.map((field, i) => wrap(winAnsi(field.label), roman, labelSize, cells[i]!.room))
  const labelLines = Math.max(...labels.map((label) => label.length))
  const labelHeight = 1 + labelLines * labelLeading
  // All first lines share the baseline of the largest one.
  const size = Math.max(...cells.map((cell) => cell.size))
  const valueHeight = leading(size) + Math.max(...cells.map((cell) => (cell.lines.length - 1) * leading(cell.size)))
  const height = Math.max(least, labelHeight + valueHeight + (least < lowRow ? 0.8 : 3))
  return {
    height,
    draw(canvas, x, y) {
      canvas.box(x, y, width, height)
      let left = x
      const first = y + labelHeight + Math.max(0, height - labelHeight - valueHeight - 3.2) + size * 0.86
      cells.forEach((cell, i) => {
        if (i > 0) canvas.line(left, y, left, y + height)
        canvas.tagged('P', () => {
          labels[i]!.forEach((label, n) => {
            canvas.text(left + padding, y + (n + 1) * labelLeading, label, roman, labelSize)
          })
          cell.lines.forEach((line, n) => {
            const baseline = first + n * leading(cell.size)
            canvas.aligned(left + padding, cell.room, baseline, line, cell.font, cell.size, cell.align)
          })
        })
        left += cell.box
      })
    },
  }
}

/** Whether every label of a row fits on one line. */
export function labelsFit(fields: readonly FormField[], width: number): boolean {
  const total = fields.reduce((sum, field) => sum + field.width, 0)
  return fields.every(
    (field) => (emWidth(winAnsi(field.label), roman) * labelSize) / 1000 <= (field.width / total) * width - 2 * padding,
  )
}

/** The largest size, in quarters of a point, at which every value fits on one line, within the two bounds. */
export function fittingSize(
  values: readonly { value: Ansi; font: Font; room: number }[],
  nominal: number,
  smallest: number,
): number {
  let size = nominal
  for (const { value, font, room } of values) {
    const fitting = (room * 1000) / Math.max(1, emWidth(value, font))
    if (fitting < size) size = fitting
  }
  return Math.max(smallest, Math.floor(size * 4) / 4)
}
