import { glyphs } from './glyphs.ts'
import type { Ansi } from './winansi.ts'
import { unicodeOf } from './winansi.ts'

/** A weight of the typeface of the forms: Tinos, whose widths are those of Times New Roman (MOC NF-e 7.0, Anexo II, 3.7). */
export interface Font {
  /** Advance widths by character of an encoded text, in thousandths of the size. */
  widths: Uint16Array
  /** What makes a text bold, in thousandths of the size: the stroke around its letters, and the room that is added between them. */
  bold: { stroke: number; spacing: number } | undefined
}

/** What the pages call the font; for characters outside WinAnsi a number follows. */
export const fontName = 'R'

/** For labels and values. */
export const roman: Font = { widths: widthsOf(0), bold: undefined }

const spacing = 20

/** For titles, the chave and the values that stand out: the same letters with a stroke, because a second face takes a quarter of the bytes of a form. */
export const bold: Font = { widths: widthsOf(spacing), bold: { stroke: 35, spacing } }

function widthsOf(spacing: number): Uint16Array {
  const widths = new Uint16Array(Math.max(...glyphs.keys()) + 1)
  for (const [code, { advance }] of glyphs) if (code > 0xff) widths[code] = advance + spacing
  for (let byte = 0x20; byte <= 0xff; byte++) widths[byte] = (glyphs.get(unicodeOf(byte))?.advance ?? 0) + spacing
  return widths
}

/** Width of a text in thousandths of the size, without kerning. */
export function emWidth(text: Ansi, font: Font): number {
  const { widths } = font
  let sum = 0
  for (let i = 0; i < text.length; i++) sum += widths[text.charCodeAt(i)]!
  return sum
}

// A simple font has one byte for a character. Those outside WinAnsi share further fonts, each with a place of its own that no
// document changes; the places begin above the signs that a string must escape.
const firstPlace = 0x60
const places = 0x100 - firstPlace
const outside = [...glyphs.keys()].filter((code) => code > 0xff).toSorted((a, b) => a - b)
const order = new Map(outside.map((code, i) => [code, i]))

/** Where a character outside WinAnsi stands: in which of the further fonts, from 1, and at which byte. */
export function placeOf(code: number): { further: number; byte: number } {
  const i = order.get(code)!
  return { further: Math.floor(i / places) + 1, byte: firstPlace + (i % places) }
}

/** The character at a place. */
export function characterAt(further: number, byte: number): string {
  return String.fromCodePoint(outside[(further - 1) * places + byte - firstPlace]!)
}

/** The characters of encoded texts that a document shows. */
export class Shown {
  readonly #bytes = new Uint8Array(256)
  readonly #further = new Set<number>()

  add(text: Ansi): void {
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code <= 0xff) this.#bytes[code] = 1
      else this.#further.add(code)
    }
  }

  /** The characters shown in any of these, in order. */
  static inAny(all: readonly Shown[]): number[] {
    const codes: number[] = []
    for (let byte = 0; byte <= 0xff; byte++) if (all.some((shown) => shown.#bytes[byte] === 1)) codes.push(byte)
    const further = new Set(all.flatMap((shown) => [...shown.#further]))
    return further.size > 0 ? codes.concat([...further].toSorted((a, b) => a - b)) : codes
  }
}
