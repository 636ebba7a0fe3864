import { expect, test } from 'vitest'
import { a4, Canvas, pageUnits } from '../pdf/canvas.ts'
import { roman } from '../pdf/fonts.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { PdfWriter } from '../pdf/writer.ts'
import { layoutFaults } from './faults.ts'
import { readGraphics } from './graphics.ts'

function faults(draw: (canvas: Canvas) => void): string[] {
  const canvas = new Canvas()
  draw(canvas)
  const pdf = new PdfWriter(a4)
  pdf.page([pdf.stream(pageUnits(a4), ...canvas.content())], canvas.marked)
  return layoutFaults(readGraphics(pdf.bytes({ title: 'teste', parts: canvas.parts, shown: [canvas.shown] })))
}

const word = winAnsi('PALAVRA')

test('words beside and below each other are no fault', () => {
  expect(
    faults((canvas) => {
      canvas.text(50, 100, word, roman, 7)
      canvas.text(90, 100, word, roman, 7)
      canvas.text(50, 107.7, word, roman, 7)
      canvas.box(48, 92, 90, 20)
    }),
  ).toEqual([])
})

test('overlapping words', () => {
  expect(
    faults((canvas) => {
      canvas.text(50, 100, word, roman, 7)
      canvas.text(70, 102, word, roman, 7)
    }),
  ).toHaveLength(1)
})

test('a word across a rule, on a bar code and off the sheet', () => {
  expect(
    faults((canvas) => {
      canvas.text(50, 100, word, roman, 7)
      canvas.line(60, 90, 60, 110)
      canvas.bars(300, 90, 1, 30, [2, 1, 2])
      canvas.text(290, 100, word, roman, 7)
      canvas.text(570, 200, word, roman, 7)
    }),
  ).toHaveLength(4)
})

test('a rule too near to a bar code and a text too small', () => {
  expect(
    faults((canvas) => {
      canvas.bars(300, 90, 1, 30, [2, 1, 1])
      canvas.line(295, 80, 295, 130)
      canvas.text(50, 100, word, roman, 4.5)
    }),
  ).toHaveLength(2)
})
