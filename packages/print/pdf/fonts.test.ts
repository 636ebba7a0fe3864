import opentype from 'opentype.js'
import { describe, expect, test } from 'vitest'
import { danfe } from '../danfe.ts'
import { readGraphics, readObjects } from '../support/graphics.ts'
import { writeNfe } from '../support/nfe.ts'
import { readWords, squeezed } from '../support/words.ts'
import { a4, Canvas, pageUnits } from './canvas.ts'
import { bold, roman } from './fonts.ts'
import { glyphs, unitsPerEm } from './glyphs.ts'
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
function sheet(draw: (canvas: Canvas) => void): Uint8Array {
  const canvas = new Canvas()
  draw(canvas)
  const pdf = new PdfWriter(a4)
  pdf.page([pdf.stream(pageUnits(a4) + canvas.content(0))], canvas.roles)
  return pdf.bytes(winAnsi('Larguras (teste)'), [canvas.shown])
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

test('the letters are as wide as Times, and bold ones have room for their stroke', () => {
  const times = timesRoman.trim().split(/\s+/).map(Number)
  expect(times).toHaveLength(224)
  times.forEach((width, i) => {
    const character = String.fromCharCode(32 + i)
    if (width > 0 && !differing.includes(character))
      expect([character, roman.widths[32 + i]]).toEqual([character, width])
    expect(bold.widths[32 + i]).toBe(roman.widths[32 + i]! + bold.bold!.spacing)
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
    const after = i % 2 === 1 ? (bold.bold!.spacing * 8) / 1000 : 0
    expect(word.width).toBeCloseTo(ours[i]!.width - after, 1)
    expect(word.x).toBeCloseTo(20, 1)
  })
})

test('characters outside WinAnsi are found as they are, also where they need more than one further font', async () => {
  const further = [...glyphs.keys()].filter((code) => code > 0xff).map((code) => String.fromCodePoint(code))
  const lines = ['10 Ω ± 5 % ≤ 1/2 → Łódź', 'Привет, κόσμε', ...chunks(further.join(''), 50)]
  const bytes = sheetOf(lines)
  const text = squeezed((await readWords(bytes)).pages)
  for (const line of lines) expect(text).toContain(squeeze(line) + squeeze(line))
  expect(readGraphics(bytes)[0]!.runs[0]!.text).toBe(lines[0])
  expect(fontFiles(bytes).length).toBeGreaterThan(2)
})

// The glyph names of WinAnsi, which a viewer looks up in the font.
const winAnsiNames = names()

describe('embedded fonts', () => {
  const bytes = danfe(writeNfe({ items: 3, infCpl: 'Motor 5 kΩ ≥ 3 € ≤ λπ Łódź − ½' }))

  test('every font is embedded and has the glyphs that the document shows and no others, as wide as it says', () => {
    const objects = readObjects(bytes)
    const named = [...objects.values()].filter(({ head }) => head.startsWith('<</Type/Font/'))
    expect(new Set(named.map(({ head }) => /BaseFont\/[A-Z]{6}\+(\S+?)\//.exec(head)?.[1]))).toEqual(
      new Set(['Tinos-Regular']),
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

  test('bold letters are those of the other texts, filled and stroked', () => {
    const [program, second] = fontFiles(
      sheet((canvas) => {
        canvas.text(20, 20, winAnsi('Ação'), roman, 8)
        canvas.text(20, 40, winAnsi('Aço'), bold, 8)
      }),
    )
    expect([...parsedFont(program!).keys()]).toEqual(['.notdef', 'A', 'o', 'atilde', 'ccedilla'])
    expect(second).toBeUndefined()
  })
})

// opentype.js reads the program inside an OpenType file: the least tables that it asks for.
function parsedFont(data: Buffer): Map<string, { width: number; commands: number }> {
  const head = Buffer.alloc(54)
  head.writeUInt32BE(0x5f0f3cf5, 12)
  head.writeUInt16BE(unitsPerEm, 18)
  // Format 4 without characters.
  const words = [0, 1, 3, 1, 0, 12, 4, 24, 0, 2, 2, 0, 0, 0xffff, 0, 0xffff, 1, 0]
  const cmap = words.flatMap((word) => [word >> 8, word & 255])
  const maxp = Buffer.from([0, 0, 0x50, 0, 0, 1])
  const tables: [string, Buffer][] = [
    ['CFF ', data],
    ['head', head],
    ['cmap', Buffer.from(cmap)],
    ['hhea', Buffer.concat([Buffer.alloc(34), Buffer.from([0, 1])])],
    ['hmtx', Buffer.alloc(1000)],
    ['maxp', maxp],
    ['name', Buffer.from([0, 0, 0, 0, 0, 6])],
  ]
  const directory = Buffer.alloc(12 + 16 * tables.length)
  directory.write('OTTO', 0, 'latin1')
  directory.writeUInt16BE(tables.length, 4)
  let at = directory.length
  tables.forEach(([tag, { length }], i) => {
    directory.write(tag, 12 + 16 * i, 'latin1')
    directory.writeUInt32BE(at, 20 + 16 * i)
    directory.writeUInt32BE(length, 24 + 16 * i)
    at += length
  })
  const file = new Uint8Array(Buffer.concat([directory, ...tables.map(([, table]) => table)]))
  const { glyphs } = opentype.parse(file.buffer)
  return new Map(
    Array.from({ length: glyphs.length }, (_, i) => {
      const glyph = glyphs.get(i)
      const commands = glyph.path.commands.length
      return [glyph.name, { width: (glyph.advanceWidth * 1000) / unitsPerEm, commands }]
    }),
  )
}

function names(): string[] {
  const ascii =
    'space exclam quotedbl numbersign dollar percent ampersand quotesingle parenleft parenright asterisk plus comma hyphen period slash zero one two three four five six seven eight nine colon semicolon less equal greater question at A B C D E F G H I J K L M N O P Q R S T U V W X Y Z bracketleft backslash bracketright asciicircum underscore grave a b c d e f g h i j k l m n o p q r s t u v w x y z braceleft bar braceright asciitilde'
  const latin =
    'space exclamdown cent sterling currency yen brokenbar section dieresis copyright ordfeminine guillemotleft logicalnot hyphen registered macron degree plusminus twosuperior threesuperior acute mu paragraph periodcentered cedilla onesuperior ordmasculine guillemotright onequarter onehalf threequarters questiondown Agrave Aacute Acircumflex Atilde Adieresis Aring AE Ccedilla Egrave Eacute Ecircumflex Edieresis Igrave Iacute Icircumflex Idieresis Eth Ntilde Ograve Oacute Ocircumflex Otilde Odieresis multiply Oslash Ugrave Uacute Ucircumflex Udieresis Yacute Thorn germandbls agrave aacute acircumflex atilde adieresis aring ae ccedilla egrave eacute ecircumflex edieresis igrave iacute icircumflex idieresis eth ntilde ograve oacute ocircumflex otilde odieresis divide oslash ugrave uacute ucircumflex udieresis yacute thorn ydieresis'
  const all: string[] = []
  ascii.split(' ').forEach((name, i) => {
    all[0x20 + i] = name
  })
  all[0x80] = 'Euro'
  latin.split(' ').forEach((name, i) => {
    all[0xa0 + i] = name
  })
  return all
}

function fontFiles(bytes: Uint8Array): Buffer[] {
  return [...readObjects(bytes).values()].filter(({ head }) => head.includes('/Type1C')).map(({ data }) => data)
}

function chunks(text: string, length: number): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, i) => text.slice(i * length, (i + 1) * length))
}

const squeeze = (text: string) => text.replace(/\s+/g, '')
