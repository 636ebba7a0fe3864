import type { Ansi } from './winansi.ts'

/** A face of the form: the two Times of the fourteen standard fonts (ISO 32000-1, 9.6.2.2; MOC NF-e 7.0, Anexo II, 3.7). */
export interface Font {
  /** Name of the resource in the page. */
  resource: string
  baseFont: string
  /** Advance widths by WinAnsi code, in thousandths of the size (Adobe font metrics). */
  widths: Uint16Array
}

// Codes 32 to 255 in WinAnsi order; 0 where the encoding has no character.
const romanWidths = `
  250 333 408 500 500 833 778 180 333 333 500 564 250 333 250 278 500 500 500 500 500 500 500 500 500 500 278 278
  564 564 564 444 921 722 667 667 722 611 556 722 722 333 389 722 611 889 722 722 556 722 667 556 611 722 722 944
  722 722 611 333 278 333 469 500 333 444 500 444 500 444 333 500 500 278 278 500 278 778 500 500 500 500 333 389
  278 500 500 722 500 500 444 480 200 480 541 0 500 0 333 500 444 1000 500 500 333 1000 556 333 889 0 611 0 0 333
  333 444 444 350 500 1000 333 980 389 333 722 0 444 722 250 333 500 500 500 500 200 500 333 760 276 500 564 333
  760 333 400 564 300 300 333 500 453 250 333 300 310 500 750 750 750 444 722 722 722 722 722 722 889 667 611 611
  611 611 333 333 333 333 722 722 722 722 722 722 722 564 722 722 722 722 722 722 556 500 444 444 444 444 444 444
  667 444 444 444 444 444 278 278 278 278 500 500 500 500 500 500 500 564 500 500 500 500 500 500 500 500`
const boldWidths = `
  250 333 555 500 500 1000 833 278 333 333 500 570 250 333 250 278 500 500 500 500 500 500 500 500 500 500 333 333
  570 570 570 500 930 722 667 722 722 667 611 778 778 389 500 778 667 944 722 778 611 778 722 556 667 722 722 1000
  722 722 667 333 278 333 581 500 333 500 556 444 556 444 333 500 556 278 333 556 278 833 556 500 556 556 444 389
  333 556 500 722 500 500 444 394 220 394 520 0 500 0 333 500 500 1000 500 500 333 1000 556 333 1000 0 667 0 0 333
  333 500 500 350 500 1000 333 1000 389 333 722 0 444 722 250 333 500 500 500 500 220 500 333 747 300 500 570 333
  747 333 400 570 300 300 333 556 540 250 333 300 330 500 750 750 750 500 722 722 722 722 722 722 1000 722 667 667
  667 667 389 389 389 389 722 722 778 778 778 778 778 570 778 722 722 722 722 722 611 556 500 500 500 500 500 500
  722 444 444 444 444 444 278 278 278 278 500 556 500 500 500 500 500 570 500 556 556 556 556 500 556 500`

/** Times-Roman, for labels and values. */
export const roman: Font = { resource: 'R', baseFont: 'Times-Roman', widths: table(romanWidths) }

/** Times-Bold, for titles, the chave and the values that stand out. */
export const bold: Font = { resource: 'B', baseFont: 'Times-Bold', widths: table(boldWidths) }

/** Every face a page may name. */
export const fonts: readonly Font[] = [roman, bold]

function table(text: string): Uint16Array {
  const widths = new Uint16Array(256)
  widths.set(text.trim().split(/\s+/).map(Number), 32)
  return widths
}

/** Width of a text in thousandths of the size, without kerning. */
export function emWidth(text: Ansi, font: Font): number {
  const { widths } = font
  let sum = 0
  for (let i = 0; i < text.length; i++) sum += widths[text.charCodeAt(i)]!
  return sum
}
