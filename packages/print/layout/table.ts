import type { Align, Canvas } from '../pdf/canvas.ts'
import { emWidth, roman } from '../pdf/fonts.ts'
import type { Part } from '../pdf/structure.ts'
import type { Ansi } from '../pdf/winansi.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { assertSheets } from '../printable.ts'
import type { Block } from './block.ts'
import { leading, wrap } from './text.ts'

/** A column of a table; the one without `widest` takes the room the others leave. */
export interface TableColumn<Row> {
  /** Lines of the heading. A column without any shares the heading of the column before. */
  title: readonly string[]
  align: Align
  /** Maximum width of the column, in points; longer lines wrap. */
  widest?: number
  /** The lines of a cell before wrapping. */
  cells(row: Row): readonly string[]
}

/** A row whose lines are broken and whose height is known. */
export interface TableRow {
  cells: Ansi[][]
  height: number
  /** Part of the height above and below the lines. */
  white: number
  /** For a row split across sheets: its beginning or its rest. */
  part?: 'beginning' | 'rest'
}

/** A laid-out table to split over sheets, with the same columns on all; tagged as one table. */
export interface Table {
  headingHeight: number
  rows: TableRow[]
  /** Draws a title, the heading, some of the rows and the frame down to `bottom`. Title and heading are read once. */
  draw(canvas: Canvas, x: number, y: number, title: Block, rows: readonly TableRow[], bottom: number): void
  /** The same table with lines and rows nearer to one another, from 0 to 1. */
  closer(share: number): Table
}

interface MeasuredTable {
  encoded: Ansi[][][]
  /** Widest content of each column in thousandths of the size. */
  ems: number[]
  headings: number[]
}

const headingSize = 5.5
const headingLeading = 5.9
/** White at both sides of a cell. */
export const cellPadding = 1.8
const rowPadding = 2.4
// Space that rows may give up to save a sheet: of their white, and per line of 1.1 times the size.
const whiteGiven = 1.6
const leadingGiven = 0.03
/** Room for a line of a table at any of its sizes: less takes no part of a row that is split. */
export const splitMin = 20
// Heights are sums of fractions.
const rounding = 0.001

/** Layout options of a table: tried in order until the free column is wide enough. */
interface TableStyle {
  width: number
  sizes: readonly number[]
  /** Width the free column should keep at a size. */
  freeMin(size: number): number
  /** Width of the free column beyond which the others get some air. */
  freeEnough: number
}

/** Measures all rows and chooses columns and size once for the whole table. */
export function table<Row>(
  rows: readonly Row[],
  candidates: readonly (readonly TableColumn<Row>[])[],
  style: TableStyle,
): Table {
  let chosen:
    | { columns: readonly TableColumn<Row>[]; measured: MeasuredTable; size: number; widths: number[] }
    | undefined
  for (const columns of candidates) {
    const measured = measure(rows, columns)
    for (const size of style.sizes) {
      const widths = columnWidths(columns, measured, size, style.width)
      chosen = { columns, measured, size, widths }
      if (widths[freeIndex(columns)]! >= style.freeMin(size)) {
        addAir(columns, widths, style.freeEnough)
        return build(chosen)
      }
    }
  }
  if (!chosen) throw new RangeError('a table needs columns and sizes')
  // Nothing leaves enough room: the widest columns wrap their contents sooner.
  for (
    let most = 80;
    most >= 12 && chosen.widths[freeIndex(chosen.columns)]! < style.freeMin(chosen.size) * 0.8;
    most -= 4
  ) {
    chosen.widths = columnWidths(chosen.columns, chosen.measured, chosen.size, style.width, most)
  }
  return build(chosen)
}

function measure<Row>(rows: readonly Row[], columns: readonly TableColumn<Row>[]): MeasuredTable {
  const ems = columns.map(() => 0)
  const all = rows.map((row) => {
    const cells = new Array<Ansi[]>(columns.length)
    for (let i = 0; i < columns.length; i++) {
      const { widest, cells: read } = columns[i]!
      const lines = encoded(read(row))
      if (widest !== undefined) for (const line of lines) ems[i] = Math.max(ems[i]!, emWidth(line, roman))
      cells[i] = lines
    }
    return cells
  })
  const headings = columns.map((column) =>
    Math.max(0, ...column.title.map((line) => (emWidth(winAnsi(line), roman) * headingSize) / 1000)),
  )
  return { encoded: all, ems, headings }
}

