import { codeName } from '../pdf/canvas.ts'
import { characterAt, emWidth, type Font, fonts } from '../pdf/fonts.ts'
import { objectsIn, unpacked } from '../pdf/objects.ts'
import type { Ansi } from '../pdf/winansi.ts'

/** A straight rule of a page, in points from the top left corner. */
export interface DrawnRule {
  x1: number
  y1: number
  x2: number
  y2: number
  dashed: boolean
}

/** A filled rectangle of a page, in points from the top left corner. */
export interface Bar {
  x: number
  y: number
  width: number
  height: number
}

/** A text as it was drawn, one per operator, in points from the top left corner. */
export interface TextRun {
  text: string
  x: number
  baseline: number
  width: number
  size: number
  /** Turned, to be read from bottom to top; `x` and `baseline` are where it starts. */
  upwards: boolean
}

/** The graphics of a page. */
export interface PageGraphics {
  width: number
  height: number
  rules: DrawnRule[]
  bars: Bar[]
  pictures: Bar[]
  runs: TextRun[]
}

type Matrix = readonly [number, number, number, number, number, number]

/** Reads rules, bars and texts back from the content streams of a file of our writer. */
export function readGraphics(pdf: Uint8Array): PageGraphics[] {
  const objects = readObjects(pdf)
  const tree = objects.get(2)!.head
  const media = /\/MediaBox\[0 0 ([\d.]+) ([\d.]+)\]/.exec(tree)
  const [width, height] = [Number(media?.[1]), Number(media?.[2])]
  return references(/\/Kids\[([^\]]*)\]/.exec(tree)?.[1]).map((page) => {
    const contents = /\/Contents ?(\[[^\]]*\]|\d+ 0 R)/.exec(objects.get(page)!.head)?.[1]
    const content = references(contents).map((number) => objects.get(number)!.data.toString('latin1'))
    return { width, height, ...interpret(content.join('\n'), height, darkModules(objects)) }
  })
}

// The code of the file as squares of a unit square, from its image mask.
function darkModules(objects: ReadonlyMap<number, PdfObject>): Bar[] {
  const mask = [...objects.values()].find(({ head }) => head.includes('/ImageMask true'))
  if (!mask) return []
  const side = Number(/\/Width (\d+)/.exec(mask.head)?.[1])
  const bars: Bar[] = []
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const byte = mask.data[y * Math.ceil(side / 8) + (x >> 3)]!
      if ((byte & (0x80 >> (x & 7))) === 0)
        bars.push({ x: x / side, y: 1 - (y + 1) / side, width: 1 / side, height: 1 / side })
    }
  }
  return bars
}

function references(text = ''): number[] {
  return [...text.matchAll(/(\d+) 0 R/g)].map(([, number]) => Number(number))
}

/** An object of a file: its dictionary as text, and the plain bytes of its stream. */
interface PdfObject {
  head: string
  data: Buffer
}

/** The objects of a file of our writer by number, those of its object stream among them. */
export function readObjects(pdf: Uint8Array): Map<number, PdfObject> {
  const file = Buffer.from(pdf).toString('latin1')
  const objects = new Map<number, PdfObject>()
  const begin = /(?<=\n)(\d+) 0 obj\n(<<.*?>>)stream\n/sy
  for (let at = file.indexOf('\n', 10) + 1; ; ) {
    begin.lastIndex = at
    const found = begin.exec(file)
    if (!found) return objects
    const [whole, number, head = ''] = found
    const from = at + whole.length
    const length = Number(/\/Length (\d+)/.exec(head)?.[1])
    const raw = Buffer.from(file.slice(from, from + length), 'latin1')
    objects.set(Number(number), { head, data: unpacked(raw, head) })
    if (head.includes('/Type/ObjStm')) {
      for (const [inner, body] of objectsIn(raw, head)) objects.set(inner, { head: body, data: Buffer.alloc(0) })
    }
    at = file.indexOf('endobj\n', from + length) + 'endobj\n'.length
  }
}

