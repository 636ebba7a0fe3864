import { deflateSync, inflateSync } from 'node:zlib'

// Level 9 takes up to a third more CPU for 0 to 2 % of the bytes.
const level = 6
const packedFrom = 100
// Objects begin at whole rows, so that numbers which differ little stand below each other: six references or three places a row.
const rowLength = 66

/** A stream as it stands in the file, after its number: packed if that is worth it. */
export function streamObject(content: Buffer, entries: string): Buffer {
  if (content.length < packedFrom) return plainStream(content, entries)
  return plainStream(deflateSync(content, { level }), `${entries}/Filter/FlateDecode`)
}

/** A stream whose data is written as it is. */
export function plainStream(data: Buffer, entries: string): Buffer {
  const head = `<<${entries}/Length ${data.length}>>stream\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), data, Buffer.from('\nendstream\nendobj\n', 'latin1')])
}

/** A stream of rows, each as the difference from the one before, which packs to little when they are alike (ISO 32000-1, 7.4.4.4). */
export function rowStream(rows: Buffer, width: number, entries: string): Buffer {
  const out = Buffer.alloc((rows.length / width) * (width + 1))
  for (let from = 0, to = 0; from < rows.length; from += width) {
    out[to++] = up
    for (let i = from; i < from + width; i++) out[to++] = rows[i]! - (i < width ? 0 : rows[i - width]!)
  }
  const parameters = `/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns ${width}>>`
  return plainStream(deflateSync(out, { level }), entries + parameters)
}

// The PNG filter that takes the row above away.
const up = 2

/** The data of a packed stream, by what its dictionary says. */
export function unpacked(data: Buffer, head: string): Buffer {
  if (!head.includes('/FlateDecode')) return data
  const plain = inflateSync(data)
  const width = Number(/\/Predictor 12\/Columns (\d+)/.exec(head)?.[1] ?? 0)
  if (width === 0) return plain
  const rows = Buffer.alloc((plain.length / (width + 1)) * width)
  for (let at = 0; at < rows.length; at++) {
    rows[at] = plain[Math.floor(at / width) + 1 + at]! + (at < width ? 0 : rows[at - width]!)
  }
  return rows
}

/** A reference of a width of its own, for lists of many. */
export function listed(number: number): string {
  return `${aligned(number)} 0 R `
}

/** A number in as much room as all others have. */
export function aligned(number: number): string {
  return String(number).padStart(6)
}

/** What stands in an object stream. */
export interface NumberedObject {
  number: number
  body: string
}

// Fewer objects pack better as they are.
const alignedFrom = 300

/** An object stream (ISO 32000-1, 7.5.7), numbers and places first. Of many objects each begins at a row of its own. */
export function objectStream(objects: readonly NumberedObject[]): Buffer {
  const many = objects.length >= alignedFrom
  const lengthOf = ({ body }: NumberedObject) => (many ? wholeRows(body.length + 1) : body.length + 1)
  const width = many ? 10 : 0
  let places = ''
  let end = 0
  for (const object of objects) {
    places += `${String(object.number).padStart(width)} ${String(end).padStart(width)} `
    end += lengthOf(object)
  }
  const first = many ? wholeRows(places.length) : places.length
  const content = Buffer.alloc(first + end, ' ')
  content.write(places, 0, 'latin1')
  let at = first
  for (const object of objects) {
    content.write(object.body, at, 'latin1')
    at += lengthOf(object)
  }
  const entries = `/Type/ObjStm/N ${objects.length}/First ${first}`
  return many ? rowStream(content, rowLength, entries) : streamObject(content, entries)
}

function wholeRows(length: number): number {
  return Math.ceil(length / rowLength) * rowLength
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
