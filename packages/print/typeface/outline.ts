import type { Command } from 'opentype.js'

/** A point of an outline. */
export interface Point {
  x: number
  y: number
}

/** The points that a segment adds: one for a line, three for a cubic curve. */
export type CurveSegment = readonly Point[]

/** A closed line. */
export interface Contour {
  start: Point
  segments: CurveSegment[]
}

interface Quadratic {
  from: Point
  control: Point
  to: Point
}

// Directions this near an axis (as a sine) are meant to lie on it.
const nearAxis = 0.03
const cornerCosine = Math.cos((10 * Math.PI) / 180)

/**
 * The contours of a TrueType outline as lines and as few cubic curves as stay within the tolerance. Curves meet where the outline
 * is horizontal or vertical: such curves are the shortest to write, and rounding leaves their extremes alone.
 */
export function contoursOf(commands: readonly Command[], tolerance: number): Contour[] {
  const contours: Contour[] = []
  let start: Point = { x: 0, y: 0 }
  let here = start
  let pieces: (Point | Quadratic)[] = []
  const close = () => {
    if (pieces.length > 0) {
      if (here.x !== start.x || here.y !== start.y) pieces.push(start)
      contours.push({ start, segments: fitted(start, pieces, tolerance) })
    }
    pieces = []
  }
  for (const { type, x, y, x1, y1 } of commands) {
    if (type === 'Z') continue
    const to = { x, y }
    if (type === 'M') {
      close()
      start = to
    } else if (type === 'L') pieces.push(to)
    else if (type === 'Q') pieces.push({ from: here, control: { x: x1, y: y1 }, to })
    else throw new RangeError(`an outline of TrueType has no ${type}`)
    here = to
  }
  close()
  return contours
}

/** The contour in whole units of a coarser grid; none when nothing is left of it. */
export function onGrid(contour: Contour, scale: number): Contour | undefined {
  const rounded = ({ x, y }: Point) => ({ x: Math.round(x * scale), y: Math.round(y * scale) })
  const start = rounded(contour.start)
  const segments: CurveSegment[] = []
  let here = start
  for (const segment of contour.segments) {
    const points = segment.map(rounded)
    const end = points.at(-1)!
    if (points.every((point) => point.x === here.x && point.y === here.y)) continue
    const straight = points.every((point) => distanceToLine(point, here, end) < 0.01)
    segments.push(straight && (end.x !== here.x || end.y !== here.y) ? [end] : points)
    here = end
  }
  return segments.length > 1 ? { start, segments } : undefined
}

/** How far the outline lies from the nearest point of the contours at its farthest point, in units of the outline. */
export function farthest(commands: readonly Command[], contours: readonly Contour[], scale: number): number {
  const edges = contours.flatMap(({ start, segments }) => {
    const points = [start]
    for (const segment of segments) {
      const from = points.at(-1)!
      const [p1, p2, p3] = segment
      if (p2 && p3) points.push(...steps.map((t) => cubicPoint([from, p1!, p2, p3], t)))
      else points.push(segment.at(-1)!)
    }
    const whole = points.map(({ x, y }) => ({ x: x / scale, y: y / scale }))
    return whole.map((point, i) => [point, whole[(i + 1) % whole.length]!] as const)
  })
  let here: Point = { x: 0, y: 0 }
  let worst = 0
  for (const { type, x, y, x1, y1 } of commands) {
    if (type === 'Z') continue
    const to = { x, y }
    if (type !== 'M') {
      const control = type === 'Q' ? { x: x1, y: y1 } : between(here, to, 0.5)
      for (const t of steps) {
        const sample = pointOf({ from: here, control, to }, t)
        worst = Math.max(worst, Math.min(...edges.map(([a, b]) => distanceToSegment(sample, a, b))))
      }
    }
    here = to
  }
  return worst
}

const steps = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => n / 8)

function fitted(start: Point, pieces: readonly (Point | Quadratic)[], tolerance: number): CurveSegment[] {
  const segments: CurveSegment[] = []
  let run: Quadratic[] = []
  const endRun = () => {
    if (run.length > 0) segments.push(...cubics(run, tolerance))
    run = []
  }
  let here = start
  for (const piece of pieces) {
    if (!('control' in piece)) {
      endRun()
      if (piece.x !== here.x || piece.y !== here.y) segments.push([piece])
      here = piece
      continue
    }
    for (const part of dividedAtExtremes(piece)) {
      const before = run.at(-1)
      if (before) {
        const arriving = direction(before.control, before.to)
        const leaving = direction(part.from, part.control)
        const corner = arriving.x * leaving.x + arriving.y * leaving.y < cornerCosine
        if (corner || Math.min(Math.abs(arriving.x), Math.abs(arriving.y)) < nearAxis) endRun()
      }
      run.push(part)
    }
    here = piece.to
  }
  endRun()
  return segments
}

