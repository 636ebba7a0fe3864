import { describe, expect, test } from 'vitest'
import { danfe } from '../danfe.ts'
import { parsedFont, winAnsiNames } from '../support/font-program.ts'
import { readGraphics, readObjects } from '../support/graphics.ts'
import { writeNfe } from '../support/nfe.ts'
import { readWords, squeezed } from '../support/words.ts'
import { a4, Canvas, pageUnits } from './canvas.ts'
import { bold, fonts, roman } from './fonts.ts'
import { winAnsi } from './winansi.ts'
import { PdfWriter } from './writer.ts'

// Adobe's metrics of Times-Roman and Times-Bold: codes 32 to 255 in WinAnsi order; 0 where the encoding has no character.
const timesRoman = `
  250 333 408 500 500 833 778 180 333 333 500 564 250 333 250 278 500 500 500 500 500 500 500 500 500 500 278 278
  564 564 564 444 921 722 667 667 722 611 556 722 722 333 389 722 611 889 722 722 556 722 667 556 611 722 722 944
  722 722 611 333 278 333 469 500 333 444 500 444 500 444 333 500 500 278 278 500 278 778 500 500 500 500 333 389
  278 500 500 722 500 500 444 480 200 480 541 0 500 0 333 500 444 1000 500 500 333 1000 556 333 889 0 611 0 0 333
  333 444 444 350 500 1000 333 980 389 333 722 0 444 722 250 333 500 500 500 500 200 500 333 760 276 500 564 333
  760 333 400 564 300 300 333 500 453 250 333 300 310 500 750 750 750 444 722 722 722 722 722 722 889 667 611 611
  611 611 333 333 333 333 722 722 722 722 722 722 722 564 722 722 722 722 722 722 556 500 444 444 444 444 444 444
  667 444 444 444 444 444 278 278 278 278 500 500 500 500 500 500 500 564 500 500 500 500 500 500 500 500`
const timesBold = `
  250 333 555 500 500 1000 833 278 333 333 500 570 250 333 250 278 500 500 500 500 500 500 500 500 500 500 333 333
  570 570 570 500 930 722 667 722 722 667 611 778 778 389 500 778 667 944 722 778 611 778 722 556 667 722 722 1000
  722 722 667 333 278 333 581 500 333 500 556 444 556 444 333 500 556 278 333 556 278 833 556 500 556 556 444 389
  333 556 500 722 500 500 444 394 220 394 520 0 500 0 333 500 500 1000 500 500 333 1000 556 333 1000 0 667 0 0 333
  333 500 500 350 500 1000 333 1000 389 333 722 0 444 722 250 333 500 500 500 500 220 500 333 747 300 500 570 333
  747 333 400 570 300 300 333 556 540 250 333 300 330 500 750 750 750 500 722 722 722 722 722 722 1000 722 667 667
  667 667 389 389 389 389 722 722 778 778 778 778 778 570 778 722 722 722 722 722 611 556 500 500 500 500 500 500
  722 444 444 444 444 444 278 278 278 278 500 556 500 500 500 500 500 570 500 556 556 556 556 500 556 500`

function sheet(draw: (canvas: Canvas) => void): Uint8Array {
  const canvas = new Canvas()
  draw(canvas)
  const pdf = new PdfWriter(a4)
  pdf.page([pdf.stream(pageUnits(a4), ...canvas.content())], canvas.marked)
  return pdf.bytes({ title: 'Larguras (teste)', parts: canvas.parts, shown: [canvas.shown] })
}

function sheetOf(lines: readonly string[]): Uint8Array {
  return sheet((canvas) =>
    lines.forEach((line, i) => {
      canvas.text(20, 20 + i * 20, winAnsi(line), roman, 8)
      canvas.text(20, 30 + i * 20, winAnsi(line), bold, 8)
    }),
  )
}

// Signs that Times New Roman, whose widths Tinos has, draws wider or narrower than Adobe's Times.
const differing = '¯±µ·÷'

test.each([
  ['regular', roman, timesRoman],
  ['bold', bold, timesBold],
])('the %s face is as wide as Times', (_, font, text) => {
  const times = text.trim().split(/\s+/).map(Number)
  expect(times).toHaveLength(224)
  times.forEach((width, i) => {
    const character = String.fromCharCode(32 + i)
    if (width > 0 && !differing.includes(character))
      expect([character, font.widths[32 + i]]).toEqual([character, width])
  })
})

