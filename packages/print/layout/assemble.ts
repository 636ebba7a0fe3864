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
  /** Draws the part that repeats on every sheet, at its top. */
  header: (canvas: Canvas) => void
  headerHeight: number
  /** Distance by which the header is lower on the first sheet. */
  firstShift: number
  /** Picture that the canvases refer to by name. */
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

/** Builds the file of a form. Sheets share one header stream, tagged on the first sheet only. */
export function assemble(form: FormPlan): Uint8Array {
  const pdf = new PdfWriter(form.sheet.page)
  const { sheets } = form
  const { after } = lowered(0)
  const [first, ...others] = sheets
  const header = new Canvas({ marksFrom: first!.marked.next })
  form.header(header)
  header.marked.lowered = form.firstShift
  const own = pdf.stream(opening(form, form.firstShift), ...header.content(), after, ...first!.content())
  pdf.page([own], header.marked, first!.marked)
  if (others.length > 0) {
    const again = new Canvas({ isRead: false })
    form.header(again)
    const shared = pdf.stream(opening(form, 0), ...repeated(again.content()), after)
    for (const canvas of others) pdf.page([shared, pdf.stream(...canvas.content())], canvas.marked)
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
  return pageUnits(page) + under.content().join('') + lowered(shift).before
}
