import { inflateSync } from 'node:zlib'
import { emWidth, fonts } from '../pdf/fonts.ts'
import type { Ansi } from '../pdf/winansi.ts'

/** A straight rule of a page, in points from the top left corner. */
export interface Rule {
  x1: number
  y1: number
  x2: number
  y2: number
}

/** A filled rectangle of a page, in points from the top left corner. */
export interface Bar {
  x: number
  y: number
  width: number
  height: number
}

/** A text as it was drawn, one per operator, in points from the top left corner. */
export interface Run {
  text: string
  x: number
  baseline: number
  width: number
  size: number
}

/** What a page draws. */
export interface PageGraphics {
  width: number
  height: number
  rules: Rule[]
  bars: Bar[]
  runs: Run[]
}

type Matrix = readonly [number, number, number, number, number, number]

/** Reads rules, bars and texts back from the content streams of a file of our writer. */
export function readGraphics(pdf: Uint8Array): PageGraphics[] {
  const file = Buffer.from(pdf).toString('latin1')
  const media = /\/MediaBox\[0 0 ([\d.]+) ([\d.]+)\]/.exec(file)
  const [width, height] = [Number(media?.[1]), Number(media?.[2])]
  const kids = /\/Kids\[([^\]]*)\]/.exec(file)?.[1] ?? ''
  return [...kids.matchAll(/(\d+) 0 R/g)].map(([, page]) => {
    const body = object(file, Number(page))
    const streams = [...(/\/Contents\[([^\]]*)\]/.exec(body)?.[1] ?? '').matchAll(/(\d+) 0 R/g)]
    const content = streams.map(([, number]) => stream(file, Number(number))).join('\n')
    return { width, height, ...interpret(content, height) }
  })
}

function object(file: string, number: number): string {
  const start = file.indexOf(`\n${number} 0 obj\n`)
  return file.slice(start, file.indexOf('endobj', start))
}

function stream(file: string, number: number): string {
  const start = file.indexOf(`\n${number} 0 obj\n`)
  const length = Number(/\/Length (\d+)/.exec(file.slice(start, start + 200))?.[1])
  const from = file.indexOf('stream\n', start) + 7
  const data = Buffer.from(file.slice(from, from + length), 'latin1')
  return file.slice(start, from).includes('/FlateDecode')
    ? inflateSync(data).toString('latin1')
    : data.toString('latin1')
}

// Understands the operators our canvas writes; strokes under the form (the stamp) are left out.
function interpret(content: string, pageHeight: number): Omit<PageGraphics, 'width' | 'height'> {
  const rules: Rule[] = []
  const bars: Bar[] = []
  const stack: { matrix: Matrix; stamp: boolean }[] = []
  let matrix: Matrix = [1, 0, 0, 1, 0, 0]
  let stamp = false
  let numbers: number[] = []
  let path: { rects: Bar[]; lines: Rule[] } = { rects: [], lines: [] }
  let at: [number, number] = [0, 0]
  const point = (x: number, y: number): [number, number] => {
    const [a, b, c, d, e, f] = matrix
    return [a * x + c * y + e, pageHeight - (b * x + d * y + f)]
  }
  const runs: Run[] = []
  let font = fonts[0]!
  let size = 0
  for (const [token] of content.matchAll(/\((?:[^\\()]|\\.)*\)|\[[^\]]*\]|\/\w+|[^\s()[\]/]+/g)) {
    if (!Number.isNaN(Number(token))) {
      numbers.push(Number(token))
      continue
    }
    if (token.startsWith('/')) {
      font = fonts.find((one) => one.resource === token.slice(1))!
      continue
    }
    if (token.startsWith('(')) {
      const text = token.slice(1, -1).replace(/\\(.)/g, '$1')
      const [x, baseline] = point(at[0], at[1])
      const points = size * matrix[0]
      runs.push({ text, x, baseline, width: (emWidth(text as Ansi, font) * points) / 1000, size: points })
      continue
    }
    if (token.startsWith('[')) continue
    const [n0 = 0, n1 = 0, n2 = 0, n3 = 0, n4 = 0, n5 = 0] = numbers
    switch (token) {
      case 'q':
        stack.push({ matrix, stamp })
        break
      case 'Q':
        ;({ matrix, stamp } = stack.pop()!)
        break
      case 'G':
        if (n0 > 0.8) stamp = true
        break
      case 'cm': {
        const [a, b, c, d, e, f] = matrix
        matrix = [
          a * n0 + c * n1,
          b * n0 + d * n1,
          a * n2 + c * n3,
          b * n2 + d * n3,
          a * n4 + c * n5 + e,
          b * n4 + d * n5 + f,
        ]
        break
      }
      case 'BT':
        at = [0, 0]
        break
      case 'Tf':
        size = n0
        break
      case 'Td':
        at = [at[0] + n0, at[1] + n1]
        break
      case 'm':
        at = point(n0, n1)
        break
      case 'l': {
        const to = point(n0, n1)
        path.lines.push({ x1: at[0], y1: at[1], x2: to[0], y2: to[1] })
        at = to
        break
      }
      case 're': {
        const [left, bottom] = point(n0, n1)
        const [right, top] = point(n0 + n2, n1 + n3)
        path.rects.push({ x: left, y: top, width: right - left, height: bottom - top })
        break
      }
      case 'f':
        bars.push(...path.rects)
        path = { rects: [], lines: [] }
        break
      case 'S':
        if (!stamp) rules.push(...path.lines, ...path.rects.flatMap(outline))
        path = { rects: [], lines: [] }
        break
    }
    numbers = []
  }
  return { rules, bars, runs }
}

function outline({ x, y, width, height }: Bar): Rule[] {
  return [
    { x1: x, y1: y, x2: x + width, y2: y },
    { x1: x, y1: y + height, x2: x + width, y2: y + height },
    { x1: x, y1: y, x2: x, y2: y + height },
    { x1: x + width, y1: y, x2: x + width, y2: y + height },
  ]
}
