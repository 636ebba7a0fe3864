import { codeName, type Modules, type PageSize, pictureName, type StructureRole } from './canvas.ts'
import { embed } from './embedded.ts'
import { Shown } from './fonts.ts'
import type { PngPicture } from './png.ts'
import { streamObject, writtenStream } from './stream.ts'
import type { Ansi } from './winansi.ts'

// Numbers of the objects that others name before they are written.
const catalog = 1
const pageTree = 2
const information = 3
const structure = 4
const whole = 5
const fixed = 5

/**
 * A PDF 1.7 file in the making (ISO 32000-1). Everything but streams stands in one compressed object stream. The same calls
 * always give the same bytes: there is no date and no identifier in it.
 */
export class PdfWriter {
  #objects = new Map<number, string>()
  #streams = new Map<number, Buffer>()
  #count = fixed
  #pages: { number: number; roles: readonly StructureRole[] }[] = []
  readonly #size: PageSize

  constructor(size: PageSize) {
    this.#size = size
  }

  /** Keeps a content stream; pages share a stream by naming it twice. */
  stream(content: string): number {
    return this.#put(streamObject(Buffer.from(content, 'latin1'), ''))
  }

  /** Adds a page that shows these streams one after the other, the parts marked in them having these roles. */
  page(streams: readonly number[], roles: readonly StructureRole[]): void {
    const references = streams.map((stream) => `${stream} 0 R`).join(' ')
    const contents = streams.length === 1 ? `/Contents ${references}` : `/Contents[${references}]`
    const page = `<</Type/Page/Parent ${pageTree} 0 R/StructParents ${this.#pages.length}${contents}>>`
    this.#pages.push({ number: this.#object(page), roles })
  }

  /** The finished file; `shown` are the characters of all its pages. */
  bytes(title: Ansi, shown: readonly Shown[], picture?: PngPicture, code?: Modules): Uint8Array {
    const kids = this.#pages.map(({ number }) => `${number} 0 R`).join(' ')
    const writer = {
      object: (body: string) => this.#object(body),
      stream: (object: Buffer) => this.#put(object),
    }
    const resources = embed(Shown.inAny(shown), writer)
    const images = [
      picture ? `/${pictureName} ${this.#picture(picture)} 0 R` : '',
      code ? `/${codeName} ${this.#code(code)} 0 R` : '',
    ].join('')
    const pictures = images && `/XObject<<${images}>>`
    this.#objects.set(
      catalog,
      `<</Type/Catalog/Pages ${pageTree} 0 R/Lang(pt-BR)/ViewerPreferences<</DisplayDocTitle true>>/MarkInfo<</Marked true>>/StructTreeRoot ${structure} 0 R>>`,
    )
    this.#objects.set(
      pageTree,
      `<</Type/Pages/Count ${this.#pages.length}/Kids[${kids}]/MediaBox[0 0 ${this.#size.width} ${this.#size.height}]/Resources<</Font<<${resources}>>${pictures}>>>>`,
    )
    this.#objects.set(
      information,
      `<</Title(${title.replace(/[\\()]/g, '\\$&')})/Creator(Vigia Fiscal)/Producer(Vigia Fiscal)>>`,
    )
    this.#writeStructure()
    return this.#assemble()
  }

  // ISO 32000-1, 14.7: one element for each marked part of each page, in reading order. A stream that pages share has its marks
  // on each of them, and the parent tree leads from each page to that page's own elements.
  #writeStructure(): void {
    const parents = this.#pages.map(({ number, roles }) =>
      roles.map((role, i) => `${this.#object(`<</S/${role}/P ${whole} 0 R/Pg ${number} 0 R/K ${i}>>`)} 0 R`).join(' '),
    )
    const tree = parents.map((elements, page) => `${page}[${elements}]`).join('')
    this.#objects.set(structure, `<</Type/StructTreeRoot/K ${whole} 0 R/ParentTree<</Nums[${tree}]>>>>`)
    this.#objects.set(whole, `<</S/Document/P ${structure} 0 R/K[${parents.join(' ')}]>>`)
  }

  #object(body: string): number {
    this.#objects.set(++this.#count, body)
    return this.#count
  }

  #put(stream: Buffer): number {
    this.#streams.set(++this.#count, stream)
    return this.#count
  }

  #picture({ width, height, data }: PngPicture): number {
    const kind = `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ColorSpace/DeviceRGB/BitsPerComponent 8`
    const rows = `/Filter/FlateDecode/DecodeParms<</Predictor 15/Colors 3/Columns ${width}>>`
    return this.#put(writtenStream(data, kind + rows))
  }

  // A mask paints where a bit is 0 (ISO 32000-1, 8.9.6.2).
  #code(dark: Modules): number {
    const side = dark.length
    const bits = Buffer.alloc(side * Math.ceil(side / 8), 0xff)
    dark.forEach((row, y) => {
      const from = y * Math.ceil(side / 8)
      row.forEach((set, x) => {
        if (set) bits[from + (x >> 3)]! &= ~(0x80 >> (x & 7))
      })
    })
    const kind = `/Type/XObject/Subtype/Image/Width ${side}/Height ${side}/ImageMask true/BitsPerComponent 1`
    return this.#put(streamObject(bits, kind))
  }

  #assemble(): Uint8Array {
    const container = this.#objectStream()
    // The second line holds bytes above 127, so that transports treat the file as binary (ISO 32000-1, 7.5.2).
    const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')]
    let length = parts[0]!.length
    const offsets = new Map<number, number>()
    const put = (number: number, body: Buffer) => {
      offsets.set(number, length)
      const head = Buffer.from(`${number} 0 obj`, 'latin1')
      parts.push(head, body)
      length += head.length + body.length
    }
    for (const [number, body] of this.#streams) put(number, body)
    const table = ++this.#count
    put(table, this.#crossReferences(container, offsets, length))
    parts.push(Buffer.from(`startxref\n${offsets.get(table)}\n%%EOF\n`, 'latin1'))
    return new Uint8Array(Buffer.concat(parts))
  }

  #objectStream(): number {
    let places = ''
    let bodies = ''
    for (const [number, body] of this.#objects) {
      places += `${number} ${bodies.length} `
      bodies += `${body} `
    }
    const entries = `/Type/ObjStm/N ${this.#objects.size}/First ${places.length}`
    return this.#put(streamObject(Buffer.from(places + bodies, 'latin1'), entries))
  }

  // ISO 32000-1, 7.5.8: the kind of each object, then its offset or the object stream it is in, then its place there.
  #crossReferences(container: number, offsets: ReadonlyMap<number, number>, own: number): Buffer {
    const places = new Map([...this.#objects.keys()].map((number, i) => [number, i]))
    const [wide, deep] = [own > 0xffff ? 3 : 2, places.size > 0x100 ? 2 : 1]
    const rows = Buffer.alloc((this.#count + 1) * (1 + wide + deep))
    let at = 0
    for (let number = 0; number <= this.#count; number++) {
      const place = places.get(number)
      const kind = number === 0 ? 0 : place === undefined ? 1 : 2
      const where = number === this.#count ? own : place === undefined ? (offsets.get(number) ?? 0) : container
      at = rows.writeUInt8(kind, at)
      at = rows.writeUIntBE(where, at, wide)
      at = rows.writeUIntBE(place ?? 0, at, deep)
    }
    const entries = `/Type/XRef/Size ${this.#count + 1}/W[1 ${wide} ${deep}]/Root ${catalog} 0 R/Info ${information} 0 R`
    return streamObject(rows, entries)
  }
}