// Fast path: nearly all texts need no encoding.
function encoded(lines: readonly string[]): Ansi[] {
  return (lines.every((line) => winAnsi(line) === line) ? lines : lines.map(winAnsi)) as Ansi[]
}

function freeIndex<Row>(columns: readonly TableColumn<Row>[]): number {
  return columns.findIndex((column) => column.widest === undefined)
}

function columnWidths<Row>(
  columns: readonly TableColumn<Row>[],
  { ems, headings }: MeasuredTable,
  size: number,
  width: number,
  most = Number.POSITIVE_INFINITY,
): number[] {
  const widths = columns.map((column, i) => {
    if (column.widest === undefined) return 0
    return Math.min((ems[i]! * size) / 1000, column.widest, most) + 0.1 + 2 * cellPadding
  })
  columns.forEach((column, i) => {
    if (column.widest === undefined || column.title.length === 0) return
    const last = groupEnd(columns, i)
    const missing = headings[i]! + 2 * cellPadding - sum(widths.slice(i, last + 1))
    if (missing > 0) widths[last]! += missing
  })
  widths[freeIndex(columns)] = width - sum(widths)
  return widths
}

// Last column under a shared heading.
function groupEnd<Row>(columns: readonly TableColumn<Row>[], from: number): number {
  let last = from
  while (columns[last + 1]?.title.length === 0) last++
  return last
}

const airMax = 9

function addAir<Row>(columns: readonly TableColumn<Row>[], widths: number[], enough: number): void {
  const free = freeIndex(columns)
  const air = Math.min(airMax, (widths[free]! - enough) / (columns.length - 1))
  if (air <= 0) return
  for (let i = 0; i < widths.length; i++) widths[i]! += i === free ? -air * (columns.length - 1) : air
}

function build<Row>(chosen: {
  columns: readonly TableColumn<Row>[]
  measured: MeasuredTable
  size: number
  widths: number[]
}): Table {
  const { columns, measured, size, widths } = chosen
  const rooms = widths.map((width) => width - 2 * cellPadding)
  // Columns whose widest content fits need no wrapping.
  const fits = columns.map(({ widest }, i) => widest !== undefined && (measured.ems[i]! * size) / 1000 <= rooms[i]!)
  const lines = measured.encoded
  for (let i = 0; i < columns.length; i++) {
    if (fits[i]) continue
    const room = rooms[i]!
    for (const cells of lines) {
      const cell = cells[i]!
      cells[i] =
        cell.length === 1 ? wrap(cell[0]!, roman, size, room) : cell.flatMap((line) => wrap(line, roman, size, room))
    }
  }
  const headingLines = Math.max(...columns.map((column) => column.title.length))
  const headingHeight = headingLines * headingLeading + 3
  const set = (share: number): Table => {
    const white = rowPadding - share * whiteGiven
    const step = leading(size) - share * leadingGiven * size
    let whole: Part | undefined
    // Cells of the last row drawn, by their left edge, because tables may be side by side.
    const drawn = new Map<number, Part[]>()
    return {
      headingHeight,
      rows: lines.map((cells) => {
        const most = cells.reduce((count, cell) => Math.max(count, cell.length), 1)
        return { cells, height: most * step + white, white }
      }),
      draw(canvas, x, y, title, shown, bottom) {
        const heading = () => drawHeading(canvas, x, y + title.height, bottom, columns, widths, headingHeight)
        const right = x + sum(widths)
        const body = () => {
          let top = y + title.height + headingHeight
          shown.forEach((row, n) => {
            if (n > 0) canvas.line(x, top, right, top, 'divider')
            drawn.set(x, drawRow(canvas, x, top, row, columns, widths, size, step, drawn.get(x) ?? []))
            top += row.height
          })
        }
        if (whole) {
          canvas.silently(() => {
            title.draw(canvas, x, y)
            heading()
          })
          canvas.within(whole, body)
        } else {
          title.draw(canvas, x, y)
          whole = canvas.tagged('Table', () => {
            canvas.tagged('TR', heading)
            body()
          })
        }
      },
      closer: set,
    }
  }
  return set(0)
}