test('PDF.js finds texts of the right width', async () => {
  const letters = 'AÀÁÂÃÄBCÇDEÉÊFGHIÍJKLMNÑOÓÔÕPQRSTUÚVWXYZaàáâãbcçdeéêfghiíjklmnoóôõpqrstuúüvwxyz0123456789'
  const signs = '!"#$%&()*+,-./:;<=>@[]^_{|}~§©ª«®°±²³´µ¶·¹º»¼½¾¿€‚„…†‡‰‹‘’“”•–—™›'
  const lines = [letters.slice(0, 45), letters.slice(45), signs.slice(0, 30), signs.slice(30)]
  const bytes = sheetOf(lines)
  const { pages, title } = await readWords(bytes)
  const ours = readGraphics(bytes)[0]!.runs
  expect(title).toBe('Larguras (teste)')
  expect(pages[0]!.map((word) => word.text)).toEqual(lines.flatMap((line) => [line, line]))
  pages[0]!.forEach((word, i) => {
    expect(word.width).toBeCloseTo(ours[i]!.width, 1)
    expect(word.x).toBeCloseTo(20, 1)
  })
})

test('characters outside WinAnsi are found as they are, also where they need more than one further font', async () => {
  const further = [...roman.glyphs.keys()].filter((code) => code > 0xff).map((code) => String.fromCodePoint(code))
  const lines = ['10 Ω ± 5 % ≤ 1/2 → Łódź', 'Привет, κόσμε', ...chunks(further.join(''), 50)]
  const bytes = sheetOf(lines)
  const text = squeezed((await readWords(bytes)).pages)
  for (const line of lines) expect(text).toContain(squeeze(line) + squeeze(line))
  expect(readGraphics(bytes)[0]!.runs[0]!.text).toBe(lines[0])
  expect(fontFiles(bytes).length).toBeGreaterThan(2 * fonts.length)
})

describe('embedded fonts', () => {
  const bytes = danfe(writeNfe({ items: 3, infCpl: 'Motor 5 kΩ ≥ 3 € ≤ λπ Łódź − ½ № √ ∞ ⅓' }))

  test('every font is embedded and has the glyphs that the document shows and no others, as wide as it says', () => {
    const objects = readObjects(bytes)
    const named = [...objects.values()].filter(({ head }) => head.startsWith('<</Type/Font/'))
    expect(named.map(({ head }) => /BaseFont\/[A-Z]{6}\+(\S+?)\//.exec(head)?.[1])).toEqual(
      expect.arrayContaining(['Tinos-Regular', 'Tinos-Bold']),
    )
    for (const { head } of named) {
      const descriptor = objects.get(Number(/FontDescriptor (\d+)/.exec(head)?.[1]))!.head
      expect(/FontName\/([^/]+)/.exec(descriptor)?.[1]).toBe(/BaseFont\/([^/]+)/.exec(head)?.[1])
      const program = parsedFont(objects.get(Number(/FontFile3 (\d+)/.exec(descriptor)?.[1]))!.data)
      const first = Number(/FirstChar (\d+)/.exec(head)?.[1])
      const widths = /Widths\[([^\]]*)\]/.exec(head)![1]!.split(' ').map(Number)
      const differences = [...(/Differences\[([^\]]*)\]/.exec(head)?.[1] ?? '').matchAll(/(\d+)\/(\w+)/g)]
      const expected = differences.length > 0 ? differences.map(([, code, name]) => [Number(code), name!] as const) : []
      if (differences.length > 0) expect(differences.length).toBe(widths.filter((width) => width > 0).length)
      else {
        for (const [i, width] of widths.entries()) if (width > 0) expected.push([first + i, winAnsiNames[first + i]!])
      }
      expect([...program.keys()].toSorted()).toEqual(
        ['.notdef', ...new Set(expected.map(([, name]) => name))].toSorted(),
      )
      for (const [code, name] of expected) {
        const glyph = program.get(name)!
        expect(Math.abs(glyph.width - widths[code - first]!)).toBeLessThanOrEqual(1)
        if (name !== 'space') expect(glyph.commands).toBeGreaterThan(3)
      }
    }
  })

  test('a character shown in one face only is not in the other', () => {
    const [regular, boldOnly] = fontFiles(sheet((canvas) => canvas.text(20, 20, winAnsi('Ação'), roman, 8)))
    expect([...parsedFont(regular!).keys()]).toEqual(['.notdef', 'A', 'o', 'atilde', 'ccedilla'])
    expect(boldOnly).toBeUndefined()
  })
})

function fontFiles(bytes: Uint8Array): Buffer[] {
  return [...readObjects(bytes).values()].filter(({ head }) => head.includes('/Type1C')).map(({ data }) => data)
}

function chunks(text: string, length: number): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, i) => text.slice(i * length, (i + 1) * length))
}

const squeeze = (text: string) => text.replace(/\s+/g, '')
