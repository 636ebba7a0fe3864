import type { Canvas } from '../pdf/canvas.ts'
import { a4, type PageSize } from '../pdf/canvas.ts'
import { bold } from '../pdf/fonts.ts'
import { winAnsi } from '../pdf/winansi.ts'
import type { RowStyle } from './fields.ts'

/** A part of a form: measured when it is made, drawn once its place is known. */
export interface Block {
  height: number
  draw(canvas: Canvas, x: number, y: number): void
}

// 14 points are 4.9 mm; the manual asks for 2 to 8 mm on every side (MOC NF-e 7.0, Anexo II, 3.6.2).
const margin = 14

/** The paper of a form and its printed area, in points from the top left corner. */
export interface Sheet {
  page: PageSize
  landscape: boolean
  left: number
  top: number
  width: number
  bottom: number
  /** How the rows of labelled boxes of the form are set. */
  row: RowStyle
}

/** The sheet the issuer chose: A4 landscape for tpImp 2, and portrait for every other value. */
export function sheetFor(tpImp: string | undefined, rows: { portrait: RowStyle; landscape: RowStyle }): Sheet {
  const landscape = tpImp === '2'
  const page = landscape ? { width: a4.height, height: a4.width } : a4
  return {
    page,
    landscape,
    left: margin,
    top: margin,
    width: page.width - 2 * margin,
    bottom: page.height - margin,
    row: landscape ? rows.landscape : rows.portrait,
  }
}

/** The sheet without a strip at its left. */
export function beside(sheet: Sheet, strip: number): Sheet {
  return { ...sheet, left: sheet.left + strip, width: sheet.width - strip }
}

/** Distance between a text and the rule beside it. */
export const padding = 2.5

/** Blocks one below the other. */
export function stack(...blocks: readonly (Block | undefined)[]): Block {
  const present = blocks.filter((block) => block !== undefined)
  return {
    height: present.reduce((sum, block) => sum + block.height, 0),
    draw(canvas, x, y) {
      let at = y
      for (const block of present) {
        block.draw(canvas, x, at)
        at += block.height
      }
    },
  }
}

/** Empty room between blocks. */
export function gap(height: number): Block {
  return { height, draw() {} }
}

/** The title of a block: outside its box, nearer to it than to the block above. */
export function title(text: string): Block {
  const encoded = winAnsi(text)
  return {
    height: 10.5,
    draw: (canvas, x, y) => canvas.heading(x + 0.5, y + 8.4, encoded, bold, 6.5),
  }
}