// Understands the operators our canvas writes; strokes under the form (the stamp) are left out.
function interpret(content: string, pageHeight: number, code: readonly Bar[]): Omit<PageGraphics, 'width' | 'height'> {
  const rules: DrawnRule[] = []
  const bars: Bar[] = []
  const pictures: Bar[] = []
  const stack: { matrix: Matrix; stamp: boolean; dashed: boolean }[] = []
  let matrix: Matrix = [1, 0, 0, 1, 0, 0]
  let stamp = false
  let dashed = false
  let numbers: number[] = []
  let path: { rects: Bar[]; lines: DrawnRule[] } = { rects: [], lines: [] }
  let at: [number, number] = [0, 0]
  const point = (x: number, y: number): [number, number] => {
    const [a, b, c, d, e, f] = matrix
    return [a * x + c * y + e, pageHeight - (b * x + d * y + f)]
  }
  const runs: (TextRun & { font: Font })[] = []
  let font = fonts[0]!
  let further = 0
  let size = 0
  let image = ''
  // A text that follows another without a move goes on in the same run.
  let moved = true
  for (const [token] of content.matchAll(/\((?:[^\\()]|\\.)*\)|\[[^\]]*\]|\/\w+|[^\s()[\]/]+/g)) {
    if (!Number.isNaN(Number(token))) {
      numbers.push(Number(token))
      continue
    }
    if (token.startsWith('/')) {
      if (/^\/[LQ]$/.test(token)) image = token.slice(1)
      if (!/^\/[RB]\d*$/.test(token)) continue
      font = fonts.find((one) => one.resource === token[1]) ?? font
      further = Number(token.slice(2))
      continue
    }
    if (token.startsWith('(')) {
      const bytes = token.slice(1, -1).replace(/\\(.)/g, '$1')
      const text = further === 0 ? bytes : characterAt(further, bytes.charCodeAt(0))
      const [x, baseline] = point(at[0], at[1])
      const upwards = matrix[1] > 0
      const points = size * (upwards ? matrix[1] : matrix[0])
      const width = (emWidth(text as Ansi, font) * points) / 1000
      const last = runs.at(-1)
      if (moved || !last) runs.push({ text, x, baseline, width, size: points, upwards, font })
      else {
        last.text += text
        last.width += width
      }
      moved = false
      continue
    }
    if (token.startsWith('[')) {
      dashed = token !== '[]'
      continue
    }
    const [n0 = 0, n1 = 0, n2 = 0, n3 = 0, n4 = 0, n5 = 0] = numbers
    switch (token) {
      case 'q':
        stack.push({ matrix, stamp, dashed })
        break
      case 'Q':
        ;({ matrix, stamp, dashed } = stack.pop()!)
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
      case 'Do': {
        if (image === codeName) {
          for (const bar of code) {
            const [left, bottom] = point(bar.x, bar.y)
            const [right, top] = point(bar.x + bar.width, bar.y + bar.height)
            bars.push({ x: left, y: top, width: right - left, height: bottom - top })
          }
          break
        }
        const [left, bottom] = point(0, 0)
        const [right, top] = point(1, 1)
        pictures.push({ x: left, y: top, width: right - left, height: bottom - top })
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
        moved = true
        break
      case 'm':
        at = point(n0, n1)
        break
      case 'l': {
        const to = point(n0, n1)
        path.lines.push({ x1: at[0], y1: at[1], x2: to[0], y2: to[1], dashed })
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
        if (!stamp) rules.push(...path.lines, ...path.rects.flatMap((box) => outline(box, dashed)))
        path = { rects: [], lines: [] }
        break
    }
    numbers = []
  }
  return { rules, bars, pictures, runs: runs.flatMap((run) => withoutSpace(run)) }
}

// Trailing spaces of a line are invisible; they only serve text extraction.
function withoutSpace({ font, ...run }: TextRun & { font: Font }): TextRun[] {
  const text = run.text.trimEnd()
  const space = ((run.text.length - text.length) * emWidth(' ' as Ansi, font) * run.size) / 1000
  return text === '' ? [] : [{ ...run, text, width: run.width - space }]
}

function outline({ x, y, width, height }: Bar, dashed: boolean): DrawnRule[] {
  const [right, bottom] = [x + width, y + height]
  return [
    { x1: x, y1: y, x2: right, y2: y, dashed },
    { x1: x, y1: bottom, x2: right, y2: bottom, dashed },
    { x1: x, y1: y, x2: x, y2: bottom, dashed },
    { x1: right, y1: y, x2: right, y2: bottom, dashed },
  ]
}