function dividedAtExtremes(curve: Quadratic): Quadratic[] {
  const { from, control, to } = curve
  for (const axis of ['x', 'y'] as const) {
    const t = (from[axis] - control[axis]) / (from[axis] - 2 * control[axis] + to[axis])
    if (!(t > 0.08 && t < 0.92)) continue
    const middle = pointOf(curve, t)
    const first = { ...between(from, control, t), [axis]: middle[axis] }
    const second = { ...between(control, to, t), [axis]: middle[axis] }
    return [
      ...dividedAtExtremes({ from, control: first, to: middle }),
      ...dividedAtExtremes({ from: middle, control: second, to }),
    ]
  }
  return [curve]
}

// One curve for the whole run when it comes near enough, else one for each half.
function cubics(run: readonly Quadratic[], tolerance: number): CurveSegment[] {
  const first = run[0]!
  const last = run.at(-1)!
  const [from, to] = [first.from, last.to]
  const samples = run.flatMap((part) => [1, 2, 3, 4, 5, 6, 7, 8].map((n) => pointOf(part, n / 8)))
  if (samples.every((sample) => distanceToLine(sample, from, to) < tolerance * 0.7)) return [[to]]
  const leaving = onAxis(direction(from, first.control))
  const arriving = onAxis(direction(to, last.control))
  const handles = ({ a, b }: { a: number; b: number }): [Point, Point] => [
    { x: from.x + leaving.x * a, y: from.y + leaving.y * a },
    { x: to.x + arriving.x * b, y: to.y + arriving.y * b },
  ]
  const chord = Math.hypot(to.x - from.x, to.y - from.y)
  let best = { a: 0.4 * chord, b: 0.4 * chord, error: Number.POSITIVE_INFINITY }
  for (let step = 0.2 * chord; step > 0.004 * chord; step /= 2) {
    for (let moved = true; moved; ) {
      moved = false
      const centre = best
      for (const i of [0, 1, -1]) {
        for (const j of [0, 1, -1]) {
          const tried = { a: centre.a + i * step, b: centre.b + j * step }
          if (Math.min(tried.a, tried.b) <= 0 || Math.max(tried.a, tried.b) > 1.4 * chord) continue
          const error = deviation(samples, [from, ...handles(tried), to], best.error)
          if (error >= best.error - 1e-9) continue
          best = { ...tried, error }
          moved = i !== 0 || j !== 0
        }
      }
    }
  }
  if (best.error <= tolerance) return [[...handles(best), to]]
  if (run.length > 1) {
    const middle = run.length >> 1
    return [...cubics(run.slice(0, middle), tolerance), ...cubics(run.slice(middle), tolerance)]
  }
  return [[between(from, first.control, 2 / 3), between(to, first.control, 2 / 3), to]]
}

// How far the curve is from the farthest sample; infinitely far when that is farther than `enough`.
function deviation(samples: readonly Point[], cubic: Cubic, enough: number): number {
  const pieces = 16
  const curve = Array.from({ length: pieces + 1 }, (_, i) => cubicPoint(cubic, i / pieces))
  let worst = 0
  for (const sample of samples) {
    let nearest = Number.POSITIVE_INFINITY
    for (let i = 0; i < pieces; i++) nearest = Math.min(nearest, distanceToSegment(sample, curve[i]!, curve[i + 1]!))
    if (nearest > enough) return Number.POSITIVE_INFINITY
    worst = Math.max(worst, nearest)
  }
  return worst
}

type Cubic = readonly [Point, Point, Point, Point]

function cubicPoint([p0, p1, p2, p3]: Cubic, t: number): Point {
  const u = 1 - t
  const [w0, w1, w2, w3] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t]
  return {
    x: w0 * p0.x + w1 * p1.x + w2 * p2.x + w3 * p3.x,
    y: w0 * p0.y + w1 * p1.y + w2 * p2.y + w3 * p3.y,
  }
}

function distanceToSegment(point: Point, a: Point, b: Point): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y]
  const square = dx * dx + dy * dy
  const along = square === 0 ? 0 : ((point.x - a.x) * dx + (point.y - a.y) * dy) / square
  const t = Math.max(0, Math.min(1, along))
  return Math.hypot(point.x - a.x - t * dx, point.y - a.y - t * dy)
}

function distanceToLine(point: Point, a: Point, b: Point): number {
  const length = Math.hypot(b.x - a.x, b.y - a.y)
  if (length === 0) return Math.hypot(point.x - a.x, point.y - a.y)
  return Math.abs((b.x - a.x) * (a.y - point.y) - (a.x - point.x) * (b.y - a.y)) / length
}

function pointOf({ from, control, to }: Quadratic, t: number): Point {
  return between(between(from, control, t), between(control, to, t), t)
}

function between(a: Point, b: Point, t: number): Point {
  return { x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t }
}

function direction(from: Point, to: Point): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1
  return { x: (to.x - from.x) / length, y: (to.y - from.y) / length }
}

function onAxis({ x, y }: Point): Point {
  if (Math.abs(x) < nearAxis) return { x: 0, y: Math.sign(y) }
  if (Math.abs(y) < nearAxis) return { x: Math.sign(x), y: 0 }
  return { x, y }
}
