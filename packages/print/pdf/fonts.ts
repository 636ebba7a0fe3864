import { bold as boldGlyphs, type Glyphs, regular } from './glyphs.ts'
import type { Ansi } from './winansi.ts'
import { unicodeOf } from './winansi.ts'

/** A face of the form: Tinos, whose widths are those of Times New Roman (MOC NF-e 7.0, Anexo II, 3.7). */
export interface Font {
  /** Name of the resource in the page; for characters outside WinAnsi a number follows. */
  resource: string
  name: string
  glyphs: Glyphs
  /** Advance widths by character of an encoded text, in thousandths of the size. */
  widths: Uint16Array
  /** Thickness of the upright strokes (ISO 32000-1, 9.8). */
  stem: number
}

/** Tinos Regular, for labels and values. */
export const roman: Font = {
  resource: 'R',
  name: 'Tinos-Regular',
  glyphs: regular,
  widths: widthsOf(regular),
  stem: 84,
}

/** Tinos Bold, for titles, the chave and emphasised values. */
export const bold: Font = {
  resource: 'B',
  name: 'Tinos-Bold',
  glyphs: boldGlyphs,
  widths: widthsOf(boldGlyphs),
  stem: 139,
}

/** Every face a page may name. */
export const fonts: readonly Font[] = [roman, bold]

function widthsOf(glyphs: Glyphs): Uint16Array {
  const widths = new Uint16Array(Math.max(...glyphs.keys()) + 1)
  for (const [code, { advance }] of glyphs) if (code > 0xff) widths[code] = advance
  for (let byte = 0x20; byte <= 0xff; byte++) widths[byte] = glyphs.get(unicodeOf(byte))?.advance ?? 0
  return widths
}

/** Width of a text in thousandths of the size, without kerning. */
export function emWidth(text: Ansi, font: Font): number {
  const { widths } = font
  let sum = 0
  for (let i = 0; i < text.length; i++) sum += widths[text.charCodeAt(i)]!
  return sum
}

// A simple font has one byte per character. Characters outside WinAnsi share further fonts at fixed
// places, which start above the characters that a string must escape.
const firstPlace = 0x60
const places = 0x100 - firstPlace
const outside = [...regular.keys()].filter((code) => code > 0xff).toSorted((a, b) => a - b)
const order = new Map(outside.map((code, i) => [code, i]))

/** Place of a character outside WinAnsi: number of the further font, from 1, and byte. */
export function placeOf(code: number): { further: number; byte: number } {
  const i = order.get(code)!
  return { further: Math.floor(i / places) + 1, byte: firstPlace + (i % places) }
}

/** The character at a place. */
export function characterAt(further: number, byte: number): string {
  return String.fromCodePoint(outside[(further - 1) * places + byte - firstPlace]!)
}

/** The characters of encoded texts that a document shows in each face. */
export class Shown {
  readonly #codes = fonts.map(() => new Set<number>())

  add(text: Ansi, font: Font): void {
    const codes = this.#codes[fonts.indexOf(font)]!
    for (let i = 0; i < text.length; i++) codes.add(text.charCodeAt(i))
  }

  /** The characters shown in a face in any of these, in order. */
  static inAny(all: readonly Shown[], font: Font): number[] {
    const codes = all.flatMap((one) => [...one.#codes[fonts.indexOf(font)]!])
    return [...new Set(codes)].toSorted((a, b) => a - b)
  }
}
