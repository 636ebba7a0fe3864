import { emWidth, type Font } from '../pdf/fonts.ts'
import type { Ansi } from '../pdf/winansi.ts'
import { assertRoom } from '../printable.ts'
import { fittingSize } from './fields.ts'

/** The size, `nominal` if it can be, of a text that has one line and no more; what is too long at six points is refused. */
export function lineSize(value: Ansi, font: Font, nominal: number, room: number): number {
  const size = fittingSize([{ value, font, room }], nominal, 6)
  assertRoom(room, (emWidth(value, font) * size) / 1000)
  return size
}
