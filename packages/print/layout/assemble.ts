import { joined } from '../formats.ts'
import { Canvas, lowered, pageUnits, repeated } from '../pdf/canvas.ts'
import { titleOf } from '../pdf/identification.ts'
import type { PngPicture } from '../pdf/png.ts'
import { stamp } from '../pdf/stamp.ts'
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

/** "DANFE 1234 série 1 · EMITENTE". */
export function formTitle(
  name: string,
  number: string | undefined,
  series: string | undefined,
  issuer: string | undefined,
): string {
  return joined(' · ', joined(' ', name, number, series && `série ${series}`), issuer) ?? name
}

/** The file of a form. The header is read on the first sheet, and is one stream that all others share. */
export function assemble(form: FormPlan): Uint8Array {
  const pdf = new PdfWriter(form.sheet.page)
  const { header, sheets } = form
  const { after } = lowered(0)
  const heading = { marks: header.marks, lowered: form.firstShift }
  const [first, ...others] = sheets
  const own = first!.content(header.marks.length)
  pdf.page([pdf.stream(opening(form, form.firstShift) + header.content(0) + after + own)], heading, first!)
  if (others.length > 0) {
    const shared = pdf.stream(opening(form, 0) + repeated(header.content()) + after)
    for (const canvas of others) pdf.page([shared, pdf.stream(canvas.content(0))], canvas)
  }
  const canvases = [header, ...sheets]
  return pdf.bytes({
    title: titleOf(form.title),
    parts: [...canvases.flatMap(({ parts }) => parts), ...canvases.flatMap(({ lastParts }) => lastParts)],
    shown: canvases.map(({ shown }) => shown),
    picture: form.picture,
    code: canvases.find(({ code }) => code)?.code,
  })
}

function opening(form: FormPlan, shift: number): string {
  const { page, left, width, top, bottom } = form.sheet
  const under = new Canvas()
  if (form.stamp.length > 0) {
    stamp(under, form.stamp, { left, width, top: top + shift + form.headerHeight, bottom })
  }
  return pageUnits(page) + under.content(0) + lowered(shift).before
}
