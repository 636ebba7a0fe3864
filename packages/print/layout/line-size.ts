import { emWidth, type Font } from '../pdf/fonts.ts'
import type { Ansi } from '../pdf/winansi.ts'
import { assertRoom } from '../printable.ts'
import { fittingSize } from './fields.ts'

/** Font size of a one-line text, at most `nominal`; throws PrintError if six points do not fit. */
export function lineSize(value: Ansi, font: Font, nominal: number, room: number): number {
  const size = fittingSize([{ value, font, room }], nominal, 6)
  assertRoom(room, (emWidth(value, font) * size) / 1000)
  return size
}
