import { constants, deflateRawSync, deflateSync, inflateSync } from 'node:zlib'

// Level for data compressed for each file. For contents, 2 takes half the time of 5 for 4 to 10 %
// more bytes; 3 and 4 are neither as quick nor much smaller.
const level = 2
// Difference rows are nearly empty: level 3 takes a third of the time of 6 for a tenth more bytes.
const rowsLevel = 3
// Level for data that the process caches.
const keptLevel = 9
const packedFrom = 100

/** A stream after its object number: compressed if worthwhile, and better if it is cached. */
export function streamObject(content: Buffer, entries: string, isKept = false): Buffer {
  if (content.length < packedFrom) return plainStream(content, entries)
  const data = deflateSync(content, { level: isKept ? keptLevel : level })
  return plainStream(data, `${entries}/Filter/FlateDecode`)
}

/** A stream whose data is written as it is. */
export function plainStream(data: Buffer, entries: string): Buffer {
  const head = `<<${entries}/Length ${data.length}>>stream\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), data, Buffer.from('\nendstream\nendobj\n', 'latin1')])
}

/** Packs short bytes between two texts that are packed once (RFC 1950, RFC 1951): a block of each, and one of the bytes as they are. */
export function packedAround(before: Buffer, behind: Buffer): (between: Buffer) => Buffer {
  const head = Buffer.from([0x78, 0x9c])
  const begin = deflateRawSync(before, { level: keptLevel, finishFlush: constants.Z_SYNC_FLUSH })
  const end = deflateRawSync(behind, { level: keptLevel })
  const sums = adler32(before, [1, 0])
  return (between) => {
    const size = Buffer.alloc(5)
    size.writeUInt16LE(between.length, 1)
    size.writeUInt16LE(0xffff - between.length, 3)
    const [a, b] = adler32(behind, adler32(between, sums))
    const checksum = Buffer.alloc(4)
    checksum.writeUInt16BE(b, 0)
    checksum.writeUInt16BE(a, 2)
    return Buffer.concat([head, begin, size, between, end, checksum])
  }
}

// RFC 1950, 8.2.
function adler32(bytes: Buffer, [a, b]: readonly [number, number]): [number, number] {
  for (const byte of bytes) {
    a = (a + byte) % 65_521
    b = (b + a) % 65_521
  }
  return [a, b]
}

/**
 * A stream of rows (ISO 32000-1, 7.4.4.4), each as difference to the row above if at most
 * `mayDiffer` bytes differ (without it always), because that compresses well.
 */
export function rowStream(
  rows: Buffer,
  width: number,
  entries: string,
  rowLevel = rowsLevel,
  mayDiffer?: Uint8Array,
): Buffer {
  const count = rows.length / width
  const out = Buffer.alloc(count * (width + 1))
  for (let row = 0, from = 0, to = 0; row < count; row++, from += width, to += width + 1) {
    let left = row === 0 ? -1 : (mayDiffer?.[row] ?? width)
    if (left > 0) {
      for (let i = 0; i < width && left >= 0; i++) {
        const difference = rows[from + i]! - rows[from + i - width]!
        if (difference === 0) continue
        out[to + 1 + i] = difference
        left--
      }
    } else left = -1
    out[to] = left < 0 ? none : up
    if (left < 0) for (let i = 0; i < width; i++) out[to + 1 + i] = rows[from + i]!
  }
  const parameters = `/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns ${width}>>`
  return plainStream(deflateSync(out, { level: rowLevel }), entries + parameters)
}

// The PNG filters of a row: as it is, and without the row above.
const none = 0
const up = 2

/** The data of a packed stream, by what its dictionary says. */
export function unpacked(data: Buffer, head: string): Buffer {
  if (!head.includes('/FlateDecode')) return data
  const plain = inflateSync(data)
  const width = Number(/\/Predictor 12\/Columns (\d+)/.exec(head)?.[1] ?? 0)
  if (width === 0) return plain
  const rows = Buffer.alloc((plain.length / (width + 1)) * width)
  for (let at = 0; at < rows.length; at++) {
    const row = Math.floor(at / width)
    rows[at] = plain[row + 1 + at]! + (plain[row * (width + 1)] === up && row > 0 ? rows[at - width]! : 0)
  }
  return rows
}

/** A fixed-width reference for long lists, with a separator. */
export function listed(number: number): string {
  return `${aligned(number)} 0 R`
}

/** References to many objects. */
export function references(numbers: ArrayLike<number>): string {
  return Array.from(numbers, listed).join('')
}

/** A number padded to the width of 99,999, with a separator. */
export function aligned(number: number): string {
  const digits = String(number)
  return digits.length < room.length ? room.slice(digits.length) + digits : ` ${digits}`
}

// Row of an object stream: ten references, or the start of a list and seven.
const usualRow = 100
// More bytes of objects are worth level 6.
const manyFrom = 40_000
const inRow = 7
const beforeList = 26

/** Writes references after `before`; pads many into rows, because aligned columns pack better. */
export function rowsOfReferences(before: string, all: readonly string[]): string {
  if (all.length <= inRow) return before + all.join('')
  const rows = Array.from({ length: Math.ceil(all.length / inRow) }, (_, row) => {
    return all.slice(row * inRow, (row + 1) * inRow).join('')
  })
  return before.padEnd(beforeList) + rows.join(' '.repeat(usualRow - inRow * listed(0).length))
}

/** A text that ends with `after` where a row begins. */
export function beforeRow(text: string, after: string): string {
  const length = text.length + after.length
  return text + ' '.repeat(wholeRows(length, usualRow) - length) + after
}

const room = '      '

/** An object of an object stream. */
export interface NumberedObject {
  number: number
  body: string
}

/**
 * Builds an object stream (ISO 32000-1, 7.5.7), numbers and places first. Objects start at a row or
 * half a row, because similar objects then align and compress better. With `listLength` all objects
 * are lists of that length.
 */
export function objectStream(objects: readonly NumberedObject[], listLength?: number): Buffer {
  const row = listLength ?? usualRow
  const digits = String(objects.reduce((most, { number }) => Math.max(most, number), 0)).length
  const begins: number[] = []
  let bodies = ''
  for (const { body } of objects) {
    const isHalf = listLength === undefined && body.length < row / 2
    if (!isHalf && bodies.length % row !== 0) bodies += blanks(row / 2)
    begins.push(bodies.length)
    bodies += body + blanks((isHalf ? row / 2 : wholeRows(body.length + 1, row)) - body.length)
  }
  const entry = 2 + digits + String(bodies.length).length
  const perRow = Math.max(1, Math.min(10, Math.floor(row / entry)))
  const width = Math.max(entry, Math.floor(row / perRow))
  let places = ''
  for (const [i, { number }] of objects.entries()) {
    const place = `${String(number).padStart(digits)} ${String(begins[i]).padStart(width - digits - 2)} `
    places += (i + 1) % perRow === 0 ? place.padEnd(row - width * (perRow - 1)) : place
  }
  const first = wholeRows(places.length, row)
  const content = Buffer.from(
    places + blanks(first - places.length) + bodies + blanks(wholeRows(bodies.length, row) - bodies.length),
    'latin1',
  )
  let mayDiffer: Uint8Array | undefined
  if (listLength === undefined) {
    mayDiffer = new Uint8Array(content.length / row).fill(row)
    for (const [i, { body }] of objects.entries()) {
      const at = first + begins[i]!
      mayDiffer.fill(differencesOf(body), Math.floor(at / row), Math.ceil((at + body.length) / row))
    }
  }
  const entries = `/Type/ObjStm/N ${objects.length}/First ${first}`
  const isLarge = listLength === undefined && content.length >= manyFrom
  return rowStream(content, row, entries, isLarge ? 6 : rowsLevel, mayDiffer)
}

function blanks(count: number): string {
  return ' '.repeat(count)
}

const lists = ['<</S/TR', '<</Type/StructTreeRoot']

// Bytes in which an element may differ from the previous one: lists differ in all their numbers.
function differencesOf(body: string): number {
  if (lists.some((list) => body.startsWith(list))) return 46
  return body.startsWith('<</S/') && body.length < usualRow ? 12 : 0
}

function wholeRows(length: number, row: number): number {
  return Math.ceil(length / row) * row
}

/** The objects of an object stream by number. */
export function objectsIn(data: Buffer, head: string): Map<number, string> {
  const content = unpacked(data, head).toString('latin1')
  const first = Number(/\/First (\d+)/.exec(head)?.[1])
  const numbers = content.slice(0, first).trim().split(/\s+/).map(Number)
  const count = numbers.length / 2
  const placeOf = (i: number) => (i < count ? first + numbers[2 * i + 1]! : content.length)
  return new Map(
    Array.from({ length: count }, (_, i) => [numbers[2 * i]!, content.slice(placeOf(i), placeOf(i + 1)).trim()]),
  )
}

/** Objects with consecutive numbers that differ in nothing but numbers. */
export interface ObjectRows {
  /** Number of the first. */
  first: number
  /** Their common text, with the room of each number (see `roomFor`). */
  shape: string
  /** The numbers of each in turn; -1 omits the number with the name before it. */
  numbers: Int32Array
}

/** Width for numbers up to this one, and a separator from the name before it. */
export function roomFor(most: number): string {
  return '#'.repeat(String(most).length + 1)
}

const roomOfNumber = /#+/g

/** The objects one by one. */
export function separately({ first, shape, numbers }: ObjectRows): NumberedObject[] {
  const rooms = shape.match(roomOfNumber)!
  const [start = '', ...between] = shape.split(roomOfNumber)
  return Array.from({ length: numbers.length / rooms.length }, (_, n) => {
    let body = start
    for (const [field, room] of rooms.entries()) {
      const number = numbers[n * rooms.length + field]!
      const shown = number < 0 ? body.slice(0, -2) + blanks(2 + room.length) : body + padded(number, room.length)
      body = shown + between[field]
    }
    return { number: first + n, body }
  })
}

function padded(number: number, width: number): string {
  return String(number).padStart(width)
}

/** An object stream of equally long objects, stored as differences to the previous one. */
export function rowObjects(objects: readonly NumberedObject[]): Buffer {
  const count = objects.length
  const width = Math.ceil((objects[0]!.body.length + 1) / 10) * 10
  const numberRoom = roomFor(objects.reduce((most, { number }) => Math.max(most, number + 1), 0)).length
  const placeRoom = roomFor(count * width).length
  const perRow = [10, 5, 2].find((n) => n * (numberRoom + placeRoom) <= width) ?? 1
  const places = objects.map(({ number }, i) => padded(number, numberRoom) + padded(i * width, placeRoom))
  const placeRows = Array.from({ length: Math.ceil(count / perRow) }, (_, row) => {
    return places.slice(row * perRow, (row + 1) * perRow).join('')
  })
  const rows = [...placeRows, ...objects.map(({ body }) => body)].map((row) => row.padEnd(width))
  const content = Buffer.from(rows.join(''), 'latin1')
  const out = Buffer.alloc(rows.length * (width + 1), up)
  for (let at = 0; at < content.length; at++) {
    out[at + Math.floor(at / width) + 1] = content[at]! - (content[at - width] ?? 0)
  }
  const parameters = `/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns ${width}>>`
  const entries = `/Type/ObjStm/N ${count}/First ${placeRows.length * width}`
  return plainStream(deflateSync(out, { level: rowsLevel }), entries + parameters)
}
