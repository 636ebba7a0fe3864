import { expect, test } from 'vitest'
import { readGraphics } from '../support/graphics.ts'
import { readWords } from '../support/words.ts'
import { Canvas, pageUnits } from './canvas.ts'
import { bold, roman } from './fonts.ts'
import { winAnsi } from './winansi.ts'
import { Pdf } from './writer.ts'

test('our widths are those PDF.js knows for the standard fonts', async () => {
  const letters = 'AÀÁÂÃÄBCÇDEÉÊFGHIÍJKLMNÑOÓÔÕPQRSTUÚVWXYZaàáâãbcçdeéêfghiíjklmnoóôõpqrstuúüvwxyz0123456789'
  const signs = '!"#$%&()*+,-./:;<=>@[]^_{|}~§©ª«®°±²³´µ¶·¹º»¼½¾¿€‚„…†‡‰‹‘’“”•–—™›'
  const canvas = new Canvas()
  const lines = [letters.slice(0, 45), letters.slice(45), signs.slice(0, 30), signs.slice(30)]
  lines.forEach((line, i) => {
    canvas.text(20, 100 + i * 40, winAnsi(line), roman, 8)
    canvas.text(20, 120 + i * 40, winAnsi(line), bold, 8)
  })
  const pdf = new Pdf()
  pdf.page([pdf.stream(pageUnits + canvas.content())])
  const bytes = pdf.bytes(winAnsi('Larguras (teste)'))
  const { pages, title } = await readWords(bytes)
  const ours = readGraphics(bytes)[0]!.runs
  expect(title).toBe('Larguras (teste)')
  expect(pages[0]!.map((word) => word.text)).toEqual(lines.flatMap((line) => [line, line]))
  pages[0]!.forEach((word, i) => {
    expect(word.width).toBeCloseTo(ours[i]!.width, 1)
    expect(word.x).toBeCloseTo(20, 1)
  })
})
