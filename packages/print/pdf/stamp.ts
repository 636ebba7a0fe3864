import type { Canvas } from './canvas.ts'

// Letters as strokes on a grid 14 high: [width, path]. Strokes instead of text keep the stamp out of selection and search,
// where it would run through every line of the form; the same text is printed among the additional data.
const letters: Record<string, readonly [number, string]> = {
  ' ': [3, ''],
  A: [10, '0 0 m 5 14 l 10 0 l 1.8 5 m 8.2 5 l'],
  Ã: [10, '0 0 m 5 14 l 10 0 l 1.8 5 m 8.2 5 l 1.4 16.4 m 2.4 18.4 4 18.2 5 17.4 c 6 16.6 7.6 16.4 8.6 18.4 c'],
  C: [10, '10 11 m 9 13 7.5 14 5.5 14 c 2 14 0 11 0 7 c 0 3 2 0 5.5 0 c 7.5 0 9 1 10 3 c'],
  D: [10, '0 0 m 0 14 l 4 14 l 8 14 10 11 10 7 c 10 3 8 0 4 0 c h'],
  E: [9, '9 0 m 0 0 l 0 14 l 9 14 l 0 7.3 m 7.5 7.3 l'],
  F: [9, '0 0 m 0 14 l 9 14 l 0 7.3 m 7.5 7.3 l'],
  G: [10, '10 11 m 9 13 7.5 14 5.5 14 c 2 14 0 11 0 7 c 0 3 2 0 5.5 0 c 7.5 0 10 1.5 10 3.5 c 10 6.5 l 6 6.5 l'],
  I: [0, '0 0 m 0 14 l'],
  L: [8.5, '0 14 m 0 0 l 8.5 0 l'],
  M: [12, '0 0 m 0 14 l 6 4 l 12 14 l 12 0 l'],
  N: [10, '0 0 m 0 14 l 10 0 l 10 14 l'],
  O: [11, '5.5 14 m 2 14 0 11 0 7 c 0 3 2 0 5.5 0 c 9 0 11 3 11 7 c 11 11 9 14 5.5 14 c h'],
  R: [10, '0 0 m 0 14 l 5.5 14 l 8.2 14 9.5 12.5 9.5 10.6 c 9.5 8.7 8.2 7.2 5.5 7.2 c 0 7.2 l 5.5 7.2 m 10 0 l'],
  S: [
    10,
    '9.3 11.3 m 8.5 13 7 14 5 14 c 2.4 14 .6 12.6 .6 10.5 c .6 8.3 2.6 7.6 5 7 c 7.6 6.4 9.6 5.6 9.6 3.5 c 9.6 1.3 7.6 0 5 0 c 2.7 0 1 1 .3 3 c',
  ],
  V: [10, '0 14 m 5 0 l 10 14 l'],
}

const letterGap = 4.5
const lineHeight = 24
// Letters of at most 20 mm (our limit in the forms' reference), on a grid 14 high.
const scaleMax = 56 / 14

/** A part of the sheet. */
interface Area {
  left: number
  width: number
  top: number
  bottom: number
}

/** A diagonal stamp, one line per word group, centred in an area and under everything else. */
export function stamp(canvas: Canvas, lines: readonly string[], { left, width, top, bottom }: Area): void {
  const widths = lines.map(lineWidth)
  const angle = Math.atan2(bottom - top, width) * 0.92
  const length = Math.min(width / Math.cos(angle), (bottom - top) / Math.sin(angle)) * 0.82
  const scale = Math.min(scaleMax, length / Math.max(...widths))
  const [sin, cos] = [Math.sin(angle) * scale, Math.cos(angle) * scale]
  lines.forEach((line, i) => {
    // From the centre of the sheet to the start of the baseline, along the line and then across it.
    const along = -widths[i]! / 2
    const across = (lines.length / 2 - i) * lineHeight - lineHeight + 5
    const x = left + width / 2 + along * cos - across * sin
    const y = (top + bottom) / 2 - (along * sin + across * cos)
    canvas.under([cos, sin, -sin, cos, x, y], 2.6, strokes(line))
  })
}

function lineWidth(line: string): number {
  let width = -letterGap
  for (const letter of line) width += letters[letter]![0] + letterGap
  return width
}

function strokes(line: string): string {
  let out = ''
  for (const letter of line) {
    const [width, path] = letters[letter]!
    if (path) out += `${path} S\n`
    out += `1 0 0 1 ${width + letterGap} 0 cm\n`
  }
  return out
}
