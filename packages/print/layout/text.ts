import { goesOn } from '../pdf/canvas.ts'
import type { Font } from '../pdf/fonts.ts'
import { emWidth } from '../pdf/fonts.ts'
import type { Ansi } from '../pdf/winansi.ts'
import { winAnsi } from '../pdf/winansi.ts'

const space = 0x20

/** Distance between baselines for a size, tight but without touching. */
export function leading(size: number): number {
  return Math.round(size * 11) / 10
}

/** Wraps a text to a width. Breaks a longer word after a punctuation character, else anywhere. */
export function wrap(text: Ansi, font: Font, size: number, width: number): Ansi[] {
  const limit = (width * 1000) / size
  if (emWidth(text, font) <= limit) return [text]
  const lines: Ansi[] = []
  for (let from = 0; from < text.length; ) {
    const to = lineEnd(text, from, font, limit)
    lines.push(lineOf(text, from, to))
    from = to
    while (text.charCodeAt(from) === space) from++
  }
  return lines
}

/** Wraps a name to as few lines, without a single last word if earlier lines can spare one. */
export function wrapName(text: Ansi, font: Font, size: number, width: number): Ansi[] {
  const lines = wrap(text, font, size, width)
  if (lines.length < 2 || lines.at(-1)!.includes(' ')) return lines
  for (let narrower = width - 4; narrower > width / 2; narrower -= 4) {
    const other = wrap(text, font, size, narrower)
    // Not at the price of a word broken in two.
    if (other.length > lines.length || other.join(' ') !== text) break
    if (other.at(-1)!.includes(' ')) return other
  }
  return lines
}

/** The lines used of a text, and the rest. */
interface Cut {
  lines: Ansi[]
  rest: Ansi[]
}

/** The first lines of several paragraphs, and the paragraphs (one of them shortened) that did not fit. */
export function cut(paragraphs: readonly Ansi[], font: Font, size: number, width: number, linesMax: number): Cut {
  const limit = (width * 1000) / size
  const lines: Ansi[] = []
  for (let i = 0; i < paragraphs.length; i++) {
    const text = paragraphs[i]!
    let from = 0
    do {
      if (lines.length >= linesMax) return { lines, rest: [text.slice(from) as Ansi, ...paragraphs.slice(i + 1)] }
      const to = lineEnd(text, from, font, limit)
      lines.push(lineOf(text, from, to))
      from = to
      while (text.charCodeAt(from) === space) from++
    } while (from < text.length)
  }
  return { lines, rest: [] }
}

/** The paragraphs of a text of the file: its own line breaks are kept, no others are invented. */
export function paragraphs(text: string): Ansi[] {
  return text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => winAnsi(line).trim() as Ansi)
}

function lineOf(text: Ansi, from: number, to: number): Ansi {
  const line = text.slice(from, to).trimEnd()
  const insideWord = to < text.length && line.length === to - from && text.charCodeAt(to) !== space
  return (insideWord ? line + goesOn : line) as Ansi
}

// Offset after the last character of the line that starts at `from`.
function lineEnd(text: Ansi, from: number, font: Font, limit: number): number {
  const { widths } = font
  let width = 0
  let afterSpace = -1
  let afterSign = -1
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    width += widths[code]!
    if (width > limit) {
      if (code === space) return at
      if (afterSpace !== -1) return afterSpace
      if (afterSign !== -1) return afterSign
      return Math.max(at, from + 1)
    }
    if (code === space) afterSpace = at + 1
    else if (isSign(code)) afterSign = at + 1
  }
  return text.length
}

// - / , ; : . _ | and &: places where a code or a number may be broken.
function isSign(code: number): boolean {
  return (
    (code >= 0x2c && code <= 0x2f) || code === 0x3a || code === 0x3b || code === 0x5f || code === 0x7c || code === 0x26
  )
}