function drawHeading<Row>(
  canvas: Canvas,
  x: number,
  y: number,
  bottom: number,
  columns: readonly TableColumn<Row>[],
  widths: readonly number[],
  headingHeight: number,
): void {
  const whole = sum(widths)
  canvas.box(x, y, whole, bottom - y)
  canvas.line(x, y + headingHeight, x + whole, y + headingHeight)
  let left = x
  for (let i = 0; i < columns.length; i++) {
    const { title } = columns[i]!
    if (title.length > 0 && i > 0) canvas.line(left, y, left, bottom)
    const span = sum(widths.slice(i, groupEnd(columns, i) + 1))
    const first = y + (headingHeight - title.length * headingLeading) / 2 + headingSize * 0.84
    const draw = () =>
      title.forEach((line, n) => {
        canvas.aligned(left, span, first + n * headingLeading, winAnsi(line), roman, headingSize, 'center')
      })
    if (title.length > 0) canvas.tagged('TH', draw, groupEnd(columns, i) + 1 - i)
    left += widths[i]!
  }
}

/** Draws a row; returns its cells if a further sheet continues it. */
function drawRow<Row>(
  canvas: Canvas,
  x: number,
  y: number,
  row: TableRow,
  columns: readonly TableColumn<Row>[],
  widths: readonly number[],
  size: number,
  step: number,
  begun: readonly Part[],
): Part[] {
  let left = x
  const first = y + row.white / 2 + size * 0.85
  const drawCell = (column: number) => {
    const lines = row.cells[column]!
    const { align } = columns[column]!
    const room = widths[column]! - 2 * cellPadding
    let baseline = first
    for (const line of lines) {
      canvas.aligned(left + cellPadding, room, baseline, line, roman, size, align)
      baseline += step
    }
    left += widths[column]!
  }
  if (!row.part) {
    canvas.row(columns.length, drawCell)
    return []
  }
  if (row.part === 'rest') {
    for (const [column, cell] of begun.entries()) canvas.within(cell, () => drawCell(column))
    return [...begun]
  }
  const cells: Part[] = []
  canvas.tagged('TR', () => {
    for (let column = 0; column < columns.length; column++) cells.push(canvas.tagged('TD', () => drawCell(column)))
  })
  return cells
}

/** Splits a row taller than a sheet: the first part at one height, the others at another. */
function splitRow(row: TableRow, first: number, next: number): TableRow[] {
  const lines = Math.max(...row.cells.map((cell) => cell.length))
  const { white } = row
  const step = (row.height - white) / lines
  const linesIn = (height: number) => Math.max(1, Math.floor((height - white) / step))
  const parts: TableRow[] = []
  for (let from = 0; from < lines; ) {
    const to = Math.min(lines, from + linesIn(from === 0 ? first : next))
    const height = (to - from) * step + white
    parts.push({
      cells: row.cells.map((cell) => cell.slice(from, to)),
      height,
      white,
      part: from > 0 ? 'rest' : 'beginning',
    })
    from = to
  }
  return parts
}

/**
 * Distributes rows over sheets with `first` and then `next` points of room. Splits only rows taller
 * than a sheet, and a first one taller than `firstWholeMax`; avoids a single row on the last sheet.
 */
export function paginate(
  rows: readonly TableRow[],
  first: number,
  next: number,
  firstWholeMax: number = next,
): TableRow[][] {
  const sheets: TableRow[][] = [[]]
  let free = first
  const turn = () => {
    assertSheets(sheets.length + 1)
    sheets.push([])
    free = next
  }
  const put = (row: TableRow) => {
    if (row.height > free + rounding) turn()
    sheets.at(-1)!.push(row)
    free -= row.height
  }
  for (const [i, row] of rows.entries()) {
    if (row.height <= (i === 0 ? firstWholeMax : next)) {
      put(row)
      continue
    }
    if (sheets.at(-1)!.length > 0 || free < splitMin) turn()
    for (const part of splitRow(row, free, next)) put(part)
  }
  keepCompany(sheets, next)
  return sheets
}

// A row alone on the last sheet gets the one before it beside it, if that leaves others behind.
function keepCompany(sheets: readonly TableRow[][], next: number): void {
  const [before, last] = sheets.slice(-2)
  if (!before || last?.length !== 1 || before.length < 3) return
  const [moved, alone] = [before.at(-1)!, last[0]!]
  if (moved.part === 'rest' || alone.part === 'rest' || moved.height + alone.height > next + rounding) return
  last.unshift(before.pop()!)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
