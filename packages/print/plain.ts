import { familyOfRoot } from '@vigia/dfe/families/lookup'
import { drawTable, saidTable } from './event/said.ts'
import { joined } from './formats.ts'
import { assemble } from './layout/assemble.ts'
import { addSheet } from './layout/continued.ts'
import { fittingSize } from './layout/fields.ts'
import { sheetFor } from './layout/sheet.ts'
import { Canvas } from './pdf/canvas.ts'
import { bold, roman } from './pdf/fonts.ts'
import { winAnsi } from './pdf/winansi.ts'
import { openPrintable, type PrintOptions } from './printable.ts'

const sheet = sheetFor(undefined, { portrait: {}, landscape: {} })
const headerHeight = 54

/**
 * Prints the espelho of a document without a form of its own, as PDF in A4 portrait: every field of
 * the XML except the signature. Throws `PrintError`.
 */
export function plain(xml: Uint8Array, { cancelled, doubt }: PrintOptions = {}): Uint8Array {
  const root = openPrintable(xml)
  const family = familyOfRoot(root)
  const facts = family?.read(root, [])
  const document = facts?.kind === 'document' ? facts : undefined
  const about = joined(' ', family?.name ?? root.name, document && `Nº ${document.numero}`)!
  const key = document && family?.key.format(document.chave)
  const canvases = [new Canvas()]
  const [top, nextTop] = [sheet.top + headerHeight, sheet.top + headerHeight]
  const said = saidTable(root, sheet.width, 'Documento', ({ name }) => name === 'Signature')
  const nextCanvas = () => addSheet(canvases)
  if (said) drawTable('DADOS DO DOCUMENTO', said, sheet, { canvas: canvases[0], top, nextTop, nextCanvas })
  const centred = (canvas: Canvas, y: number, text: string, font: typeof bold, size: number) => {
    const value = winAnsi(text)
    const fitting = fittingSize([{ value, font, room: sheet.width - 20 }], size, 6)
    canvas.aligned(sheet.left, sheet.width, sheet.top + y, value, font, fitting, 'center')
  }
  canvases.forEach((canvas, i) => {
    canvas.silently(() => centred(canvas, 48, `FOLHA ${i + 1}/${canvases.length}`, bold, 8))
  })
  return assemble({
    sheet,
    title: joined(' · ', `Espelho ${about}`, document?.issuerName)!,
    header(canvas) {
      canvas.box(sheet.left, sheet.top, sheet.width, headerHeight)
      canvas.tagged('H1', () => centred(canvas, 20, `ESPELHO · ${about}`.toUpperCase(), bold, 14))
      if (key) canvas.tagged('P', () => centred(canvas, 35, key, roman, 10))
    },
    headerHeight,
    firstShift: 0,
    stamp: [...(cancelled ? ['CANCELADO'] : []), ...(doubt ? ['NÃO CONFERE'] : [])],
    sheets: canvases,
  })
}
