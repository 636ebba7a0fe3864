import { Canvas, lowered, pageUnits } from '../pdf/canvas.ts'
import type { PngPicture } from '../pdf/png.ts'
import { stamp } from '../pdf/stamp.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { PdfWriter } from '../pdf/writer.ts'
import type { PrintSheet } from './sheet.ts'

/** The sheets of a form, ready for the file. */
interface FormPlan {
  title: string
  sheet: PrintSheet
  /** What every sheet repeats, drawn at the top of the sheet. */
  header: Canvas
  headerHeight: number
  /** How much lower the header stands on the first sheet. */
  firstShift: number
  /** What the canvases draw as the picture of the file. */
  picture?: PngPicture | undefined
  /** Words across the sheet, or none. */
  stamp: readonly string[]
  /** The rest of each sheet. */
  sheets: readonly Canvas[]
}

/** The file of a form. The header is one stream that all pages share, and a part of the stream of a single page. */
export function assemble(form: FormPlan): Uint8Array {
  const pdf = new PdfWriter(form.sheet.page)
  const header = form.header.content(0) + lowered(0).after
  const { roles } = form.header
  if (form.sheets.length === 1) {
    const canvas = form.sheets[0]!
    const content = opening(form, form.firstShift) + header + canvas.content(roles.length)
    pdf.page([pdf.stream(content)], [...roles, ...canvas.roles])
  } else {
    const shared = pdf.stream(header)
    const first = pdf.stream(opening(form, form.firstShift))
    const others = pdf.stream(opening(form, 0))
    form.sheets.forEach((canvas, i) => {
      const own = pdf.stream(canvas.content(roles.length))
      pdf.page([i === 0 ? first : others, shared, own], [...roles, ...canvas.roles])
    })
  }
  const canvases = [form.header, ...form.sheets]
  const shown = canvases.map((canvas) => canvas.shown)
  const code = canvases.find((canvas) => canvas.code)?.code
  return pdf.bytes(winAnsi(form.title), shown, form.picture, code)
}

function opening(form: FormPlan, shift: number): string {
  const { page, left, width, top, bottom } = form.sheet
  const under = new Canvas()
  if (form.stamp.length > 0) {
    stamp(under, form.stamp, { left, width, top: top + shift + form.headerHeight, bottom })
  }
  return pageUnits(page) + under.content(0) + lowered(shift).before
}
