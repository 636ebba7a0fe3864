import { expect, test } from 'vitest'
import { Canvas } from '../pdf/canvas.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { paginate, type TableRow, table } from './table.ts'

const row = (height: number): TableRow => ({
  cells: [Array.from({ length: Math.round((height - 2.4) / 7.7) }, (_, i) => winAnsi(`linha ${i}`))],
  height,
  white: 2.4,
})
const heights = (sheets: TableRow[][]) => sheets.map((rows) => rows.map((one) => one.height))

test('rows fill the first sheet and then the others', () => {
  const rows = Array.from({ length: 10 }, () => row(10.1))
  expect(heights(paginate(rows, 25, 45)).map((sheet) => sheet.length)).toEqual([2, 4, 4])
})

test('a row that does not fit goes whole to the next sheet', () => {
  expect(heights(paginate([row(10.1), row(48.6), row(10.1)], 50, 70))).toEqual([[10.1], [48.6, 10.1]])
})

test('only a row taller than a sheet is split, and none of its lines is lost', () => {
  const tall = row(2.4 + 30 * 7.7)
  const sheets = paginate([tall], 50, 100)
  const lines = sheets.flat().flatMap((part) => part.cells[0]!)
  expect(sheets.length).toBeGreaterThan(2)
  expect(lines).toEqual(tall.cells[0])
})

test('no rows make one empty sheet', () => {
  expect(paginate([], 50, 100)).toEqual([[]])
})

test('the last sheet has no single row where the one before it has rows to give', () => {
  const counts = (rows: number) =>
    paginate(
      Array.from({ length: rows }, () => row(10.1)),
      45,
      45,
    ).map((sheet) => sheet.length)
  expect(counts(4)).toEqual([4])
  expect(counts(5)).toEqual([3, 2])
  expect(counts(9)).toEqual([4, 3, 2])
  expect(heights(paginate([row(40.9), row(48.6)], 50, 70))).toEqual([[40.9], [48.6]])
  expect(heights(paginate([row(17.8), row(17.8), row(17.8), row(56.3)], 60, 70))).toEqual([[17.8, 17.8, 17.8], [56.3]])
})

test('the first row is split where the first sheet would be empty', () => {
  const rows = [row(2.4 + 10 * 7.7), row(10.1)]
  expect(paginate(rows, 50, 100).map((sheet) => sheet.length)).toEqual([0, 2])
  const split = paginate(rows, 50, 100, 50)
  expect(split.map((sheet) => sheet.length)).toEqual([1, 2])
  expect(split.flat().flatMap((part) => part.cells[0]!)).toEqual(rows.flatMap((one) => one.cells[0]!))
})

const columns = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    title: [`${i}`],
    align: 'left' as const,
    ...(i > 0 && { widest: 9 }),
    cells: () => [`${i}`],
  }))
const style = { width: 800, sizes: [6], freeMin: () => 1, freeEnough: 20 }

test('each of 40 columns has a mark of its own', () => {
  const canvas = new Canvas()
  const widest = table([null], [columns(40)], style)
  widest.draw(canvas, 0, 0, { height: 0, draw() {} }, widest.rows, 50)
  const content = canvas.content().map(String).join('')
  expect(content.match(/\/TD<</g)).toHaveLength(40)
})
