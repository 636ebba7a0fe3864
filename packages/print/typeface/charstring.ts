import { encodeNumber, move } from '../pdf/type2.ts'
import type { Contour, CurveSegment, Point } from './outline.ts'

// Operators of Type 2 charstrings that draw (Adobe Technical Note 5177, 4.1).
const rlineto = 5
const hlineto = 6
const vlineto = 7
const rrcurveto = 8
const rcurveline = 24
const rlinecurve = 25
const vvcurveto = 26
const hhcurveto = 27
const vhcurveto = 30
const hvcurveto = 31

const operandsMax = 48

/** The way from point to point of a segment: two numbers for a line, six for a curve. */
type Way = readonly number[]

/** An outline as a Type 2 charstring without its first moveto and without an end. */
interface Drawn {
  start: Point
  end: Point
  bytes: number[]
}

/** Writes contours one after the other, each begun where it becomes shortest. */
export function drawn(contours: readonly Contour[]): Drawn {
  let whole: Drawn | undefined
  for (const contour of contours) {
    let best: Drawn | undefined
    for (let turn = 0; turn < contour.segments.length; turn++) {
      const one = begunAt(contour, turn, whole?.end)
      if (!best || one.bytes.length < best.bytes.length) best = one
    }
    whole = { start: whole?.start ?? best!.start, end: best!.end, bytes: [...(whole?.bytes ?? []), ...best!.bytes] }
  }
  return whole ?? { start: { x: 0, y: 0 }, end: { x: 0, y: 0 }, bytes: [] }
}

function begunAt({ start, segments }: Contour, turn: number, here: Point | undefined): Drawn {
  const from = turn === 0 ? start : segments[turn - 1]!.at(-1)!
  const turned = [...segments.slice(turn), ...segments.slice(0, turn)]
  // The last line of a contour is drawn by closing it.
  const shown = turned.at(-1)!.length === 1 ? turned.slice(0, -1) : turned
  const moved = here ? move(from.x - here.x, from.y - here.y) : []
  return { start: from, end: shown.at(-1)!.at(-1)!, bytes: [...moved, ...shortest(ways(from, shown))] }
}

function ways(start: Point, segments: readonly CurveSegment[]): Way[] {
  let here = start
  return segments.map((segment) =>
    segment.flatMap((point) => {
      const way = [point.x - here.x, point.y - here.y]
      here = point
      return way
    }),
  )
}

// From the last segment backwards: the cheapest operator from each segment on, and the cheapest rest after it.
function shortest(all: readonly Way[]): number[] {
  const best: number[][] = []
  best[all.length] = []
  for (let i = all.length - 1; i >= 0; i--) {
    for (const { operands, operator, next } of operators(all, i)) {
      const bytes = [...operands.flatMap(encodeNumber), operator, ...best[next]!]
      if (best[i] === undefined || bytes.length < best[i]!.length) best[i] = bytes
    }
  }
  return best[0]!
}

interface Operator {
  operands: number[]
  operator: number
  /** The segment after the last that it draws. */
  next: number
}

function* operators(all: readonly Way[], from: number): Generator<Operator> {
  yield* mixed(all, from, 2, rlineto, rlinecurve)
  yield* mixed(all, from, 6, rrcurveto, rcurveline)
  yield* alternatingLines(all, from, 0, hlineto)
  yield* alternatingLines(all, from, 1, vlineto)
  yield* parallelCurves(all, from, 0, hhcurveto)
  yield* parallelCurves(all, from, 1, vvcurveto)
  yield* alternatingCurves(all, from, 0, hvcurveto)
  yield* alternatingCurves(all, from, 1, vhcurveto)
}

// Segments of one kind, and perhaps one of the other kind at the end.
function* mixed(all: readonly Way[], from: number, kind: 2 | 6, operator: number, ending: number): Generator<Operator> {
  const operands: number[] = []
  for (let i = from; all[i]?.length === kind && operands.length + kind <= operandsMax; i++) {
    operands.push(...all[i]!)
    yield { operands, operator, next: i + 1 }
    const after = all[i + 1]
    if (!after || after.length === kind || operands.length + after.length > operandsMax) continue
    yield { operands: [...operands, ...after], operator: ending, next: i + 2 }
  }
}

function* alternatingLines(all: readonly Way[], from: number, first: 0 | 1, operator: number): Generator<Operator> {
  const operands: number[] = []
  for (let i = from; all[i]?.length === 2 && operands.length < operandsMax; i++) {
    const axis = (first + i - from) % 2
    const way = all[i]!
    if (way[1 - axis] !== 0) return
    operands.push(way[axis]!)
    yield { operands, operator, next: i + 1 }
  }
}

// Curves that begin and end along the same axis; the first may begin askew.
function* parallelCurves(all: readonly Way[], from: number, axis: 0 | 1, operator: number): Generator<Operator> {
  const operands: number[] = []
  for (let i = from; all[i]?.length === 6 && operands.length + 5 <= operandsMax; i++) {
    const way = all[i]!
    if (way[5 - axis] !== 0) return
    if (way[1 - axis] !== 0) {
      if (i > from) return
      operands.push(way[1 - axis]!)
    }
    operands.push(way[axis]!, way[2]!, way[3]!, way[4 + axis]!)
    yield { operands, operator, next: i + 1 }
  }
}

// Curves that begin along one axis and end along the other, in turn; the last may end askew.
function* alternatingCurves(all: readonly Way[], from: number, first: 0 | 1, operator: number): Generator<Operator> {
  const operands: number[] = []
  for (let i = from; all[i]?.length === 6 && operands.length + 5 <= operandsMax; i++) {
    const axis = (first + i - from) % 2
    const way = all[i]!
    if (way[1 - axis] !== 0) return
    operands.push(way[axis]!, way[2]!, way[3]!, way[5 - axis]!)
    const askew = way[4 + axis]!
    if (askew !== 0) operands.push(askew)
    yield { operands, operator, next: i + 1 }
    if (askew !== 0) return
  }
}
