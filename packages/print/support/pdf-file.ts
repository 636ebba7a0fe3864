import { inflateSync } from 'node:zlib'

/** A value of a PDF, read by the rules of ISO 32000-1, 7.3 and without knowing who wrote it. */
export type Value = number | boolean | null | string | Name | Reference | Value[] | Dictionary
export type Dictionary = Map<string, Value>

/** /Name */
export class Name {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** 12 0 R */
export class Reference {
  readonly number: number
  constructor(number: number) {
    this.number = number
  }
}

/** An operator of a content stream, with what stood before it. */
export interface Operation {
  operator: string
  operands: Value[]
}

const token =
  /[\s\0]*(?:%[^\n\r]*[\n\r]+[\s\0]*)*(<<|>>|\[|\]|\/[^\s\0()<>[\]{}/%]*|\((?:[^\\()]|\\[\s\S])*\)|<[^<>]*>|[^\s\0()<>[\]{}/%]+)/y

/** Reads values in sequence; returns other words as operators. */
export class Reader {
  readonly #text: string
  at: number

  constructor(text: string, at = 0) {
    this.#text = text
    this.at = at
  }

  #token(): string | undefined {
    token.lastIndex = this.at
    const found = token.exec(this.#text)
    if (found) this.at = token.lastIndex
    return found?.[1]
  }

  value(): Value | { operator: string } | undefined {
    const word = this.#token()
    if (word === undefined) return undefined
    if (word === '<<') return new Map(pairs(this.#until('>>')))
    if (word === '[') return this.#until(']')
    if (word.startsWith('/')) return new Name(word.slice(1))
    if (word.startsWith('(')) return word.slice(1, -1).replace(/\\([\s\S])/g, '$1')
    if (word.startsWith('<')) return Buffer.from(word.slice(1, -1).replace(/\s/g, ''), 'hex').toString('latin1')
    if (/^[+-]?(\d+\.?\d*|\.\d+)$/.test(word)) return this.#number(word)
    if (word === 'true' || word === 'false') return word === 'true'
    return word === 'null' ? null : { operator: word }
  }

  #number(word: string): number | Reference {
    const rest = /[\s\0]+\d+[\s\0]+R(?![^\s\0()<>[\]{}/%])/y
    rest.lastIndex = this.at
    if (!/^\d+$/.test(word) || !rest.test(this.#text)) return Number(word)
    this.at = rest.lastIndex
    return new Reference(Number(word))
  }

  #until(end: string): Value[] {
    const values: Value[] = []
    for (;;) {
      const before = this.at
      const one = this.value()
      if (one === undefined) throw new Error(`no ${end}`)
      if (typeof one !== 'object' || one === null || !('operator' in one)) values.push(one as Value)
      else if (one.operator === end) return values
      else throw new Error(`${one.operator} at ${before}`)
    }
  }

  operations(): Operation[] {
    const all: Operation[] = []
    let operands: Value[] = []
    for (let one = this.value(); one !== undefined; one = this.value()) {
      if (typeof one === 'object' && one !== null && 'operator' in one) {
        all.push({ operator: one.operator, operands })
        operands = []
      } else operands.push(one)
    }
    return all
  }
}

function pairs(values: Value[]): [string, Value][] {
  return Array.from({ length: values.length / 2 }, (_, i) => [(values[2 * i] as Name).name, values[2 * i + 1]!])
}

/** A stream: its dictionary and its data without the filter. */
export interface Stream {
  dictionary: Dictionary
  data: Buffer
  /** Whether its keywords have the required characters before and after them. */
  isSpaced: boolean
}

/** A file by its cross-reference stream. */
export interface PdfFile {
  text: string
  trailer: Dictionary
  values: Map<number, Value>
  streams: Map<number, Stream>
}

/** Reads a file whose objects stand in streams (ISO 32000-1, 7.5.7 and 7.5.8); throws where its table does not lead to them. */
export function readPdf(bytes: Uint8Array): PdfFile {
  const text = Buffer.from(bytes).toString('latin1')
  const start = Number(/startxref\s+(\d+)\s+%%EOF/.exec(text)?.[1])
  const { dictionary: trailer, data } = streamAt(text, start).stream
  const [kindWidth, whereWidth, placeWidth] = trailer.get('W') as [number, number, number]
  const width = kindWidth + whereWidth + placeWidth
  const file: PdfFile = { text, trailer, values: new Map(), streams: new Map() }
  const contained: [number: number, container: number, place: number][] = []
  for (let number = 0; number < data.length / width; number++) {
    const at = number * width
    const kind = data.readUIntBE(at, kindWidth)
    const where = data.readUIntBE(at + kindWidth, whereWidth)
    if (kind === 1) {
      const found = streamAt(text, where)
      if (found.number !== number) throw new Error(`object ${number} is not at ${where}`)
      file.streams.set(number, found.stream)
      file.values.set(number, found.stream.dictionary)
    }
    if (kind === 2) contained.push([number, where, data.readUIntBE(at + kindWidth + whereWidth, placeWidth)])
  }
  const places = new Map<number, { content: string; numbers: number[]; first: number }>()
  for (const [number, container, place] of contained) {
    const inside = places.get(container) ?? contents(file.streams.get(container)!)
    places.set(container, inside)
    if (inside.numbers[2 * place] !== number) throw new Error(`object ${number} is not in ${container}`)
    const value = new Reader(inside.content, inside.first + inside.numbers[2 * place + 1]!).value()
    file.values.set(number, value as Value)
  }
  return file
}

function contents({ dictionary, data }: Stream): { content: string; numbers: number[]; first: number } {
  const content = data.toString('latin1')
  const first = dictionary.get('First') as number
  return { content, first, numbers: content.slice(0, first).trim().split(/\s+/).map(Number) }
}

function streamAt(text: string, at: number): { number: number; stream: Stream } {
  const head = /(\d+) 0 obj(\n?)/y
  head.lastIndex = at
  const found = head.exec(text)
  if (!found) throw new Error(`no object at ${at}`)
  const reader = new Reader(text, head.lastIndex)
  const dictionary = reader.value() as Dictionary
  const keyword = /\s*stream(\r\n|\n|)/y
  keyword.lastIndex = reader.at
  const begun = keyword.exec(text)
  if (!begun) throw new Error(`no stream at ${at}`)
  const from = keyword.lastIndex
  const to = from + (dictionary.get('Length') as number)
  const isSpaced =
    found[2] === '\n' && begun[1] !== '' && /^\r?\nendstream\r?\nendobj\r?\n/.test(text.slice(to, to + 24))
  return { number: Number(found[1]), stream: { dictionary, data: plain(text.slice(from, to), dictionary), isSpaced } }
}

function plain(raw: string, dictionary: Dictionary): Buffer {
  const data = Buffer.from(raw, 'latin1')
  const filter = dictionary.get('Filter')
  if (!(filter instanceof Name) || filter.name !== 'FlateDecode') return data
  const rows = inflateSync(data)
  const parameters = dictionary.get('DecodeParms') as Dictionary | undefined
  if (parameters?.get('Predictor') !== 12) return rows
  const width = parameters.get('Columns') as number
  const out = Buffer.alloc((rows.length / (width + 1)) * width)
  for (let row = 0; row * width < out.length; row++) {
    for (let i = 0; i < width; i++) {
      const above = row === 0 || rows[row * (width + 1)] === 0 ? 0 : out[(row - 1) * width + i]!
      out[row * width + i] = rows[row * (width + 1) + 1 + i]! + above
    }
  }
  return out
}
