import { Canvas, lowered, pageUnits } from '../pdf/canvas.ts'
import { stamp } from '../pdf/stamp.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { Pdf } from '../pdf/writer.ts'
import { sheet } from './block.ts'

/** The sheets of a form, ready for the file. */
export interface Form {
  title: string
  /** What every sheet repeats, drawn at the top of the sheet. */
  header: Canvas
  headerHeight: number
  /** How much lower the header stands on the first sheet. */
  firstShift: number
  /** Words across the sheet, or none. */
  stamp: readonly string[]
  /** The rest of each sheet. */
  sheets: readonly Canvas[]
}

/** The file of a form. The header is one stream that all pages share. */
export function assemble(form: Form): Uint8Array {
  const pdf = new Pdf()
  const move = lowered(0)
  const header = pdf.stream(form.header.content() + move.after)
  const first = pdf.stream(opening(form, form.firstShift))
  const others = form.sheets.length > 1 ? pdf.stream(opening(form, 0)) : first
  form.sheets.forEach((canvas, i) => {
    pdf.page([i === 0 ? first : others, header, pdf.stream(canvas.content())])
  })
  return pdf.bytes(winAnsi(form.title))
}

function opening(form: Form, shift: number): string {
  const under = new Canvas()
  if (form.stamp.length > 0) stamp(under, form.stamp, sheet.top + shift + form.headerHeight, sheet.bottom)
  return pageUnits + under.content() + lowered(shift).before
}
