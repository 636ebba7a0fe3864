import { a4, type PageSize } from '../pdf/canvas.ts'
import type { Block } from './block.ts'
import { type FormField, fieldRow, type RowStyle } from './fields.ts'

// 14 points are 4.9 mm; the manual asks for 2 to 8 mm on every side (MOC NF-e 7.0, Anexo II, 3.6.2).
const margin = 14

/** The paper of a form and its printed area, in points from the top left corner. */
export interface PrintSheet {
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
export function sheetFor(tpImp: string | undefined, rows: { portrait: RowStyle; landscape: RowStyle }): PrintSheet {
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
export function beside(sheet: PrintSheet, strip: number): PrintSheet {
  return { ...sheet, left: sheet.left + strip, width: sheet.width - strip }
}

/** A row of labelled boxes over the width of a sheet, set as its form sets them. */
export function sheetRow(sheet: PrintSheet, fields: readonly FormField[]): Block {
  return fieldRow(fields, sheet.width, sheet.row)
}
