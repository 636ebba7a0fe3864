import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import opentype, { type Font, type Glyph } from 'opentype.js'
import { drawn } from './charstring.ts'
import { contoursOf, farthest, onGrid } from './outline.ts'

const faces = ['400Regular/Tinos_400Regular.ttf', '700Bold/Tinos_700Bold.ttf']
const target = path.join(import.meta.dirname, '../pdf/tinos.glyphs')

// The grid decides most of a font's size in the file. The widths of Times are whole eighteenths of the em and keep their exact
// places on a grid of a multiple of 18: see docs/decisions/0023-embedded-fonts.md.
const unitsPerEm = 72
// How far a curve may lie from the original, in thousandths of the em.
const tolerance = 3

// Beside WinAnsi: the letters of Europe, marks, signs and arrows. Ligatures are left out: their letters can be searched.
const ranges: readonly (readonly [number, number])[] = [
  [0x21, 0x7e],
  [0xa1, 0x17f],
  [0x192, 0x192],
  [0x218, 0x21b],
  [0x2c6, 0x2dd],
  [0x370, 0x45f],
  [0x490, 0x491],
  [0x1e80, 0x1e85],
  [0x1ef2, 0x1ef3],
  [0x2010, 0x2027],
  [0x2030, 0x205e],
  [0x2070, 0x209c],
  [0x20a0, 0x20bf],
  [0x2100, 0x22ff],
  [0x25a0, 0x25ff],
  [0x2640, 0x266f],
]
const space = 0x20

// Of each outline that is written, in thousandths of the em.
const deviations: { name: string; off: number }[] = []

// Writes the glyphs that our PDFs embed, from the typeface's package. They change with it only: it is run by hand and the result
// is kept; `--check` tells whether the result is what the package gives.
const written = await glyphFile()
if (process.argv.includes('--check')) {
  const kept = await readFile(target)
  if (!kept.equals(written)) {
    console.error(`${path.basename(target)} is not what the package gives: run node packages/print/typeface/write.ts`)
    process.exitCode = 1
  }
} else await writeFile(target, written)

const sorted = deviations.toSorted((a, b) => b.off - a.off)
const said = sorted.slice(0, 3).map(({ name, off }) => `${name} ${off.toFixed(1)}`)
const middle = sorted[sorted.length >> 1]!.off.toFixed(1)
console.log(
  `Farthest from the original, in thousandths of the em: ${said.join(', ')}; half of the outlines within ${middle}`,
)

async function glyphFile(): Promise<Buffer> {
  const { resolve } = createRequire(import.meta.url)
  const fonts = await Promise.all(
    faces.map(async (face) => {
      const file = await readFile(resolve(`@expo-google-fonts/tinos/${face}`))
      return opentype.parse(new Uint8Array(file).buffer)
    }),
  )
  const codes = [space]
  for (const [first, last] of ranges) {
    for (let code = first; code <= last; code++) {
      const character = String.fromCodePoint(code)
      // Texts are composed before they are set: what composition replaces never comes.
      if (character.normalize('NFC') !== character) continue
      if (fonts.every((font) => font.charToGlyph(character).index > 0)) codes.push(code)
    }
  }
  return Buffer.concat([u16(unitsPerEm), ...fonts.map((font) => face(font, codes))])
}

function face(font: Font, codes: readonly number[]): Buffer {
  const scale = unitsPerEm / font.unitsPerEm
  const outlines: Buffer[] = []
  const byGlyph = new Map<number, number>()
  const outlineOf = (glyph: Glyph): number => {
    const known = byGlyph.get(glyph.index)
    if (known !== undefined) return known
    const contours = contoursOf(glyph.path.commands, (tolerance * font.unitsPerEm) / 1000)
    const kept = contours.map((one) => onGrid(one, scale)).filter((one) => one !== undefined)
    const off = (farthest(glyph.path.commands, kept, scale) * 1000) / font.unitsPerEm
    deviations.push({ name: glyph.name, off })
    const { start, end, bytes } = drawn(kept)
    outlines.push(Buffer.concat([start.x, start.y, end.x, end.y, bytes.length].map(u16)), Buffer.from(bytes))
    byGlyph.set(glyph.index, byGlyph.size)
    return byGlyph.size - 1
  }
  const parts = (glyph: Glyph): Buffer[] => {
    if (!glyph.components?.every(upright)) {
      return glyph.path.commands.length > 0 ? [part(outlineOf(glyph), 0, 0)] : []
    }
    return glyph.components.flatMap(({ glyphIndex, dx, dy }) => {
      const component = font.glyphs.get(glyphIndex)
      if (component.components) throw new RangeError(`${glyph.name} is made of parts that are made of parts`)
      return [part(outlineOf(component), Math.round(dx * scale), Math.round(dy * scale))]
    })
  }
  const glyphs = codes.map((code) => {
    const glyph = font.charToGlyph(String.fromCodePoint(code))
    const all = parts(glyph)
    const advance = Math.round((glyph.advanceWidth * 1000) / font.unitsPerEm)
    return Buffer.concat([u16(code), u16(advance), Buffer.from([all.length]), ...all])
  })
  return Buffer.concat([u16(byGlyph.size), ...outlines, u16(glyphs.length), ...glyphs])
}

function upright({
  xScale,
  scale01,
  scale10,
  yScale,
}: {
  xScale: number
  scale01: number
  scale10: number
  yScale: number
}): boolean {
  return xScale === 1 && yScale === 1 && scale01 === 0 && scale10 === 0
}

function part(outline: number, dx: number, dy: number): Buffer {
  return Buffer.concat([outline, dx, dy].map(u16))
}

function u16(value: number): Buffer {
  return Buffer.from([(value >> 8) & 255, value & 255])
}
