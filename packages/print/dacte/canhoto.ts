import { value, type XmlElement } from '@vigia/dfe/document'
import { documentNumber, series } from '../formats.ts'
import { type Block, padding } from '../layout/block.ts'
import { fieldRow } from '../layout/fields.ts'
import { lineSize } from '../layout/line-size.ts'
import type { PrintSheet } from '../layout/sheet.ts'
import type { Canvas } from '../pdf/canvas.ts'
import { bold, roman } from '../pdf/fonts.ts'
import { winAnsi } from '../pdf/winansi.ts'
import type { PrintedCte } from './cte.ts'

const rowHeight = 19
const sentenceHeight = 12
const declaration =
  'DECLARO QUE RECEBI OS VOLUMES DESTE CONHECIMENTO EM PERFEITO ESTADO PELO QUE DOU POR CUMPRIDO O PRESENTE CONTRATO DE TRANSPORTE'

const names: Record<PrintedCte['layout'], string> = { cte: 'CT-E', simplificado: 'CT-E', os: 'CT-E OS', gtve: 'GTV-E' }

/** The receipt at the top of the first sheet, with its cut line (MOC CT-e 4.00, Anexo II, 2.21.5). */
export function canhoto({ ide, layout, sheet }: PrintedCte): Block {
  if (sheet.landscape) return lowCanhoto(ide, layout, sheet)
  const widths = { who: 155, signature: 165, when: 150, number: sheet.width - 470 }
  const one = (label: string, width: number, height: number) =>
    fieldRow([{ label, width: 1 }], width, { height, size: 7 })
  const who = [one('NOME', widths.who, rowHeight), one('RG', widths.who, rowHeight)]
  const signature = one('ASSINATURA / CARIMBO', widths.signature, 2 * rowHeight)
  const when = [
    one('TÉRMINO DA PRESTAÇÃO - DATA/HORA', widths.when, rowHeight),
    one('INÍCIO DA PRESTAÇÃO - DATA/HORA', widths.when, rowHeight),
  ]
  const height = sentenceHeight + 2 * rowHeight
  return {
    height: height + 8,
    draw(canvas, x, y) {
      canvas.box(x, y, sheet.width, height)
      canvas.aligned(x, sheet.width, y + 8.3, winAnsi(declaration), roman, 6.5, 'center')
      const top = y + sentenceHeight
      canvas.line(x, top, x + sheet.width, top)
      who.forEach((box, i) => {
        box.draw(canvas, x, top + i * rowHeight)
      })
      signature.draw(canvas, x + widths.who, top)
      when.forEach((box, i) => {
        box.draw(canvas, x + widths.who + widths.signature, top + i * rowHeight)
      })
      const left = x + sheet.width - widths.number
      numberBox(canvas, left, top + 11, widths.number, ide, layout)
      canvas.line(x, y + height + 4, x + sheet.width, y + height + 4, 'cut')
    },
  }
}

// One row of boxes in landscape, because height is scarce there.
function lowCanhoto(ide: XmlElement, layout: PrintedCte['layout'], sheet: PrintSheet): Block {
  const numberWidth = 100
  const width = sheet.width - numberWidth
  const labels = [
    ['NOME', 165],
    ['RG', 95],
    ['ASSINATURA / CARIMBO', 190],
    ['TÉRMINO DA PRESTAÇÃO - DATA/HORA', 132],
    ['INÍCIO DA PRESTAÇÃO - DATA/HORA', 132],
  ] as const
  const boxes = fieldRow(
    labels.map(([label, share]) => ({ label, width: share })),
    width,
    { height: 24 },
  )
  const height = sentenceHeight + boxes.height
  return {
    height: height + 8,
    draw(canvas, x, y) {
      canvas.box(x, y, sheet.width, height)
      canvas.aligned(x, width, y + 8.3, winAnsi(declaration), roman, 6.5, 'center')
      boxes.draw(canvas, x, y + sentenceHeight)
      canvas.line(x + width, y, x + width, y + height)
      numberBox(canvas, x + width, y + 10.5, numberWidth, ide, layout)
      canvas.line(x, y + height + 4, x + sheet.width, y + height + 4, 'cut')
    },
  }
}

function numberBox(
  canvas: Canvas,
  x: number,
  baseline: number,
  width: number,
  ide: XmlElement,
  layout: PrintedCte['layout'],
): void {
  const number = `Nº ${documentNumber(value(ide, 'nCT')) ?? ''}`
  const serie = `SÉRIE ${series(value(ide, 'serie')) ?? ''}`
  ;[names[layout], number, serie].forEach((line, n) => {
    const text = winAnsi(line)
    canvas.aligned(x, width, baseline + n * 11.5, text, bold, lineSize(text, bold, 10, width - 2 * padding), 'center')
  })
}
