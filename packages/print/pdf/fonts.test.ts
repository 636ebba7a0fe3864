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
