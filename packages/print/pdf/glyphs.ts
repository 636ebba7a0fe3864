import { readFileSync } from 'node:fs'

/** A part of glyphs, as a Type 2 charstring that begins after its first moveto. */
export interface Outline {
  start: readonly [number, number]
  end: readonly [number, number]
  bytes: Uint8Array
}

/** Shape of a character: outlines on top of each other, for example a letter and its accent. */
export interface Glyph {
  /** In thousandths of the size. */
  advance: number
  parts: readonly { outline: Outline; dx: number; dy: number }[]
}

/** The glyphs of a typeface by code point, in units of the file's grid. */
export type Glyphs = ReadonlyMap<number, Glyph>

/** Units of the grid in an em, and the glyphs of the regular and the bold face (`scripts/fonts.ts` writes them). */
export const { unitsPerEm, regular, bold } = read(readFileSync(new URL('tinos.glyphs', import.meta.url)))

function read(file: Buffer): { unitsPerEm: number; regular: Glyphs; bold: Glyphs } {
  let at = 0
  const skip = (length: number): number => {
    at += length
    return at - length
  }
  const u8 = () => file.readUInt8(skip(1))
  const u16 = () => file.readUInt16BE(skip(2))
  const i16 = () => file.readInt16BE(skip(2))
  const times = <T>(count: number, one: () => T): T[] => Array.from({ length: count }, one)
  const face = (): Glyphs => {
    const outlines = times(u16(), (): Outline => {
      const [start, end, length] = [[i16(), i16()] as const, [i16(), i16()] as const, u16()]
      return { start, end, bytes: file.subarray(skip(length), at) }
    })
    const glyph = (): [number, Glyph] => {
      const [code, advance, parts] = [u16(), u16(), u8()]
      return [code, { advance, parts: times(parts, () => ({ outline: outlines[u16()]!, dx: i16(), dy: i16() })) }]
    }
    return new Map(times(u16(), glyph))
  }
  return { unitsPerEm: u16(), regular: face(), bold: face() }
}
